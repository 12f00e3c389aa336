import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Paced } from './paced.ts';

function begin(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const done: number[] = [];
  let state = 0;
  const paced = new Paced(100, () => done.push(state));
  const ask = (now: number) => {
    state = now;
    paced.ask();
  };
  return { done, ask };
}

test('the first asking is heard at once, of the others the last', (t) => {
  const { done, ask } = begin(t);
  for (let i = 1; i <= 50; i += 1) ask(i);
  assert.deepEqual(done, [1]);
  t.mock.timers.tick(99);
  assert.deepEqual(done, [1]);
  t.mock.timers.tick(1);
  assert.deepEqual(done, [1, 50]);
});

test('what was done for an earlier asking makes the next one wait', (t) => {
  const { done, ask } = begin(t);
  ask(1);
  ask(2);
  t.mock.timers.tick(100);
  ask(3);
  t.mock.timers.tick(99);
  assert.deepEqual(done, [1, 2]);
  t.mock.timers.tick(1);
  assert.deepEqual(done, [1, 2, 3]);
});

test('after a rest an asking is heard at once', (t) => {
  const { done, ask } = begin(t);
  ask(1);
  t.mock.timers.tick(100);
  ask(2);
  assert.deepEqual(done, [1, 2]);
});
