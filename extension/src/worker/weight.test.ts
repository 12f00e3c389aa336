import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heaviest, textAnEvent, weightOf } from './weight.ts';

test('an event weighs one, and one more for so much text in it', () => {
  assert.equal(weightOf(undefined), 1);
  assert.equal(weightOf({ timestamp: 1, isOn: true, none: null }), 1);
  assert.equal(weightOf({ text: 'x'.repeat(textAnEvent / 2) }), 1);
  assert.equal(weightOf({ text: 'x'.repeat(textAnEvent) }), 2);
});

test('text counts however deep it is, and all of it together', () => {
  const half = 'x'.repeat(textAnEvent / 2);
  assert.equal(weightOf({ args: [{ value: half }, { preview: { description: half } }] }), 2);
});

test('no event weighs more than so much, however long it is', () => {
  assert.equal(weightOf({ text: 'x'.repeat(textAnEvent * heaviest * 2) }), heaviest);
});

test('many small values weigh too, and very many as much as can be', () => {
  assert.equal(weightOf({ args: Array(200).fill(7) }), 4);
  assert.equal(weightOf({ args: Array(100_000).fill(7) }), heaviest);
  assert.equal(weightOf([...Array(1200).fill(0), 'x'.repeat(8_000_000)]), heaviest);
});
