import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeWords } from './changes.ts';
import { after, offered, shown } from './choice.ts';
import type { LinkView, ProjectView, TabView, View } from './contract.ts';

const tab: TabView = {
  tab: 1,
  title: 'X',
  url: 'https://x.org/',
  level: 'read',
  stays: false,
  made: false,
  used: false,
};

function project(key: string, tabs: TabView[] = [], link: LinkView = { is: 'connected' }) {
  const rest = { server: 'https://x.org', account: 'me', ceiling: 'act', mayOpen: true } as const;
  return { key, name: key.toUpperCase(), link, tabs, ...rest } satisfies ProjectView;
}

const none: View = { projects: [project('p')] };
const shared: View = { projects: [project('p', [tab])] };

test('what is there when the popup opens is no change', () => {
  assert.equal(changeWords(undefined, shared), '');
  assert.equal(changeWords(shared, shared), '');
});

test('each change of what is shared is told in words', () => {
  const acting: View = { projects: [project('p', [{ ...tab, level: 'act' }])] };
  const asleep: View = { projects: [project('p', [{ ...tab, suspended: 'Elsewhere.' }])] };
  assert.equal(changeWords(none, shared), '“X” is shared. Agents may read.');
  assert.equal(changeWords(shared, none), '“X” is no longer shared.');
  assert.equal(changeWords(shared, acting), '“X”: Agents may act.');
  assert.equal(changeWords(acting, shared), '“X”: Agents may read.');
  assert.equal(changeWords(shared, asleep), '“X” is paused. Elsewhere.');
  assert.equal(changeWords(asleep, shared), '“X” goes on.');
  assert.equal(changeWords(shared, { projects: [] }), 'P is disconnected.');
  assert.equal(changeWords({ projects: [] }, none), 'P is added.');
});

test('a title that changes, or an agent that begins, is not told: pages would talk', () => {
  const other: View = { projects: [project('p', [{ ...tab, title: 'Y', used: true }])] };
  assert.equal(changeWords(shared, other), '');
});

const three = [project('p'), project('q'), project('r')];
const current = { tab: 1, title: 'X', url: 'https://x.org/' };

test('a tab that an agent opened is not said to be shared', () => {
  const made = { ...tab, title: 'Blank tab', made: true, level: 'act' } as const;
  const words = changeWords(none, { projects: [project('p', [made])] });
  assert.equal(words, 'An agent opened “Blank tab”. Agents may act.');
});

test('the project of the current tab comes first, and is shown unless another is chosen', () => {
  const view: View = { projects: three, current: { ...current, project: 'q' } };
  assert.deepEqual(
    offered(view).map(({ key }) => key),
    ['q', 'p', 'r'],
  );
  assert.equal(shown(view, undefined)?.key, 'q');
  assert.equal(shown(view, 'r')?.key, 'r');
  assert.equal(shown(view, 'gone')?.key, 'q');
  assert.equal(shown({ projects: [] }, 'p'), undefined);
});

test('else it is the one that was connected last, and none whose server refuses this browser', () => {
  const refused = project('s', [], { is: 'refused', code: 'unauthorised', why: '' });
  assert.equal(shown({ projects: three, current }, undefined)?.key, 'r');
  assert.equal(shown({ projects: [refused, ...three] }, undefined)?.key, 'r');
  assert.equal(shown({ projects: [...three, refused] }, undefined)?.key, 'r');
  assert.equal(shown({ projects: [refused] }, undefined)?.key, 's');
});

test('a lost connection that is dialled again is still lost, until it is back or refused', () => {
  const seen = (...links: LinkView[]) =>
    links
      .map((link): View => ({ projects: [project('p', [], link)] }))
      .reduce((before, now) => after(before, now), { projects: [] }).projects[0]?.link;
  const again = { is: 'connecting', again: true };
  assert.deepEqual(seen({ is: 'connecting' }), { is: 'connecting' });
  assert.deepEqual(seen({ is: 'waiting' }, { is: 'connecting' }), again);
  assert.deepEqual(seen({ is: 'waiting' }, { is: 'connecting' }, { is: 'connecting' }), again);
  assert.deepEqual(seen({ is: 'waiting' }, { is: 'connected' }, { is: 'connecting' }), {
    is: 'connecting',
  });
});
