import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Grant } from './grants.ts';
import type { Openings } from './openings.ts';
import type { Rule } from './rules.ts';
import type { Standing } from './standing.ts';
import { Wall } from './wall.ts';

const shared = (tab: number, level: 'read' | 'act' = 'read'): Standing => {
  const grant: Grant = { name: `t${tab}`, tab, pairing: 'p', level, url: '', title: '' };
  return { grant, level };
};

/** A wall around tab 1, which is read-only, where tabs 1 and 9 are open. */
function around(t: TestContext, openings: Openings = []) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const rulebook = {
    rules: [] as readonly Rule[],
    problem: undefined as Error | undefined,
    install(wanted: readonly Rule[]) {
      if (this.problem !== undefined) return Promise.reject(this.problem);
      this.rules = wanted;
      return Promise.resolve();
    },
  };
  const book = { standings: [shared(1)] as readonly Standing[] };
  const memory = { openings, save: () => undefined };
  const wall = new Wall(rulebook, book, memory);
  wall.begin([1, 9, ...openings.map(({ tab }) => tab)]);
  const held = () => rulebook.rules.find(({ id }) => id === 1)?.condition.tabIds ?? [];
  const spared = () => rulebook.rules.find(({ id }) => id === 2)?.condition.excludedTabIds;
  return {
    wall,
    rulebook,
    book,
    memory,
    held,
    spared,
    pass: (ms: number) => t.mock.timers.tick(ms),
  };
}

test('a read-only tab’s window is held until it closes, whenever it opened', (t) => {
  const { wall, held } = around(t);
  wall.appeared(2);
  wall.opened(2, 1);
  assert.deepEqual(held(), [1, 2]);
  wall.closed(2);
  assert.deepEqual(held(), [1]);
});

test('a window of a tab that is not shared is nobody’s, nor is one of a tab that may act', (t) => {
  const { wall, book, held } = around(t);
  book.standings = [shared(1), shared(3, 'act')];
  wall.opened(8, 9);
  wall.opened(4, 3);
  assert.deepEqual(held(), [1]);
  book.standings = [shared(1), shared(3)];
  void wall.sync();
  assert.deepEqual(
    held(),
    [1, 3, 4],
    'the tab that may only read now opened it while it was shared',
  );
});

test('what a read-only tab opened outlives it, and ends with its being unshared', (t) => {
  const { wall, book, held } = around(t);
  wall.opened(2, 1);
  wall.closed(1);
  book.standings = [];
  void wall.sync();
  assert.deepEqual(held(), [2]);

  book.standings = [shared(5)];
  wall.opened(6, 5);
  assert.deepEqual(held(), [2, 5, 6]);
  book.standings = [];
  void wall.sync();
  assert.deepEqual(held(), [2]);
});

test('a tab whose grant goes before it closes is held until then', (t) => {
  const { wall, book, held } = around(t);
  wall.opened(2, 1);
  wall.keep(1);
  wall.keep(9);
  book.standings = [];
  void wall.sync();
  assert.deepEqual(held(), [1, 2]);
  wall.closed(1);
  assert.deepEqual(held(), [2]);
});

test('another life of the worker holds the same windows', (t) => {
  const before = around(t);
  before.wall.opened(2, 1);
  t.mock.timers.reset();
  const after = around(t, before.memory.openings);
  void after.wall.sync();
  assert.deepEqual(after.held(), [1, 2]);
});

test('a window that closed while no worker was there is forgotten', (t) => {
  const { wall, memory, held } = around(t, [{ tab: 2, by: 1 }]);
  wall.begin([1, 9]);
  assert.deepEqual(held(), [1]);
  assert.deepEqual(memory.openings, []);
});

test('after an input every new tab is held until it is known whose it is', async (t) => {
  const { wall, held, spared, pass } = around(t);
  const release = await wall.hold();
  assert.deepEqual(spared(), [1, 9]);
  wall.appeared(2);
  wall.opened(2, 1);
  assert.deepEqual(
    [held(), spared()],
    [
      [1, 2],
      [1, 2, 9],
    ],
    'a page’s window goes from one rule to the other',
  );

  wall.appeared(7);
  assert.deepEqual(spared(), [1, 2, 9]);
  wall.met(7);
  assert.deepEqual(spared(), [1, 2, 7, 9], 'a tab that arrives somewhere is the person’s');

  wall.appeared(8);
  pass(499);
  assert.deepEqual(spared(), [1, 2, 7, 9]);
  pass(1);
  assert.deepEqual(spared(), [1, 2, 7, 8, 9], 'a tab of which nothing is told is the person’s');

  wall.opened(10, 9);
  assert.deepEqual(spared(), [1, 2, 7, 8, 9, 10], 'and so is what another page opened');
  assert.deepEqual(held(), [1, 2]);

  release();
  pass(5999);
  assert.notEqual(spared(), undefined);
  pass(1);
  assert.equal(spared(), undefined);
});

test('new tabs are held for as long as any program’s input is fresh', async (t) => {
  const { wall, spared, pass } = around(t);
  const first = await wall.hold();
  const second = await wall.hold();
  first();
  pass(6000);
  assert.notEqual(spared(), undefined);
  second();
  pass(6000);
  assert.equal(spared(), undefined);
});

test('nothing is held for a program that Chrome takes no rules for', async (t) => {
  const { wall, rulebook, spared } = around(t);
  rulebook.problem = new Error('no');
  await assert.rejects(wall.hold(), /no/);
  rulebook.problem = undefined;
  void wall.sync();
  assert.equal(spared(), undefined);
});

test('Chrome gives a tab another id: it stays known, and held', async (t) => {
  const { wall, book, held, spared } = around(t);
  await wall.hold();
  wall.opened(2, 1);
  wall.replaced(2, 12);
  wall.replaced(9, 19);
  assert.deepEqual(
    [held(), spared()],
    [
      [1, 12],
      [1, 12, 19],
    ],
  );
  wall.replaced(1, 11);
  book.standings = [shared(11)];
  void wall.sync();
  assert.deepEqual(held(), [11, 12]);
});
