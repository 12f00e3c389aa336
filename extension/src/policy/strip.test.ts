import assert from 'node:assert/strict';
import { test } from 'node:test';
import vectors from '../../../relay/cdp/testdata/strip.json' with { type: 'json' };
import { strip } from './strip.ts';

type Case = { name: string; method: string; params: unknown; want?: unknown };

for (const c of vectors.cases as Case[]) {
  test(c.name, () => {
    const before = structuredClone(c.params);
    assert.deepEqual(strip(c.method, c.params), 'want' in c ? c.want : c.params);
    assert.deepEqual(c.params, before, 'it changed what it was given');
  });
}

test('what loses nothing is handed on as it is', () => {
  const told = { response: { headers: { Vary: 'Cookie' }, list: [{ a: [1, null] }] } };
  assert.equal(strip('Network.responseReceived', told), told);
});

test('what is too deep to be told is left out', () => {
  let told: unknown = { cookie: 'a' };
  for (let i = 0; i < 10_000; i += 1) told = { parent: told };
  assert.ok(!JSON.stringify(strip('Network.requestWillBeSent', told)).includes('cookie'));
});

test('what is no object loses nothing', () => {
  for (const told of [undefined, null, 'cookie', 1]) {
    assert.equal(strip('Network.responseReceived', told), told);
  }
  assert.deepEqual(strip('Page.getNavigationHistory', undefined), {});
});
