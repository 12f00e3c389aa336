import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Away, withoutHistory } from './away.ts';

const there = 'https://idp.org/login?code=secret';
const home = 'https://x.org/a';
const place = { main: 'M', isAway: (url: string) => url.startsWith('https://idp.org/') };

const sent = (url: string, more: object = {}) => ({
  requestId: 'L',
  loaderId: 'L',
  frameId: 'M',
  type: 'Document',
  documentURL: url,
  request: { url },
  ...more,
});

function begin() {
  const away = new Away();
  return (method: string, params: object) => away.told(method, { ...params }, place);
}

test('no event tells that the page is about to leave, or where to', () => {
  const told = begin();
  for (const method of [
    'Page.frameRequestedNavigation',
    'Page.frameScheduledNavigation',
    'Page.frameStartedNavigating',
  ]) {
    assert.equal(told(method, { frameId: 'M', url: there, loaderId: 'L' }), undefined);
    assert.ok(told(method, { frameId: 'M', url: home, loaderId: 'L2' }));
    assert.ok(told(method, { frameId: 'F', url: there }), 'a frame below is where it likes');
  }
});

test('nothing is told of a request for a document elsewhere, by whatever event', () => {
  const told = begin();
  assert.equal(told('Network.requestWillBeSent', sent(there)), undefined);
  for (const method of [
    'Network.requestWillBeSentExtraInfo',
    'Network.responseReceivedExtraInfo',
    'Network.responseReceived',
    'Network.dataReceived',
    'Network.loadingFinished',
  ]) {
    assert.equal(told(method, { requestId: 'L' }), undefined, method);
    assert.ok(told(method, { requestId: 'other' }), method);
  }
});

test('a request for a document is known by its navigation, whatever comes first', () => {
  const told = begin();
  told('Page.frameStartedNavigating', { frameId: 'M', url: there, loaderId: 'L' });
  const headers = { ':path': '/login?code=secret' };
  assert.equal(told('Network.requestWillBeSentExtraInfo', { requestId: 'L', headers }), undefined);
});

test('what else repeats the address is not told either, until the page has stayed', () => {
  const told = begin();
  const issue = { issue: { details: { cookieUrl: there } } };
  assert.ok(told('Audits.issueAdded', issue));
  told('Network.requestWillBeSent', sent(`${there}#part`));
  assert.equal(told('Audits.issueAdded', issue), undefined);
  assert.equal(told('Log.entryAdded', { entry: { text: `failed: ${there}` } }), undefined);
  assert.ok(told('Log.entryAdded', { entry: { text: 'other' } }));
  assert.ok(
    told('DOM.setChildNodes', { nodes: [{ attributes: ['href', there] }] }),
    'its own link',
  );
  told('Page.frameNavigated', { frame: { id: 'F', parentId: 'M', url: home } });
  assert.equal(told('Audits.issueAdded', issue), undefined);
  told('Page.frameNavigated', { frame: { id: 'M', url: home } });
  assert.ok(told('Audits.issueAdded', issue));
});

test('a redirect that leads away is told by its origin alone', () => {
  const told = begin();
  const headers = { Location: there, Server: 's' };
  const extra = { requestId: 'L', statusCode: 302, headers };
  assert.deepEqual(told('Network.responseReceivedExtraInfo', extra), {
    ...extra,
    headers: { Location: 'https://idp.org/', Server: 's' },
  });
  const stays = { requestId: 'L', headers: { location: '/b' } };
  assert.deepEqual(told('Network.responseReceivedExtraInfo', stays), stays);
  const redirectResponse = { url: home, status: 302, headers };
  assert.equal(told('Network.requestWillBeSent', sent(there, { redirectResponse })), undefined);
});

test('a page that comes back by redirects is told of again, without the way', () => {
  const told = begin();
  told('Network.requestWillBeSent', sent(home));
  told('Network.requestWillBeSent', sent(there));
  const redirectResponse = { url: there, status: 302, headers: { Location: home } };
  const back = sent(home, { redirectResponse });
  assert.deepEqual(told('Network.requestWillBeSent', back), {
    ...back,
    redirectResponse: { url: 'https://idp.org/', status: 302, headers: {} },
  });
  assert.ok(told('Network.responseReceived', { requestId: 'L', response: { url: home } }));
});

test('requests of frames and of scripts to elsewhere are told', () => {
  const told = begin();
  assert.ok(told('Network.requestWillBeSent', sent(there, { frameId: 'F' })));
  const fetched = sent(home, { requestId: 'R', type: 'Fetch', request: { url: there } });
  assert.ok(told('Network.requestWillBeSent', fetched));
  const late = { ...fetched, documentURL: there };
  assert.equal(told('Network.requestWillBeSent', late), undefined, 'of a document elsewhere');
});

test('windows and downloads elsewhere are named by their origin', () => {
  const told = begin();
  for (const method of ['Page.windowOpen', 'Page.downloadWillBegin']) {
    assert.deepEqual(told(method, { url: there }), { url: 'https://idp.org/' });
    assert.deepEqual(told(method, { url: home }), { url: home });
  }
});

test('a new attachment has forgotten where the page was going', () => {
  const away = new Away();
  away.told('Network.requestWillBeSent', sent(there), place);
  away.clear();
  assert.ok(away.told('Network.dataReceived', { requestId: 'L' }, place));
});

test('the history names places elsewhere by their origin', () => {
  const entries = [
    { id: 1, url: home, userTypedURL: home, title: 'Home' },
    { id: 2, url: there, userTypedURL: there, title: 'Hello Ada' },
  ];
  assert.deepEqual(withoutHistory({ currentIndex: 0, entries }, place.isAway), {
    currentIndex: 0,
    entries: [entries[0], { id: 2, url: 'https://idp.org/', userTypedURL: '', title: '' }],
  });
  assert.deepEqual(withoutHistory(undefined, place.isAway), {});
});
