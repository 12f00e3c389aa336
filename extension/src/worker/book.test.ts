import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Book } from './book.ts';
import { drop, type Grant, type Grants, ofTab, update } from './grants.ts';
import { newPairing } from './pairings.ts';

const pairing = newPairing({
  server: 'http://127.0.0.1:7788',
  token: 's',
  project: 'p',
  name: 'P',
});
const grant: Grant = {
  name: 't1',
  tab: 1,
  pairing: pairing.key,
  level: 'act',
  url: 'https://x.org/',
  title: 'X',
};

/** A book with one grant, what it wrote and how often it told of a change that a server reads. */
function begin(t: TestContext, grants: Grants = [grant]) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const written: Grants[] = [];
  const set = (what: { grants?: Grants }) => {
    if (what.grants !== undefined) written.push(what.grants);
    return Promise.resolve();
  };
  const area = { set, remove: async () => undefined };
  Object.assign(globalThis, { chrome: { storage: { local: area, session: area } } });
  let told = 0;
  const stored = { install: 'i', nextTab: 2, pairings: [pairing], grants, openings: [] };
  const book = new Book(stored, (found) => {
    told += found.pairings.length;
  });
  return { book, written, told: () => told, title: () => ofTab(book.grants, 1)?.title };
}

test('a page that is renamed without end is written and told four times a second, and in the end as it is', (t) => {
  const { book, written, told, title } = begin(t);
  for (let i = 1; i <= 1000; i += 1) {
    for (let j = 1; j <= 10; j += 1) book.see(1, { title: `${i} ${j}`, url: `https://x.org/${i}` });
    t.mock.timers.tick(1);
  }
  assert.ok(written.length <= 5, `written ${written.length} times`);
  assert.ok(told() <= 5, `told ${told()} times`);
  t.mock.timers.tick(250);
  assert.equal(title(), '1000 10');
  assert.equal(ofTab(written.at(-1) ?? [], 1)?.url, 'https://x.org/1000');
});

test('a page that is renamed once is told at once', (t) => {
  const { book, title } = begin(t);
  book.see(1, { title: 'Y' });
  assert.equal(title(), 'Y');
});

test('a page where nothing may run is so at once, whatever came before', (t) => {
  const { book, written } = begin(t);
  for (let i = 1; i <= 10; i += 1) book.see(1, { title: `${i}` });
  book.see(1, { url: 'chrome://version/' });
  assert.match(book.ofTab(1)?.suspended ?? '', /not an ordinary web page/);
  assert.equal(ofTab(written.at(-1) ?? [], 1)?.title, '10');
  book.see(1, { url: 'https://x.org/back' });
  assert.equal(book.ofTab(1)?.suspended, undefined);
});

test('what the person decides is written at once, and what was seen before does not undo it', (t) => {
  const { book, written } = begin(t);
  book.see(1, { title: 'one' });
  book.see(1, { title: 'two' });
  book.writeGrants(update(book.grants, 1, { level: 'read' }));
  assert.equal(ofTab(written.at(-1) ?? [], 1)?.level, 'read');
  t.mock.timers.tick(250);
  assert.deepEqual(
    book.grants.map(({ level, title }) => `${level} ${title}`),
    ['read two'],
  );
  book.see(1, { title: 'three' });
  book.writeGrants(drop(book.grants, 1));
  assert.deepEqual(written.at(-1), []);
  t.mock.timers.tick(1000);
  assert.deepEqual(book.grants, []);
});

test('what was seen of a tab that is shared anew is not told of the new one', (t) => {
  const { book } = begin(t);
  book.see(1, { title: 'one' });
  book.see(1, { title: 'two' });
  book.writeGrants([]);
  book.writeGrants([{ ...grant, name: 't2' }]);
  t.mock.timers.tick(250);
  assert.equal(book.ofTab(1)?.grant.title, 'X');
});

test('a server that is added where a tab has gone meanwhile finds it asleep', (t) => {
  const { book } = begin(t);
  book.see(1, { title: 'one' });
  book.see(1, { url: 'https://other.org/' });
  const server = { server: 'https://other.org', token: 's', project: 'q', name: 'Q' };
  book.writePairings([...book.pairings, newPairing(server)]);
  assert.match(book.ofTab(1)?.suspended ?? '', /own server/);
});

test('a title without end is kept short, and not written anew for what was cut off', (t) => {
  const { book, written } = begin(t);
  for (const end of ['a', 'b']) {
    book.see(1, { title: `${'x'.repeat(5000)}${end}` });
    t.mock.timers.tick(250);
  }
  assert.equal(written.length, 1);
});
