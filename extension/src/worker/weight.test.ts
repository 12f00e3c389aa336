import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textAnEvent, weightOf } from './weight.ts';

test('an event weighs one, and one more for so much text in it', () => {
  assert.equal(weightOf(undefined), 1);
  assert.equal(weightOf({ timestamp: 1, isOn: true, none: null }), 1);
  assert.equal(weightOf({ text: 'x'.repeat(textAnEvent - 1) }), 1);
  assert.equal(weightOf({ text: 'x'.repeat(textAnEvent) }), 2);
});

test('text counts however deep it is, and all of it together', () => {
  const half = 'x'.repeat(textAnEvent / 2);
  assert.equal(weightOf({ args: [{ value: half }, { preview: { description: half } }] }), 2);
});

test('an event of very many values is weighed by the first of them', () => {
  const long = 'x'.repeat(textAnEvent);
  const many = Array.from({ length: 100_000 }, () => long);
  const weight = weightOf({ many });
  assert.ok(weight > 900 && weight <= 1001, `${weight}`);
});
