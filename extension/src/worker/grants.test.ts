import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as grants from './grants.ts';

const one: grants.Grant = {
  name: 't1',
  tab: 11,
  pairing: 'p',
  level: 'read',
  url: 'https://x.org/',
  title: 'X',
};

test('a tab belongs to one project: sharing it again moves it', () => {
  const both = grants.add([one], { ...one, name: 't2', pairing: 'q' });
  assert.deepEqual(
    both.map(({ name, pairing }) => [name, pairing]),
    [['t2', 'q']],
  );
});

test('a grant keeps its name and owner when Chrome gives its tab another id', () => {
  const owned = grants.update([one], 11, { session: 's_1' });
  assert.deepEqual(grants.replace(owned, 11, 12), [{ ...one, tab: 12, session: 's_1' }]);
  assert.equal(grants.replace(owned, 99, 12).length, 1);
});

test('an update that changes nothing gives the same value back', () => {
  const all = [one];
  assert.equal(grants.update(all, 11, { url: 'https://x.org/' }), all);
  assert.equal(grants.update(all, 99, { url: 'https://y.org/' }), all);
});

test('the end of a session closes what it made and releases the rest', () => {
  const shared = { ...one, session: 's_1' };
  const made: grants.Grant = { ...one, name: 't2', tab: 12, session: 's_1', made: true };
  const others: grants.Grant = { ...one, name: 't3', tab: 13, session: 's_2', made: true };
  const elsewhere: grants.Grant = { ...made, name: 't4', tab: 14, pairing: 'q' };
  const ended = grants.endSession([shared, made, others, elsewhere], 'p', 's_1');
  assert.deepEqual(ended, { grants: [one, others, elsewhere], closed: [made] });
});

test('the lower of two levels is act only where both are', () => {
  assert.equal(grants.lower('act', 'act'), 'act');
  assert.equal(grants.lower('act', 'read'), 'read');
  assert.equal(grants.lower('read', 'act'), 'read');
});

const own = [
  grants.hostOf(new URL('http://127.0.0.1:7788')),
  grants.hostOf(new URL('https://c.org')),
];

const pages: Record<string, RegExp | undefined> = {
  'https://x.org/': undefined,
  'http://127.0.0.1:7789/': undefined,
  'http://c.org/': undefined,
  'about:blank': undefined,
  '': undefined,
  'about:srcdoc': /not an ordinary web page/,
  'chrome://settings/': /not an ordinary web page/,
  'chrome-extension://codmbdnikppphedddibekmoeejjjmbig/popup.html': /not an ordinary web page/,
  'file:///etc/passwd': /not an ordinary web page/,
  'view-source:https://x.org/': /not an ordinary web page/,
  'javascript:alert(1)': /not an ordinary web page/,
  'data:text/html,x': /not an ordinary web page/,
  'http://127.0.0.1:7788/projects': /own server/,
  'http://localhost:7788/': /own server/,
  'http://a.localhost:7788/': /own server/,
  'http://127.1.2.3:7788/': /own server/,
  'http://[::1]:7788/': /own server/,
  'https://c.org/': /own server/,
  'https://c.org:443/': /own server/,
  'https://chromewebstore.google.com/detail/x': /web store/,
};

for (const [url, reason] of Object.entries(pages)) {
  test(`${url || 'a tab without address'} is ${reason === undefined ? 'usable' : 'refused in words'}`, () => {
    const said = grants.unusable(url, own);
    if (reason === undefined) assert.equal(said, undefined);
    else assert.match(said ?? '', reason);
  });
}
