import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOn, siteOf } from './site.ts';

test('a site is the host of a web page, by whatever name of its own', () => {
  assert.equal(siteOf('https://www.x.org/a'), 'x.org');
  assert.equal(siteOf('http://app.x.org:8080/'), 'app.x.org:8080');
  assert.equal(siteOf('https://www.org/'), 'www.org');
  assert.equal(siteOf('https://[::1]:80/'), '[::1]:80');
  for (const none of ['', 'about:blank', 'chrome://version/', 'file:///x', 'data:text/html,x']) {
    assert.equal(siteOf(none), undefined);
  }
});

const site = siteOf('https://www.x.org/') ?? assert.fail();

for (const [url, on] of [
  ['https://x.org/', true],
  ['http://x.org/a?b', true],
  ['https://www.x.org/', true],
  ['https://deep.in.x.org/', true],
  ['', true],
  ['about:blank', true],
  ['https://x.org.evil.com/', false],
  ['https://notx.org/', false],
  ['https://x.org:8443/', false],
  ['https://org/', false],
  ['https://evil.com/?x.org', false],
  ['https://x.org@evil.com/', false],
  ['data:text/html,x.org', false],
  ['blob:https://x.org/1', false],
] as const) {
  test(`a tab of x.org is ${on ? '' : 'not '}at home on ${url || 'no page yet'}`, () =>
    assert.equal(isOn(site, url), on));
}

test('what was shared below a site does not reach above it or beside it', () => {
  assert.equal(isOn('app.x.org', 'https://x.org/'), false);
  assert.equal(isOn('app.x.org', 'https://other.x.org/'), false);
});
