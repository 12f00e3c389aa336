import assert from 'node:assert/strict';
import test from 'node:test';
import { counted, detail, named, whyClosed } from './cdp.ts';

const row = {
  backend: 'managed',
  commands: '40',
  writes: '12',
  reads: '26',
  refused: '2',
  'Input.insertText': '12',
  'DOM.a': '9',
  'DOM.b': '8',
  'DOM.c': '7',
  'refused.Network': '2',
  'DOM.d': '1',
  'DOM.e': '1',
  other: '1',
  'client.3': '412:abc',
};

test('a row of commands is told in counts, the most frequent method first, within bounds', () => {
  const said = detail(row);
  assert.equal(counted(said), '40 commands (12 writes)');
  assert.equal(
    named(said),
    'Input.insertText ×12, DOM.a ×9, DOM.b ×8, DOM.c ×7, Network (refused) ×2, DOM.d, and 2 more',
  );
  assert.deepEqual(said.digests, [{ name: '3', count: 412 }]);
  assert.deepEqual(said.rest, [['backend', 'managed']]);
});

test('one command that wrote nothing is one command', () => {
  assert.equal(counted({ commands: 1, writes: 0, refused: 0, methods: [] }), '1 command');
});

test('a row of another kind keeps its words', () => {
  const said = detail({ cause: 'withdrawn', 'a.b': '7' });
  assert.equal(said.commands, 0);
  assert.deepEqual(said.methods, []);
  assert.deepEqual(said.rest, [
    ['cause', 'withdrawn'],
    ['a.b', '7'],
  ]);
});

test('an unknown reason is told as it is', () => {
  assert.equal(whyClosed('credential_ended'), 'the token that asked for it ended');
  assert.equal(whyClosed('new_reason'), 'new_reason');
});
