import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hold } from './holds.ts';
import { Sources } from './sources.ts';

const hold = {} as Hold;
const own = 'https://site/page';

function begin() {
  const sources = new Sources();
  const isHidden = (scriptId: string, child = '', method = 'Debugger.getScriptSource') =>
    sources.isHidden(hold, child, method, { scriptId });
  const parsed = (scriptId: string, more: object) =>
    sources.event(hold, '', 'Debugger.scriptParsed', {
      scriptId,
      startLine: 0,
      startColumn: 0,
      ...more,
    });
  return { sources, isHidden, parsed };
}

test('a source is shown where it stands in a document or script made it', () => {
  const { isHidden, parsed } = begin();
  parsed('1', { url: '', embedderName: '' });
  parsed('2', { url: own, embedderName: own, startColumn: 8 });
  parsed('3', { url: own, embedderName: own, startLine: 3 });
  parsed('4', { url: 'https://named/by.js', embedderName: '' });
  assert.deepEqual(
    ['1', '2', '3', '4'].map((id) => isHidden(id)),
    [false, false, false, false],
  );
});

test('no source is shown that a page loaded, be it from its own address', () => {
  const { isHidden, parsed } = begin();
  parsed('1', { url: 'https://bank/data', embedderName: 'https://bank/data' });
  parsed('2', { url: 'https://site/sent-on', embedderName: 'https://site/sent-on' });
  parsed('3', { url: own, embedderName: own });
  parsed('4', { url: 'named', embedderName: 'https://bank/data' });
  parsed('5', { url: 'https://bank/data' });
  assert.deepEqual(
    ['1', '2', '3', '4', '5'].map((id) => isHidden(id)),
    Array(5).fill(true),
  );
  assert.equal(isHidden('1', '', 'Debugger.searchInContent'), true);
  assert.equal(isHidden('1', '', 'Debugger.disable'), false);
  assert.equal(isHidden('1', 'child'), false);
});

test('what is no script is not shown, wherever it is from, until the document is another', () => {
  const { sources, isHidden } = begin();
  const params = { scriptId: '9', url: own, embedderName: own, startLine: 3, startColumn: 1 };
  sources.event(hold, '', 'Debugger.scriptFailedToParse', params);
  assert.equal(isHidden('9'), true);
  sources.event(hold, '', 'Runtime.executionContextsCleared', {});
  assert.equal(isHidden('9'), false);
});

test('of a document with too many scripts none is shown', () => {
  const { isHidden, parsed } = begin();
  for (let id = 0; id <= 10_000; id += 1) parsed(String(id), { url: 'https://bank/data' });
  assert.equal(isHidden('x'), true);
});
