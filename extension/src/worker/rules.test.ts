import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openingRule, tabRule } from './rules.ts';

const writes = {
  resourceTypes: ['main_frame', 'sub_frame', 'object', 'ping'],
  requestMethods: ['post', 'put', 'patch', 'delete'],
};

test('the rule of read-only tabs blocks writes of their documents, and nothing else', () => {
  assert.deepEqual(tabRule([71, 70]), {
    id: 1,
    action: { type: 'block' },
    condition: { ...writes, tabIds: [70, 71] },
  });
});

test('where no tab is read-only there is no rule', () => assert.equal(tabRule([]), undefined));

test('the rule of new windows blocks the same, and spares every tab that is known', () => {
  assert.deepEqual(openingRule([2, 1]), {
    id: 2,
    action: { type: 'block' },
    condition: { ...writes, excludedTabIds: [1, 2] },
  });
});

test('where no tab is known all are held', () => {
  assert.deepEqual(openingRule([]).condition, writes);
});
