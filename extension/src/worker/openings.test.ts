import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Openings } from './openings.ts';

const asked = { tab: 1, session: 's_1', url: 'https://x.org/a' };

test('a new tab belongs to the page that asked for it, once', () => {
  const openings = new Openings();
  openings.ask(asked);
  assert.equal(openings.take('https://x.org/a')?.tab, 1);
  assert.equal(openings.take('https://x.org/a'), undefined);
});

test('a tab whose address Chrome does not tell yet is the one asked for', () => {
  const openings = new Openings();
  openings.ask(asked);
  assert.equal(openings.take('')?.session, 's_1');
});

test('a tab that a person opens meanwhile is nobody’s', () => {
  const openings = new Openings();
  openings.ask(asked);
  assert.equal(openings.take('chrome://newtab/'), undefined);
  assert.equal(openings.take('https://x.org/b'), undefined);
});

test('a page that got no window gets no later one', (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  const openings = new Openings();
  openings.ask(asked);
  t.mock.timers.tick(1999);
  openings.ask({ ...asked, tab: 2 });
  t.mock.timers.tick(1);
  assert.equal(openings.take('')?.tab, 2);
  assert.equal(openings.take(''), undefined);
});
