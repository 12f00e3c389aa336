import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createContext, runInContext } from 'node:vm';

import { hostOf, isOwn } from './grants.ts';
import { guarded, type Rules } from './guarded.ts';
import { isOn } from './site.ts';

type Document = { href: string; origin?: string; above?: string[] };

const rules: Rules = { own: ['localhost:7788', 'server.example:443'], stays: '' };

/** Runs a client's source as Chrome does in a document; the answer is what is in its global scope. */
function run(source: string, document: Document, where: Rules = rules): Record<string, unknown> {
  const { protocol, host, origin } = new URL(document.href);
  const location = { protocol, host, ancestorOrigins: document.above ?? [] };
  const scope: Record<string, unknown> = { location, URL };
  scope['self'] = { origin: document.origin ?? origin };
  runInContext(guarded(source, where), createContext(scope));
  return scope;
}

function runs(document: Document, where?: Rules): boolean {
  return run('var ran = true', document, where)['ran'] === true;
}

const about = (origin: string, ...above: string[]) => ({ href: 'about:blank', origin, above });

test('script runs in web pages and in what has its origin from them', () => {
  const places: [Document, boolean][] = [
    [{ href: 'https://shop.test/a' }, true],
    [{ href: 'http://127.0.0.1:7789/' }, true],
    [{ href: 'http://127.0.0.1:7788/' }, false],
    [{ href: 'http://[::1]:7788/' }, false],
    [{ href: 'http://name.localhost:7788/' }, false],
    [{ href: 'http://localhost.:7788/' }, false],
    [{ href: 'http://localhost.test:7788/' }, true],
    [{ href: 'https://server.example/' }, false],
    [{ href: 'http://server.example/' }, true],
    [{ href: 'file:///etc/hostname', origin: 'null' }, false],
    [{ href: 'chrome-extension://abc/popup.html', origin: 'chrome-extension://abc' }, false],
    [{ href: 'chrome-error://chromewebdata/', origin: 'null' }, false],
    [{ href: 'data:text/html,x', origin: 'null' }, false],
    [{ href: 'data:text/html,x', origin: 'null', above: ['https://shop.test'] }, true],
    [{ href: 'blob:https://shop.test/1', origin: 'https://shop.test' }, true],
    [{ href: 'blob:http://localhost:7788/1', origin: 'http://localhost:7788' }, false],
    [about('null'), true],
    [about('https://shop.test', 'https://shop.test'), true],
    [about('http://localhost:7788'), false],
    [about('null', 'https://shop.test'), true],
    [about('null', 'http://localhost:7788'), false],
    [about('null', 'null', 'https://shop.test'), false],
    [about('chrome-extension://abc'), false],
  ];
  for (const [place, expected] of places)
    assert.equal(runs(place), expected, JSON.stringify(place));
});

test('in a tab that stays on its site it runs there alone', () => {
  const where = { own: [], stays: 'shop.test' };
  const places: [Document, boolean][] = [
    [{ href: 'https://shop.test/' }, true],
    [{ href: 'https://www.shop.test/' }, true],
    [{ href: 'https://pay.shop.test/' }, true],
    [{ href: 'https://eshop.test/' }, false],
    [{ href: 'https://shop.test:8443/' }, false],
    [{ href: 'https://bank.test/', origin: 'null' }, false],
    [{ href: 'https://shop.test/', origin: 'null' }, true],
    [about('null', 'https://shop.test'), true],
    [about('null', 'https://bank.test', 'https://shop.test'), false],
    [about('https://bank.test'), false],
  ];
  for (const [place, expected] of places) {
    assert.equal(runs(place, where), expected, JSON.stringify(place));
  }
});

test('the guard says of each web page what the grant says', () => {
  const hosts = [
    'shop.test',
    'www.shop.test',
    'a.shop.test',
    'ashop.test',
    'localhost',
    '[::1]',
    '127.0.0.1',
    '127.1.2.3',
    'a.localhost',
    'localhost.',
    'xn--bcher-kva.test',
  ];
  for (const stays of ['', 'shop.test', 'localhost:7788', '127.0.0.1:8080']) {
    for (const host of hosts) {
      for (const port of ['', ':7788', ':8080', ':443']) {
        for (const scheme of ['http', 'https']) {
          const href = `${scheme}://${host}${port}/path`;
          const expected = !isOwn(href, rules.own) && (stays === '' || isOn(stays, href));
          assert.equal(runs({ href }, { ...rules, stays }), expected, `${href} ${stays}`);
        }
      }
    }
  }
  assert.equal(hostOf(new URL('http://127.0.0.1:7788')), rules.own[0]);
});

test('what a script declares at its top is the page’s, as without the guard', () => {
  const scope = run(
    '"use strict"; var a = 1; function b() { return a }\n--> an old comment\nthis.c = b() // end',
    { href: 'https://shop.test/' },
  );
  assert.deepEqual([scope['a'], scope['c'], typeof scope['b']], [1, 1, 'function']);
});

test('no source gets out of the guard', () => {
  const escapes = [
    '} evil(); {',
    '} evil(); if (1) {',
    '} evil(); function f() {',
    '} evil(); async function* f() {',
    '} evil(); () => {',
    '} evil(); x: {',
    '} evil(); class A {',
    '} evil(); class A { static',
    '} evil(); class A { static {',
    '} evil(); class A { m() {',
    '} evil(); ({ m() {',
    '} evil(); ({',
    '} evil(); switch (1) { default:',
    '} evil(); do {',
    '} evil(); try {',
    '} evil(); /*',
    '} evil(); //',
    '} evil(); <!--',
    '} evil(); `',
    '} evil(); `${',
    '} evil(); "\\',
    '} evil(); /',
    '} else { evil()',
    '} while (evil()) {',
    'function URL() { return { host: "a", hostname: "a" } } evil()',
    'function self() {} evil()',
    'var location, self, URL, RegExp; evil()',
    'continue; } evil(); {',
    '} evil()\n#!',
    '/**/} evil(); label: for (;;) {',
  ];
  for (const source of escapes) {
    let isOut = false;
    const own = { href: 'http://localhost:7788/' };
    const { protocol, host, origin } = new URL(own.href);
    const scope = createContext({
      location: { protocol, host, ancestorOrigins: [] },
      self: { origin },
      URL,
      evil: () => {
        isOut = true;
      },
    });
    try {
      runInContext(guarded(source, rules), scope);
    } catch (cause) {
      assert.equal((cause as Error).name, 'SyntaxError', source);
    }
    assert.equal(isOut, false, source);
  }
});

test('a guard’s label is another each time', () => {
  const [one, other] = [guarded('1', rules), guarded('1', rules)].map(
    (text) => text.split(':', 1)[0],
  );
  assert.match(one ?? '', /^chaperone_[0-9a-f]{32}$/);
  assert.notEqual(one, other);
});
