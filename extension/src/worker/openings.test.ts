import assert from 'node:assert/strict';
import { test } from 'node:test';
import { add, close, held, keep, type Openings, replace } from './openings.ts';

/** Tab 1 opened 2, which opened 3; tab 5 opened 6. */
const chain: Openings = [
  { tab: 3, by: 2 },
  { tab: 2, by: 1 },
  { tab: 6, by: 5 },
];

const holds = (openings: Openings, ...readOnly: number[]) =>
  [...held(openings, readOnly)].sort((one, other) => one - other);

test('what a read-only tab opened is held, and what that opened', () => {
  assert.deepEqual(holds(chain, 1), [1, 2, 3]);
  assert.deepEqual(holds(chain, 2), [2, 3]);
  assert.deepEqual(holds(chain), []);
});

test('windows that open each other’s openers end somewhere', () => {
  const ring = [
    { tab: 2, by: 3 },
    { tab: 3, by: 2 },
  ];
  assert.deepEqual(holds(ring), []);
  assert.deepEqual(holds(ring, 3), [2, 3]);
});

test('a window keeps its first opener', () => {
  assert.equal(add(chain, { tab: 2, by: 5 }), chain);
  assert.deepEqual(holds(add(chain, { tab: 7, by: 6 }), 5), [5, 6, 7]);
});

test('a read-only tab that closes leaves what it opened held', () => {
  const left = close(chain, 1, held(chain, [1]));
  assert.deepEqual(holds(left), [2, 3]);
  assert.deepEqual(holds(close(left, 2, held(left, []))), [3]);
  assert.deepEqual(holds(close(close(left, 2, held(left, [])), 3, held(left, []))), []);
});

test('a tab that closes after it was unshared leaves nothing held', () => {
  const left = close(chain, 1, held(chain, []));
  assert.deepEqual(holds(left, 1), [1]);
});

test('a tab about to be closed is held until it is, and so is what it opened', () => {
  const kept = keep(chain, 5);
  assert.deepEqual(holds(kept), [5, 6]);
  assert.deepEqual(holds(close(kept, 5, held(kept, []))), [6]);
});

test('another id of a tab changes nothing', () => {
  assert.deepEqual(holds(replace(chain, 1, 11), 11), [2, 3, 11]);
  assert.deepEqual(holds(replace(chain, 2, 12), 1), [1, 3, 12]);
});
