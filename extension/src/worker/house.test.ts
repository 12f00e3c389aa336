import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Book } from './book.ts';
import { Closing } from './closing.ts';
import { maxGrants } from './grants.ts';
import { House } from './house.ts';
import { newPairing } from './pairings.ts';
import { Seats } from './seats.ts';
import { Wall } from './wall.ts';

const pairing = newPairing({ server: 'https://c.org', token: 's', project: 'p', name: 'P' });
const { key } = pairing;
const look = { tab: 'new', deadline_ms: 1000, steps: [{ run: '@state' }] };

/** A house in a browser of which only the tabs are there; nothing can be attached. */
function built() {
  const open = new Map<number, { id: number; url: string }>();
  const chromes = {
    fronted: [] as number[],
    /** Is done before Chrome answers a request for a tab, once. */
    meanwhile: () => {},
    created: 100,
  };
  const answer = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    const happens = chromes.meanwhile;
    chromes.meanwhile = () => {};
    happens();
  };
  const tabs = {
    async create() {
      await answer();
      chromes.created += 1;
      const tab = { id: chromes.created, url: 'about:blank' };
      open.set(tab.id, tab);
      return tab;
    },
    async get(id: number) {
      await answer();
      const tab = open.get(id);
      if (tab === undefined) throw new Error('no tab');
      return tab;
    },
    update(id: number) {
      chromes.fronted.push(id);
      return Promise.resolve();
    },
    remove(id: number) {
      open.delete(id);
      return Promise.resolve();
    },
  };
  const area = { set: async () => undefined, remove: async () => undefined };
  const windows = { update: async () => undefined };
  Object.assign(globalThis, { chrome: { tabs, windows, storage: { local: area, session: area } } });

  const stored = { install: 'i', nextTab: 1, pairings: [pairing], grants: [], openings: [] };
  const book = new Book(stored, () => undefined);
  const memory = { openings: [], save: () => undefined };
  const wall = new Wall({ install: async () => undefined }, book, memory);
  const no = () => Promise.reject(new Error('cannot be attached'));
  const port = {
    attach: no,
    detach: async () => undefined,
    send: no,
    command: () => undefined,
  };
  const none = () => undefined;
  const seats = new Seats({
    port,
    gate: none,
    painting: (_, capture) => capture(),
    left: none,
    freed: none,
  });
  return {
    house: new House(book, wall, seats, new Closing(port, async () => undefined)),
    book,
    open,
    chromes,
  };
}

const order = (session: string) => ({
  key,
  session,
  id: 1,
  body: '',
  line: { send: () => undefined },
});

test('however many tabs are asked for at once, no more are shared than may be', async () => {
  const { house, book, open } = built();
  const asked = Array.from({ length: 60 }, (_, i) => house.make(order(`s_${i}`), look));
  const answers = await Promise.allSettled(asked);
  assert.equal(answers.filter(({ status }) => status === 'fulfilled').length, maxGrants);
  assert.equal(book.grants.length, maxGrants);
  assert.equal(open.size, maxGrants);
});

test('places that came to nothing can be taken again', async () => {
  const { house, chromes } = built();
  for (let i = 0; i < maxGrants; i += 1) {
    chromes.meanwhile = () => {
      throw new Error('no window');
    };
    await assert.rejects(house.make(order('s_1'), look), /No browser window/);
  }
  await house.make(order('s_1'), look);
});

test('a tab that was made for a project that is forgotten meanwhile is closed', async () => {
  const { house, book, open, chromes } = built();
  chromes.meanwhile = () => book.writePairings([]);
  await assert.rejects(house.make(order('s_1'), look), /does not let agents open tabs/);
  assert.deepEqual([book.grants.length, open.size], [0, 0]);
});

test('a tab is made at the level that holds when it is there', async () => {
  const { house, book, chromes } = built();
  book.changePairing(key, { ceiling: 'act' });
  chromes.meanwhile = () => book.changePairing(key, { ceiling: 'read' });
  assert.equal((await house.make(order('s_1'), look)).grant.level, 'read');
});

async function sharing() {
  const world = built();
  world.open.set(1, { id: 1, url: 'https://x.org/' });
  world.open.set(2, { id: 2, url: 'https://x.org/window' });
  await world.house.share(key, 1, { level: 'read' });
  world.house.claim(order('s_1'), 't1');
  return world;
}

test('a tab is kept to the site it is shared on, and so is the window it opens', async () => {
  const { house, book, open } = built();
  open.set(1, { id: 1, url: 'https://www.x.org/a' });
  open.set(2, { id: 2, url: 'about:blank' });
  assert.equal(await house.share(key, 1, { level: 'read', stays: true }), undefined);
  assert.equal(book.grants[0]?.stays, 'x.org');
  house.claim(order('s_1'), 't1');
  assert.equal((await house.adopt(1, 's_1', 2))?.grant.stays, 'x.org');
});

test('a tab that is on no site cannot be kept to one', async () => {
  const { house, book, open } = built();
  open.set(1, { id: 1, url: 'about:blank' });
  const why = await house.share(key, 1, { level: 'read', stays: true });
  assert.match(why ?? '', /Only a tab on a web page/);
  assert.equal(book.grants.length, 0);
});

test('a window is adopted at the level of the tab that opened it', async () => {
  const { house } = await sharing();
  const adopted = await house.adopt(1, 's_1', 2);
  assert.deepEqual(adopted?.grant, {
    name: 't2',
    tab: 2,
    pairing: key,
    level: 'read',
    url: 'https://x.org/window',
    title: '',
    session: 's_1',
    made: true,
    opener: 't1',
  });
});

const changes: Record<string, (world: Awaited<ReturnType<typeof sharing>>) => void> = {
  'the tab that opened it was unshared': ({ book }) => book.writeGrants([]),
  'that tab has another level': ({ book }) =>
    book.writeGrants(book.grants.map((grant) => ({ ...grant, level: 'act' }))),
  'the session let that tab go': ({ book }) =>
    book.writeGrants(book.grants.map(({ session: _, ...grant }) => grant)),
  'that tab went to sleep': ({ book }) =>
    book.writeGrants(book.grants.map((grant) => ({ ...grant, url: 'chrome://version/' }))),
  'the window closed': ({ open }) => open.delete(2),
};

for (const [change, happens] of Object.entries(changes)) {
  test(`a window is not adopted where, meanwhile, ${change}`, async () => {
    const world = await sharing();
    world.chromes.meanwhile = () => happens(world);
    assert.equal(await world.house.adopt(1, 's_1', 2), undefined);
    assert.equal(world.book.ofTab(2), undefined);
  });
}

test('a tab is brought to the front at most once a second', async (t) => {
  const { house, book, chromes } = await sharing();
  const standing = book.ofTab(1);
  if (standing === undefined) return assert.fail('the tab is not shared');
  t.mock.timers.enable({ apis: ['Date'] });
  const stop = AbortSignal.timeout(50);
  const perform = (program: object) =>
    house.perform(standing, { ...look, tab: 't1', ...program }, stop).catch(() => undefined);
  await Promise.all([perform({ active: true }), perform({ active: true }), perform({})]);
  assert.deepEqual(chromes.fronted, [1]);
  t.mock.timers.tick(999);
  await perform({ active: true });
  assert.deepEqual(chromes.fronted, [1]);
  t.mock.timers.tick(1);
  await perform({ active: true });
  assert.deepEqual(chromes.fronted, [1, 1]);
});
