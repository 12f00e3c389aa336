import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Grant } from './grants.ts';
import { newPairing, type Pairing } from './pairings.ts';
import { differences, standings, tabsOf } from './standing.ts';

const pairing: Pairing = {
  ...newPairing({ server: 'http://127.0.0.1:7788', token: 's', project: 'p', name: 'P' }),
  ceiling: 'act',
};
const grant: Grant = {
  name: 't1',
  tab: 1,
  pairing: pairing.key,
  level: 'act',
  url: 'https://x.org/',
  title: 'X',
};

function change(grants: Grant[], pairings = [pairing]) {
  const found = differences(standings([grant], [pairing]), standings(grants, pairings));
  const names = (all: Grant[]) => all.map(({ name, tab }) => `${name}:${tab}`);
  return {
    gone: names(found.gone),
    lowered: names(found.lowered),
    asleep: names(found.asleep),
    awake: names(found.awake),
    fresh: names(found.fresh),
    told: found.pairings.length,
  };
}

const nothing = { gone: [], lowered: [], asleep: [], awake: [], fresh: [], told: 0 };

test('no change asks for nothing', () => assert.deepEqual(change([grant]), nothing));

test('a group that shows a tab is told to nobody', () => {
  assert.deepEqual(change([{ ...grant, group: 4 }]), nothing);
});

test('an unshared tab is gone', () => {
  assert.deepEqual(change([]), { ...nothing, gone: ['t1:1'], told: 1 });
});

test('a tab that got another id lets the old one go and is told to nobody', () => {
  assert.deepEqual(change([{ ...grant, tab: 2 }]), { ...nothing, gone: ['t1:1'] });
});

test('a lower level of the grant and a lower ceiling are the same', () => {
  const lowered = { ...nothing, lowered: ['t1:1'], told: 1 };
  assert.deepEqual(change([{ ...grant, level: 'read' }]), lowered);
  assert.deepEqual(change([grant], [{ ...pairing, ceiling: 'read' }]), lowered);
});

test('a page that may not be driven puts the tab to sleep, with words', () => {
  const asleep = [{ ...grant, url: 'http://localhost:7788/' }];
  assert.deepEqual(change(asleep), { ...nothing, asleep: ['t1:1'], told: 1 });
  assert.match(tabsOf(standings(asleep, [pairing]), pairing.key)[0]?.suspended ?? '', /own server/);
  const back = differences(standings(asleep, [pairing]), standings([grant], [pairing]));
  assert.deepEqual(back.awake, [grant]);
});

test('a new tab is fresh, and a project that is forgotten lets all its tabs go', () => {
  const second = { ...grant, name: 't2', tab: 2 };
  assert.deepEqual(change([grant, second]), { ...nothing, fresh: ['t2:2'], told: 1 });
  assert.deepEqual(change([grant], []), { ...nothing, gone: ['t1:1'], told: 1 });
});

test('a tab is told with its level below the ceiling, and without what it has not', () => {
  const tabs = tabsOf(standings([grant], [{ ...pairing, ceiling: 'read' }]), pairing.key);
  assert.deepEqual(tabs, [{ id: 't1', url: 'https://x.org/', title: 'X', level: 'read' }]);
});

test('a tab that stays is asleep elsewhere, tells no more than where, and wakes when it is back', () => {
  const kept = { ...grant, stays: 'x.org' };
  const away = { ...kept, url: 'https://y.org/secret?code=1', title: 'Secret' };
  assert.equal(standings([kept], [pairing])[0]?.suspended, undefined);
  const [told] = tabsOf(standings([away], [pairing]), pairing.key);
  assert.match(told?.suspended ?? '', /stays on x\.org/);
  assert.deepEqual([told?.url, told?.title], ['https://y.org/', '']);
  const back = differences(standings([away], [pairing]), standings([kept], [pairing]));
  assert.deepEqual(
    back.awake.map(({ name }) => name),
    ['t1'],
  );
});

test('a tab that stays is nowhere yet on a blank page, and asleep where no tab is awake', () => {
  const at = (url: string) => standings([{ ...grant, stays: 'x.org', url }], [pairing])[0];
  assert.equal(at('about:blank')?.suspended, undefined);
  assert.match(at('chrome://version/')?.suspended ?? '', /not an ordinary web page/);
});
