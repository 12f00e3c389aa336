import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CurrentView, LinkView, ProjectView, TabView } from './contract.ts';
import {
  actWords,
  confirmWords,
  downloadOf,
  emptyWords,
  hostWords,
  levelWords,
  listWords,
  mayOpenWords,
  needsCode,
  noteWords,
  retryWords,
  serverWords,
  statusWords,
  tabWords,
  troubleWords,
} from './words.ts';

const project: ProjectView = {
  key: 'p',
  name: 'P',
  server: 'https://x.org',
  account: 'me',
  link: { is: 'connected' },
  ceiling: 'read',
  mayOpen: true,
  tabs: [],
};
const current: CurrentView = { tab: 1, title: 'X', url: 'https://x.org/' };
const tab: TabView = {
  tab: 1,
  title: 'X',
  url: 'https://x.org/',
  level: 'read',
  stays: false,
  made: false,
  used: false,
};
const refused = (code: string, why = 'no.'): ProjectView => ({
  ...project,
  link: { is: 'refused', code, why },
});

test('a good connection needs no words', () => {
  assert.equal(troubleWords(project, '1.0'), '');
  assert.equal(noteWords(current, project, undefined), '');
  assert.equal(retryWords(project.link, 0), '');
});

test('a connection is called what it is, and a lost one as lost until it is back', () => {
  const words = (link: LinkView) => statusWords(link);
  assert.equal(words({ is: 'connecting' }), 'Connecting…');
  assert.equal(words({ is: 'connecting', again: true }), 'Reconnecting…');
  assert.equal(words({ is: 'waiting' }), 'Reconnecting…');
  assert.equal(words({ is: 'refused', code: 'x', why: '' }), 'Not connected');
});

test('a lost connection says that nothing else changes, and when it is tried again', () => {
  for (const link of [{ is: 'waiting' }, { is: 'connecting', again: true }] as const) {
    assert.match(troubleWords({ ...project, link }, '1.0'), /^x\.org does not answer\. .* stay/);
  }
  assert.equal(troubleWords({ ...project, link: { is: 'connecting' } }, '1.0'), '');
  assert.equal(retryWords({ is: 'waiting', untilMS: 12_001 }, 1000), 'Next try in 12 s.');
  assert.equal(retryWords({ is: 'waiting', untilMS: 1000 }, 1000), 'Trying soon…');
  assert.equal(retryWords({ is: 'connecting', again: true }, 1000), 'Trying now…');
});

test('a refusal is a sentence, and says what to do where that is known', () => {
  const words = (code: string, why?: string) => troubleWords(refused(code, why), '0.9');
  assert.equal(words('forbidden', 'revoked'), 'Revoked.');
  assert.equal(words('forbidden', ''), 'The server refused this browser.');
  assert.match(words('unauthorised'), /^No\. Copy a new code, .*chaperone pair/);
  assert.match(words('replaced'), /this browser instead/);
  assert.match(words('update_required'), /extension 0\.9.*server is newer.*server is older/);
});

test('only a code that the server does not know asks for another, only another version for a download', () => {
  assert.deepEqual(['unauthorised', 'replaced', 'toString'].map(refusedBy(needsCode)), [
    true,
    false,
    false,
  ]);
  assert.deepEqual(['update_required', 'replaced'].map(refusedBy(downloadOf)), [
    'https://x.org/api/downloads/chrome-extension.zip',
    '',
  ]);
});

function refusedBy<T>(ask: (project: ProjectView) => T): (code: string) => T {
  return (code) => ask(refused(code));
}

test('a server is named with the account, once that is known', () => {
  assert.equal(serverWords(project), 'x.org · account me');
  assert.equal(serverWords({ ...project, account: '' }), 'x.org');
});

test('the list says who opened a tab and whether it stays', () => {
  assert.equal(tabWords(tab), '');
  const words = tabWords({ ...tab, made: true, stays: true });
  assert.equal(words, 'Opened by an agent · Pauses when it leaves its site');
});

test('a tab that cannot be shared says why, and one that is asleep how it wakes', () => {
  const unusable = { ...current, unusable: 'Not a web page.' };
  assert.equal(noteWords(unusable, project, undefined), 'Not a web page.');
  const asleep = { ...project, tabs: [{ ...tab, suspended: 'Not a web page.' }] };
  const note = noteWords({ ...unusable, project: 'p' }, asleep, undefined);
  assert.equal(note, 'Paused: Not a web page. Agents can go on once the tab is back.');
});

test('a tab of another project says whose it is', () => {
  assert.match(noteWords({ ...current, project: 'q' }, project, 'Q'), /shared with Q/);
});

test('a refused project shares nothing', () => {
  assert.match(noteWords(current, refused('replaced'), undefined), /^Connect again before/);
});

test('an empty list says what to do', () => {
  assert.equal(emptyWords(project, current), 'Nothing is shared yet.');
  assert.match(emptyWords(project, { ...current, unusable: 'No.' }), /Go to a web page/);
  assert.match(emptyWords(project, undefined), /new shared tab/);
  assert.equal(emptyWords({ ...project, tabs: [tab] }, current), 'No other tab is shared.');
  assert.equal(emptyWords({ ...project, tabs: [tab] }, { ...current, tab: 2 }), '');
});

test('the list is called by what is in it', () => {
  assert.equal(listWords(0, 0), 'Shared tabs');
  assert.equal(listWords(2, 2), 'Shared tabs (2)');
  assert.equal(listWords(3, 2), 'Also shared (2)');
});

test('acting is explained where the project permits it, and said to be out of reach elsewhere', () => {
  const acting = { ...project, ceiling: 'act' } as const;
  assert.match(actWords(project), /reading only.*--policy interactive/);
  assert.match(actWords(acting), /type, submit/);
  assert.match(levelWords(project, tab), /for you too.*permits no more\..*--policy interactive/);
  assert.match(levelWords(acting, tab), /nothing is typed/);
  assert.match(levelWords(acting, { ...tab, level: 'act' }), /^Read, type, submit forms/);
  assert.match(mayOpenWords(project), /only read/);
  assert.match(mayOpenWords(acting), /act there/);
  assert.match(mayOpenWords({ ...acting, mayOpen: false }), /^Off: .*only the tabs you share/);
});

test('before all is disconnected, what goes is counted', () => {
  const words = confirmWords({ projects: [project, { ...project, tabs: [tab] }] });
  assert.match(words, /^Disconnect 2 projects\? 1 shared tab will be unshared\./);
  assert.ok(!confirmWords({ projects: [project] }).includes('unshared'));
});

test('a page is called by its host, or by its address where it has none', () => {
  assert.equal(hostWords('https://x.org:8080/a?b'), 'x.org:8080');
  assert.equal(hostWords('about:blank'), 'about:blank');
  assert.equal(hostWords('chrome://version/'), 'chrome://version/');
});
