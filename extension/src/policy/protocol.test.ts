import assert from 'node:assert/strict';
import { test } from 'node:test';
import methods from '../../../relay/cdp/methods.json' with { type: 'json' };
import permitted from '../../../relay/cdp/testdata/permitted.json' with { type: 'json' };
import protocol from '../../../relay/cdp/testdata/protocol.json' with { type: 'json' };
import { eventTold, judgeCall, judgeRaw } from './table.ts';

const VALUES = ['', 'https://example.com/', 0, 1, 1.5, true, false, null, {}, [], { $: '0.x' }];
const KNOWN = new Map<string, string[]>(Object.entries(protocol.methods));
const LEVELS: [string, ReadonlyMap<string, string[]>][] = [
  ['read', new Map(Object.entries(permitted.read))],
  ['act', new Map(Object.entries(permitted.act))],
];

test('what is not listed is refused, and what is listed is reached', () => {
  assert.ok(KNOWN.size > 500);
  for (const [level, listed] of LEVELS) {
    for (const [method, params] of KNOWN) {
      const may = listed.get(method);
      assert.equal(judgeRaw(level, method, {}).reason === '', may !== undefined, method);
      for (const param of params) {
        if (may?.includes(param) !== true) assertParamRefused(level, method, param);
      }
    }
  }
});

function assertParamRefused(level: string, method: string, param: string): void {
  for (const value of VALUES) {
    const { reason } = judgeRaw(level, method, { [param]: value });
    assert.notEqual(reason, '', `${method}.${param} at ${level}: ${JSON.stringify(value)}`);
  }
}

test('no level but the two permits anything', () => {
  for (const level of ['', 'admin', 'ACT', 'read ', 'constructor', '__proto__']) {
    for (const method of KNOWN.keys()) assert.notEqual(judgeRaw(level, method, {}).reason, '');
    for (const event of protocol.events) assert.equal(eventTold(level, event), false);
  }
});

test('other spellings are refused', () => {
  for (const method of LEVELS.flatMap(([, listed]) => [...listed.keys()])) {
    for (const other of [
      method.toLowerCase(),
      method.toUpperCase(),
      ` ${method}`,
      `${method} `,
      `${method}\0`,
      `${method}\n`,
      `\ufeff${method}`,
      `${method}\u200b`,
      method.replace('.', '\u2024'),
      method.replace('e', '\u0435'),
      method.replace('a', '\uff41'),
      `${method}.constructor`,
      `${method}.__proto__`,
    ]) {
      if (other === method) continue;
      assert.notEqual(judgeRaw('act', other, {}).reason, '', JSON.stringify(other));
      assert.notEqual(judgeCall('act', other, {}).reason, '', JSON.stringify(other));
    }
  }
});

test('events are told as listed', () => {
  const told = new Map(
    Object.entries(methods.told).flatMap(([level, names]) => names.map((name) => [name, level])),
  );
  for (const event of protocol.events) {
    assert.equal(eventTold('act', event), told.has(event), event);
    assert.equal(eventTold('read', event), told.get(event) === 'read', event);
  }
});

test('programs may do nothing that raw clients may not', () => {
  for (const method of KNOWN.keys()) {
    if (judgeCall('act', method, {}).reason === '') {
      assert.equal(judgeRaw('act', method, {}).reason, '', method);
    }
  }
});
