import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CurrentView, ProjectView } from './contract.ts';
import { actWords, choiceWords, hostWords, noteWords, tabWords, troubleWords } from './words.ts';

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

test('a good connection needs no words', () => {
  assert.equal(troubleWords(project), '');
  assert.equal(noteWords(current, project, undefined), '');
});

test('a lost connection says that it is retried, a refused one why', () => {
  assert.match(
    troubleWords({ ...project, link: { is: 'waiting' } }),
    /x\.org does not answer.*keeps trying/,
  );
  assert.equal(
    troubleWords({ ...project, link: { is: 'refused', code: 'forbidden', why: 'Revoked.' } }),
    'Revoked.',
  );
});

test('a code that is no longer valid is said to need another', () => {
  const link = { is: 'refused', code: 'unauthorised', why: 'revoked' } as const;
  const refused = { ...project, link };
  assert.match(troubleWords(refused), /^Revoked\. Copy a new code, .*chaperone pair/);
});

test('the list marks the tab that the popup is about, and who opened a tab', () => {
  const tab = {
    tab: 1,
    title: 'X',
    url: 'https://x.org/',
    level: 'read',
    stays: false,
    made: false,
    used: false,
  } as const;
  assert.equal(tabWords(tab, false), 'x.org');
  assert.equal(tabWords({ ...tab, made: true }, true), 'This tab · Opened by an agent · x.org');
  assert.equal(tabWords({ ...tab, suspended: 'Asleep.' }, true), 'This tab · Paused');
});

test('a tab that cannot be shared says why, and one that is asleep how it wakes', () => {
  const unusable = { ...current, unusable: 'Not a web page.' };
  assert.equal(noteWords(unusable, project, undefined), 'Not a web page.');
  assert.match(
    noteWords({ ...unusable, project: 'p' }, project, undefined),
    /^Paused: .*go on once/,
  );
});

test('a tab of another project says whose it is', () => {
  assert.match(noteWords({ ...current, project: 'q' }, project, 'Q'), /shared with Q/);
});

test('acting is explained where the project permits it, and said to be out of reach elsewhere', () => {
  assert.match(actWords(project), /reading only/);
  assert.match(actWords({ ...project, ceiling: 'act' }), /type, submit/);
});

test('a page is called by its host, or by its address where it has none', () => {
  assert.equal(hostWords('https://x.org:8080/a?b'), 'x.org:8080');
  assert.equal(hostWords('about:blank'), 'about:blank');
  assert.equal(hostWords('chrome://version/'), 'chrome://version/');
});

test('projects of one name are told apart by their servers', () => {
  const other = { ...project, key: 'q', server: 'https://y.org' };
  assert.equal(choiceWords(project, [project, { ...other, name: 'Q' }]), 'P');
  assert.equal(choiceWords(project, [project, other]), 'P (x.org)');
});
