import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Seats } from './seats.ts';

/** Seats over a debugger that refuses its first attaches. */
function begin(t: TestContext, refusals = 0) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const done: string[] = [];
  let left = refusals;
  const seats = new Seats(
    {
      attach: (tab) => {
        done.push(`attach ${tab}`);
        left -= 1;
        return left >= 0 ? Promise.reject(new Error('not yet')) : Promise.resolve();
      },
      detach: (tab) => {
        done.push(`detach ${tab}`);
        return Promise.resolve();
      },
      send: (tab, _child, method) => {
        done.push(`${method} ${tab}`);
        return Promise.resolve({ secret: 1 });
      },
    },
    (tab) => {
      if (tab === 13) throw new Error('not shared');
    },
    (_tab, capture) => capture(),
  );
  return { seats, done };
}

test('a tab is attached once for all who use it and let go a minute after the last', async (t) => {
  const { seats, done } = begin(t);
  const leaves = await Promise.all([seats.take(1), seats.take(1)]);
  leaves[0]();
  t.mock.timers.tick(60_000);
  assert.deepEqual(done, ['attach 1']);
  leaves[1]();
  t.mock.timers.tick(59_999);
  const again = await seats.take(1);
  again();
  t.mock.timers.tick(59_999);
  assert.deepEqual(done, ['attach 1']);
  t.mock.timers.tick(1);
  assert.deepEqual(done, ['attach 1', 'detach 1']);
});

test('attaching is tried at 0, 250, 500 and 1000 ms', async (t) => {
  const { seats, done } = begin(t, 3);
  const taken = seats.take(1);
  for (const wait of [0, 250, 500, 1000]) {
    await turn();
    t.mock.timers.tick(wait);
  }
  await taken;
  assert.equal(done.length, 4);
});

test('a tab that cannot be attached is tried anew the next time', async (t) => {
  const { seats } = begin(t, 4);
  const taken = seats.take(1);
  taken.catch(() => undefined);
  for (const wait of [0, 250, 500, 1000]) {
    await turn();
    t.mock.timers.tick(wait);
  }
  await assert.rejects(taken, /not yet/);
  await seats.take(1);
});

test('an attachment that an earlier life left is let go after a minute without use', async (t) => {
  const { seats, done } = begin(t);
  seats.adopt(1);
  await turn();
  t.mock.timers.tick(60_000);
  assert.deepEqual(done, ['attach 1', 'detach 1']);
});

test('a tab that is released at once is attached again for who comes next', async (t) => {
  const { seats, done } = begin(t);
  const leave = await seats.take(1);
  seats.release(1);
  leave();
  await seats.take(1);
  t.mock.timers.tick(60_000);
  assert.deepEqual(done, ['attach 1', 'detach 1', 'attach 1']);
});

test('nothing is sent past the gate', async (t) => {
  const { seats, done } = begin(t);
  await assert.rejects(seats.send(13, undefined, 'Page.reload'), /not shared/);
  assert.deepEqual(done, []);
});
