import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Grant } from './grants.ts';
import { openingRule, tabRule } from './rules.ts';

const grant: Grant = { name: 't7', tab: 70, pairing: 'p', level: 'read', url: '', title: '' };

test('the standing rule blocks writes of a tab’s documents, and nothing else', () => {
  assert.deepEqual(tabRule(grant), {
    id: 14,
    action: { type: 'block' },
    condition: {
      tabIds: [70],
      resourceTypes: ['main_frame', 'sub_frame', 'ping'],
      requestMethods: ['post', 'put', 'patch', 'delete'],
    },
  });
});

test('the rule for new windows spares every tab that was there', () => {
  assert.deepEqual(openingRule(grant, [1, 2]).condition, {
    excludedTabIds: [1, 2],
    resourceTypes: ['main_frame'],
    requestMethods: ['post', 'put', 'patch', 'delete'],
  });
});

test('no two rules have one id', () => {
  const other = { ...grant, name: 't8' };
  const ids = [tabRule(grant), openingRule(grant, []), tabRule(other), openingRule(other, [])];
  assert.equal(new Set(ids.map(({ id }) => id)).size, 4);
});
