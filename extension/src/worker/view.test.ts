import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Grant } from './grants.ts';
import type { LinkState } from './link.ts';
import { newPairing, type Pairing, readPairings } from './pairings.ts';
import { bareView, viewOf } from './view.ts';

const pairing: Pairing = newPairing({
  server: 'https://x.org',
  token: 'secret',
  project: 'p_1',
  name: 'P',
});
const grant: Grant = {
  name: 't1',
  tab: 7,
  pairing: pairing.key,
  level: 'act',
  url: 'https://y.org/',
  title: 'Y',
};
const known = {
  pairings: [pairing],
  grants: [grant],
  standings: [{ grant, level: grant.level }],
  trouble: undefined,
  unusable: () => undefined,
};
const live = { link: () => ({ is: 'connected' }) as const, isAttached: () => true };

test('a view holds no token, and no text that is long', () => {
  const current = { tab: 7, title: 'x'.repeat(1e6), url: `data:text/html,${'x'.repeat(1e6)}` };
  const view = viewOf(known, live, current, { problem: 'x'.repeat(1e6) });
  const told = JSON.stringify(view);
  assert.ok(!told.includes('secret'));
  assert.ok(told.length < 6000);
});

test('a trouble is shown where the last command has nothing to say', () => {
  const troubled = { ...known, trouble: 'full' };
  assert.equal(viewOf(troubled, live, undefined, {}).problem, 'full');
  assert.equal(viewOf(troubled, live, undefined, { problem: 'closed' }).problem, 'closed');
});

test('a refusal is told with its code, whatever the link does, and waiting with its end', () => {
  const told = (one: Pairing, state: LinkState) =>
    viewOf({ ...known, pairings: [one] }, { ...live, link: () => state }, undefined, {}).projects[0]
      ?.link;
  const refused = { ...pairing, refused: { code: 'replaced', message: 'No.' } };
  assert.deepEqual(told(refused, { is: 'stopped' }), {
    is: 'refused',
    code: 'replaced',
    why: 'No.',
  });
  const waiting = { is: 'waiting', untilMS: 5 } as const;
  assert.deepEqual(told(pairing, waiting), waiting);
  assert.deepEqual(told(pairing, { is: 'stopped' }), { is: 'waiting' });
});

test('a tab says whether it stays, who opened it and whether a session has it', () => {
  const told = (change: Partial<Grant>) => {
    const changed = { ...grant, ...change };
    const standings = [{ grant: changed, level: changed.level }];
    const tab = viewOf({ ...known, standings }, live, undefined, {}).projects[0]?.tabs[0];
    return [tab?.stays, tab?.made, tab?.used];
  };
  assert.deepEqual(told({}), [false, false, false]);
  assert.deepEqual(told({ stays: 'y.org', made: true, session: 's_1' }), [true, true, true]);
});

test('an agent uses a tab only where its server is connected and the tab attached', () => {
  const used = { ...grant, session: 's_1' };
  const standings = [{ grant: used, level: used.level }];
  const told = (now: typeof live | { link: () => LinkState; isAttached: () => boolean }) =>
    viewOf({ ...known, standings }, now, undefined, {}).projects[0]?.tabs[0]?.used;
  assert.equal(told(live), true);
  assert.equal(told({ ...live, isAttached: () => false }), false);
  assert.equal(told({ ...live, link: () => ({ is: 'stopped' }) }), false);
});

test('a blank tab is called one', () => {
  for (const title of ['', 'about:blank']) {
    const standings = [{ grant: { ...grant, url: 'about:blank', title }, level: grant.level }];
    const view = viewOf({ ...known, standings }, live, undefined, {});
    assert.equal(view.projects[0]?.tabs[0]?.title, 'Blank tab');
  }
});

test('the least of a view still has what is shared and with whom', () => {
  const broken = { ...known, pairings: [{ ...pairing, server: 'no address' }] };
  assert.throws(() => viewOf(broken, live, undefined, {}));
  const { projects, problem } = bareView(broken, 'broken');
  assert.equal(problem, 'broken');
  assert.equal(projects[0]?.key, pairing.key);
  assert.equal(projects[0]?.tabs[0]?.tab, 7);
});

test('a stored pairing without a server that can be reached is left out', () => {
  assert.equal(readPairings([pairing]).length, 1);
  assert.equal(readPairings([{ ...pairing, server: 'no address' }]).length, 0);
  assert.equal(readPairings([{ ...pairing, name: 'x'.repeat(1e6) }])[0]?.name.length, 100);
});
