import assert from 'node:assert/strict';
import { test } from 'node:test';
import cases from '../../../relay/cdp/testdata/calls.json' with { type: 'json' };
import { canRetry, judgeCall, judgeEvent, judgeFunction } from './table.ts';
import { isPageURL } from './url.ts';

type Case = {
  name: string;
  level: string;
  method: string;
  params?: unknown;
  reason: string;
  located?: number[];
};

for (const c of cases.calls as Case[]) {
  test(c.name, () => {
    assert.deepEqual(judgeCall(c.level, c.method, c.params), {
      reason: c.reason,
      located: c.located ?? [],
    });
  });
}

for (const [text, want] of Object.entries(cases.page_urls)) {
  test(`${JSON.stringify(text)} is ${want ? 'a' : 'no'} page's address`, () => {
    assert.equal(isPageURL(text), want);
  });
}

test('functions and events are judged by name and level', () => {
  assert.equal(judgeFunction('read', '@snapshot').reason, '');
  assert.equal(judgeFunction('read', '@select').reason, '@select is not permitted at level read');
  assert.equal(judgeFunction('act', '@owner').reason, '@owner is not permitted at any level');
  assert.equal(judgeFunction('', '@state').reason, '@state is not permitted at level ');
  assert.equal(judgeEvent('read', 'Page.loadEventFired').reason, '');
  assert.equal(
    judgeEvent('act', 'Network.requestWillBeSentExtraInfo').reason,
    'Network.requestWillBeSentExtraInfo is not permitted at any level',
  );
  assert.ok(canRetry('@snapshot') && !canRetry('@history') && !canRetry('@unknown'));
});
