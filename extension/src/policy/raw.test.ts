import assert from 'node:assert/strict';
import { test } from 'node:test';
import vectors from '../../../relay/cdp/testdata/raw.json' with { type: 'json' };
import { eventTold, judgeRaw, toSend } from './table.ts';

type Case = { name: string; level: string; method: string; params?: unknown; reason: string };

for (const c of vectors.calls as Case[]) {
  test(c.name, () => {
    assert.deepEqual(judgeRaw(c.level, c.method, c.params), { reason: c.reason, located: [] });
  });
}

test('numbers beyond all are none', () => {
  const verdict = judgeRaw('act', 'Emulation.setCPUThrottlingRate', JSON.parse('{"rate":1e999}'));
  assert.equal(
    verdict.reason,
    'Emulation.setCPUThrottlingRate: rate is not of kind number, from 1 to 100',
  );
});

test('a native key is not sent on', () => {
  const key = { type: 'keyDown', key: 't' };
  assert.deepEqual(toSend('Input.dispatchKeyEvent', { ...key, nativeVirtualKeyCode: 84 }), key);
  assert.deepEqual(toSend('Input.dispatchKeyEvent', { nativeVirtualKeyCode: 0 }), {});
  const fonts = { fontFamilies: { standard: 'Times' }, forScripts: [1] };
  assert.deepEqual(toSend('Page.setFontFamilies', fonts), { fontFamilies: {}, forScripts: [] });
  const script = { expression: '1', nativeVirtualKeyCode: 1 };
  assert.equal(toSend('Runtime.evaluate', script), script);
});

test('events are told by level', () => {
  const cases: [string, string, boolean][] = [
    ['read', 'Page.loadEventFired', true],
    ['act', 'Page.loadEventFired', true],
    ['read', 'DOM.characterDataModified', false],
    ['act', 'DOM.characterDataModified', true],
    ['read', 'Page.javascriptDialogClosed', false],
    ['read', 'Network.webSocketFrameSent', false],
    ['act', 'Page.screencastFrame', false],
    ['act', 'Network.deviceBoundSessionsAdded', false],
    ['act', 'Fetch.requestPaused', false],
    ['act', 'Autofill.addressFormFilled', false],
    ['act', 'page.loadEventFired', false],
    ['act', 'constructor', false],
    ['', 'Page.loadEventFired', false],
    ['admin', 'Page.loadEventFired', false],
    ['read', 'Network.requestWillBeSentExtraInfo', true],
  ];
  for (const [level, name, want] of cases) {
    assert.equal(eventTold(level, name), want, `${name} at ${level}`);
  }
});
