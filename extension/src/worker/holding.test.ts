import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Book } from './book.ts';
import { Children } from './children.ts';
import { Holding, type Wish } from './holding.ts';
import type { Hold } from './holds.ts';
import type { House } from './house.ts';
import type { Passage } from './passage.ts';
import type { Seats } from './seats.ts';
import type { Header } from './wire.ts';

type Known = { suspended?: string };

/** Holds in a browser whose tab 1 is called t1; `attach` is what becomes of the next attachment. */
function begin(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const said: string[] = [];
  const did: string[] = [];
  const world = {
    standing: {} as Known,
    attach: () => Promise.resolve(),
    close: () => Promise.resolve(),
    target: 'T1',
    children: new Children(),
    now: 1_000_000,
  };
  const seats = {
    takeFresh: async (tab: number) => {
      did.push(`take ${tab}`);
      await world.attach();
      return () => did.push(`leave ${tab}`);
    },
    children: () => world.children,
    spoil: (tab: number) => did.push(`spoil ${tab}`),
    command: (_: number, child: string | undefined, method: string) =>
      did.push(`${child ?? ''}${method}`),
  };
  const passage = {
    close: () => world.close(),
    closeFrame: (_: Hold, child: string) => did.push(`close ${child}`),
    open: (_: Hold, child: string) => did.push(`open ${child}`.trim()),
  };
  const holding = new Holding({
    book: { ownHosts: [], ofName: () => ({ grant: {}, ...world.standing }) } as unknown as Book,
    house: {
      claim: () => ({ grant: { tab: 1 } }),
      prepare: () => Promise.resolve(),
    } as unknown as House,
    seats: seats as unknown as Seats,
    passage: passage as unknown as Passage,
    targetOf: () => Promise.resolve(world.target),
    nowMS: () => world.now,
    keep: (tab) => did.push(`keep ${tab}`),
    free: (tab) => did.push(`free ${tab}`),
    greet: (_, child) => said.push(`child ${child.session}`),
    learn: () => undefined,
  });
  const line = {
    backlog: 0,
    send: (header: Header) =>
      said.push(
        [header.t, 'id' in header ? header.id : '', 'code' in header ? header.code : '']
          .join(' ')
          .trim(),
      ),
  };
  const wish: Wish = { key: 'k', session: 's', line, id: 7, tab: 't1' };
  const only = () => holding.holds.find('k', 't1') ?? assert.fail('nothing is held');
  return { holding, world, said, did, wish, only };
}

async function settle(): Promise<void> {
  for (let i = 0; i < 5; i += 1) await turn();
}

const isNot = () => Promise.reject(new Error('not now'));

test('a tab is held, told of, and asked for its children', async (t) => {
  const { holding, world, said, did, wish } = begin(t);
  world.children.apply('', 'Target.attachedToTarget', { sessionId: 'A', targetInfo: {} });
  await holding.begin(wish);
  assert.deepEqual(said, ['held 7', 'child A']);
  assert.deepEqual(did, [
    'take 1',
    'Page.enable',
    'Page.getFrameTree',
    'Emulation.setFocusEmulationEnabled',
    'Runtime.enable',
    'Target.setAutoAttach',
    'ATarget.setAutoAttach',
    'keep 1',
  ]);
});

test('a tab that is held is not held again', async (t) => {
  const { holding, wish } = begin(t);
  await holding.begin(wish);
  await assert.rejects(holding.begin(wish), { code: 'bad_request' });
});

test('a tab that cannot be attached is not held', async (t) => {
  const { holding, world, said, wish } = begin(t);
  world.attach = isNot;
  await assert.rejects(holding.begin(wish), { code: 'tab_suspended' });
  assert.equal(holding.holds.find('k', 't1'), undefined);
  assert.deepEqual(said, []);
});

test('a tab that is dropped while it is attached is let go', async (t) => {
  const { holding, world, did, said, wish, only } = begin(t);
  let attached = () => {};
  world.attach = () =>
    new Promise((resolve) => {
      attached = resolve;
    });
  const begun = holding.begin(wish);
  await settle();
  holding.end(only(), 'tab_closed', 'over');
  attached();
  await assert.rejects(begun, { code: 'tab_suspended' });
  assert.deepEqual(did, ['take 1', 'spoil 1', 'leave 1']);
  assert.deepEqual(said, []);
});

