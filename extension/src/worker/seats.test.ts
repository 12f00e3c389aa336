import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Seats } from './seats.ts';

/** Seats over a debugger that refuses its first attaches. */
function begin(t: TestContext, refusals = 0) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const done: string[] = [];
  let refused = refusals;
  const left: number[] = [];
  const seats = new Seats({
    port: {
      attach: (tab) => {
        done.push(`attach ${tab}`);
        refused -= 1;
        return refused >= 0 ? Promise.reject(new Error('not yet')) : Promise.resolve();
      },
      detach: (tab) => {
        done.push(`detach ${tab}`);
        return Promise.resolve();
      },
      send: (tab, _child, method) => {
        if (method !== 'Inspector.enable') done.push(`${method} ${tab}`);
        return Promise.resolve({ secret: 1 });
      },
      command: (tab, _child, method, _params, answered) => {
        done.push(`${method} ${tab}`);
        answered({});
      },
    },
    gate: (tab) => {
      if (tab === 13) throw new Error('not shared');
    },
    painting: (_tab, capture) => capture(),
    left: (tab) => left.push(tab),
    freed: () => undefined,
  });
  return { seats, done, left };
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
  await turn();
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

test('a tab that is released while it is attached is let go, and not attached again', async (t) => {
  const { seats, done, left } = begin(t, 1);
  const taken = seats.take(1);
  await turn();
  seats.release(1);
  await assert.rejects(taken, /let go/);
  t.mock.timers.tick(60_000);
  await turn();
  assert.deepEqual(done, ['attach 1', 'detach 1']);
  assert.deepEqual(left, [1]);
});

test('whoever takes a tab that is being let go gets it after that', async (t) => {
  const { seats, done } = begin(t);
  const taken = seats.take(1);
  seats.release(1);
  const again = seats.take(1);
  await assert.rejects(taken, /let go/);
  await again;
  assert.deepEqual(done, ['detach 1', 'attach 1']);
});

test('a signal ends the waiting for a tab, which is let go a minute later', async (t) => {
  const { seats, done } = begin(t, 1);
  const abort = new AbortController();
  const taken = seats.take(1, abort.signal);
  await turn();
  abort.abort(new Error('nobody waits'));
  await assert.rejects(taken, /nobody waits/);
  t.mock.timers.tick(60_000);
  await turn();
  assert.deepEqual(done, ['attach 1', 'detach 1']);
});

test('a tab that nobody took has no executor', async (t) => {
  const { seats, done } = begin(t);
  await assert.rejects(seats.executor(1), /let go/);
  assert.deepEqual(done, []);
});

test('a crashed page answers nothing until it is revived', async (t) => {
  const { seats, done } = begin(t);
  await seats.take(1);
  seats.crashed(1);
  await assert.rejects(seats.send(1, undefined, 'Page.reload'), { code: 'tab_closed' });
  const revived = seats.revive(1, new AbortController().signal);
  seats.reloaded(1);
  await revived;
  await seats.send(1, undefined, 'Page.reload');
  assert.deepEqual(done, ['attach 1', 'Page.navigate 1', 'Page.reload 1']);
});
