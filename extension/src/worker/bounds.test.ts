import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cut, cutAddress, held, isLonger, readable } from './bounds.ts';
import type { Grant } from './grants.ts';

const grant: Grant = { name: 't1', tab: 1, pairing: 'p', level: 'read', url: '', title: '' };

test('a text is cut between characters', () => {
  assert.equal(cut('abc', 3), 'abc');
  assert.equal(cut('abcd', 3), 'abc');
  assert.equal(cut('ab😀', 3), 'ab');
  assert.equal(cut('ab😀', 4), 'ab😀');
});

test('length is counted in UTF-8', () => {
  assert.equal(isLonger('abc', 3), false);
  assert.equal(isLonger('abü', 3), true);
  assert.equal(isLonger('€€', 6), false);
});

test('words of a server do not turn the text around them', () => {
  assert.equal(readable(' a\u202E\u0000b\n c ', 10), 'a b c');
});

test('an address that is cut keeps its origin, whatever stands before it', () => {
  const long = 'x'.repeat(5000);
  assert.equal(cutAddress('https://x.org/a?b#c'), 'https://x.org/a?b#c');
  assert.equal(cutAddress(`https://x.org/?${long}`).length, 4096);
  assert.match(cutAddress(`https://${long}@127.0.0.1:7788/a`), /^https:\/\/127\.0\.0\.1:7788\/a$/);
  assert.match(cutAddress(`data:text/html,${long}`), /^data:/);
});

test('grants fit into storage and into one message whatever their pages are called', () => {
  const large = { ...grant, url: `https://x.org/${'x'.repeat(2e6)}`, title: '😀'.repeat(1e6) };
  const kept = held(Array.from({ length: 40 }, (_, tab) => ({ ...large, tab })));
  assert.equal(kept.length, 32);
  assert.ok(JSON.stringify(kept).length < 200_000);
  assert.equal(kept[0]?.title, '😀'.repeat(150));
  assert.equal(held([grant])[0], grant);
});