test('what is under way when a tab falls asleep is answered, and the tab attached anew', async (t) => {
  const { holding, said, wish, only } = begin(t);
  await holding.begin(wish);
  only().flights.set(9, { id: 9, method: 'Page.reload', lift: () => said.push('lifted') });
  holding.sleep(1, 'away');
  assert.deepEqual(said.slice(1), ['lifted', 'error 9 tab_suspended', 'asleep  tab_suspended']);
  await settle();
  assert.deepEqual(said.slice(4), ['held']);
});

test('a tab that cannot be attached anew is tried every five seconds, or when something happens to it', async (t) => {
  const { holding, world, said, did, wish } = begin(t);
  await holding.begin(wish);
  world.attach = isNot;
  holding.sleep(1, 'away');
  await settle();
  const tries = () => did.filter((what) => what === 'take 1').length;
  assert.equal(tries(), 2);
  t.mock.timers.tick(4999);
  await settle();
  assert.equal(tries(), 2);
  t.mock.timers.tick(1);
  await settle();
  assert.equal(tries(), 3);
  holding.nudge(1);
  await settle();
  assert.equal(tries(), 4);
  world.attach = () => Promise.resolve();
  holding.nudge(1);
  await settle();
  assert.equal(said.at(-1), 'held');
  holding.nudge(1);
  await settle();
  assert.equal(tries(), 5);
});

test('a tab on a page of nobody is not attached before it is back', async (t) => {
  const { holding, world, said, did, wish } = begin(t);
  await holding.begin(wish);
  world.standing = { suspended: 'chrome://' };
  holding.sleep(1, 'chrome://');
  await settle();
  t.mock.timers.tick(60_000);
  await settle();
  assert.equal(did.filter((what) => what === 'take 1').length, 1);
  world.standing = {};
  holding.nudge(1);
  await settle();
  assert.equal(said.at(-1), 'held');
});

test('a tab that has to rest is not attached sooner, and rests longer each time', async (t) => {
  const { holding, world, said, wish } = begin(t);
  await holding.begin(wish);
  for (const restMS of [5000, 10_000, 20_000]) {
    holding.rest(1, 'too much');
    await settle();
    for (let past = 0; past < restMS; past += 5000) {
      assert.equal(said.at(-1), 'asleep  tab_suspended', `${restMS} ${past}`);
      world.now += 5000;
      t.mock.timers.tick(5000);
      await settle();
    }
    assert.equal(said.at(-1), 'held', `${restMS}`);
  }
  world.now += 60_001;
  holding.rest(1, 'too much');
  await settle();
  world.now += 5000;
  t.mock.timers.tick(5000);
  await settle();
  assert.equal(said.at(-1), 'held');
});

test('a tab that gets another id is attached by that one', async (t) => {
  const { holding, world, said, did, wish, only } = begin(t);
  await holding.begin(wish);
  world.children = new Children();
  holding.move(1, 2);
  await settle();
  assert.equal(only().tab, 2);
  assert.equal(did.filter((what) => what === 'take 2').length, 1);
  assert.equal(said.at(-1), 'held');
  holding.sleep(1, 'the old one');
  assert.equal(said.at(-1), 'held');
});

test('children that wait are resumed when the tab is let go', async (t) => {
  const { holding, world, did, wish, only } = begin(t);
  await holding.begin(wish);
  world.children.apply('', 'Target.attachedToTarget', {
    sessionId: 'W',
    waitingForDebugger: true,
    targetInfo: {},
  });
  did.length = 0;
  holding.end(only(), 'tab_closed', 'over');
  assert.deepEqual(did, [
    'Target.setAutoAttach',
    'WRuntime.runIfWaitingForDebugger',
    'free 1',
    'leave 1',
    'spoil 1',
  ]);
});

test('a tab whose documents may not be waited for is not held, and documents pass again', async (t) => {
  const { holding, world, did, wish } = begin(t);
  world.close = isNot;
  await assert.rejects(holding.begin(wish), { code: 'tab_suspended' });
  assert.deepEqual(did, ['take 1', 'open', 'leave 1', 'spoil 1']);
});
