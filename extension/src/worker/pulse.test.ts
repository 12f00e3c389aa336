import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { fewEvents, Pulse, slowMS } from './pulse.ts';

function begin() {
  const chrome = { now: 0, asked: 0, answer: () => {} };
  const ask = () => {
    chrome.asked += 1;
    return new Promise<void>((resolve) => {
      chrome.answer = resolve;
    });
  };
  return { chrome, pulse: new Pulse(ask, () => chrome.now) };
}

function held(pulse: Pulse, tab: object, times: number): boolean {
  let last = false;
  for (let i = 0; i < times; i += 1) last = pulse.isHeldUpBy(tab, 1);
  return last;
}

test('a tab that tells most of what Chrome is slow with holds the others up', () => {
  const { chrome, pulse } = begin();
  const [loud, quiet] = [{}, {}];
  held(pulse, loud, fewEvents);
  held(pulse, quiet, fewEvents / 2);
  chrome.now = slowMS + 1;
  assert.equal(pulse.isHeldUpBy(loud, 1), true);
  assert.equal(pulse.isHeldUpBy(quiet, 1), false);
});

test('nobody holds up while Chrome answers in time', async () => {
  const { chrome, pulse } = begin();
  const loud = {};
  held(pulse, loud, fewEvents * 2);
  chrome.now = slowMS;
  assert.equal(pulse.isHeldUpBy(loud, 1), false);
  chrome.answer();
  await turn();
  chrome.now = slowMS * 2;
  assert.equal(held(pulse, loud, fewEvents * 2), false, 'the next answer is awaited since now');
  assert.equal(chrome.asked, 2);
});

test('a tab that told little is not what Chrome is slow with', () => {
  const { chrome, pulse } = begin();
  const tab = {};
  held(pulse, tab, fewEvents - 1);
  chrome.now = slowMS + 1;
  assert.equal(pulse.isHeldUpBy(tab, 1), false);
  assert.equal(pulse.isHeldUpBy(tab, 1), true);
});

test('of several tabs that tell too much together, the loudest goes first', () => {
  const { chrome, pulse } = begin();
  const loud = [{}, {}, {}, {}];
  for (const [i, tab] of loud.entries()) held(pulse, tab, fewEvents + 10 * i);
  chrome.now = slowMS + 1;
  assert.deepEqual(
    loud.map((tab) => pulse.isHeldUpBy(tab, 1)),
    [false, false, false, true],
  );
});

test('a few long events are as much as many short ones', () => {
  const { chrome, pulse } = begin();
  const [loud, quiet] = [{}, {}];
  held(pulse, quiet, fewEvents / 2);
  pulse.isHeldUpBy(loud, fewEvents);
  chrome.now = slowMS + 1;
  assert.equal(pulse.isHeldUpBy(quiet, 1), false);
  assert.equal(pulse.isHeldUpBy(loud, 1), true);
});
