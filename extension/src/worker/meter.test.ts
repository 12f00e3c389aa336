import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  burstEvents,
  crowdedBytes,
  fullBytes,
  Meter,
  mostDroppable,
  steadyEvents,
} from './meter.ts';

const log = 'Runtime.consoleAPICalled';
const navigated = 'Page.frameNavigated';

function judged(meter: Meter, count: number, method: string, atMS: number, backlog = 0) {
  const verdicts = { told: 0, dropped: 0, flood: 0 };
  for (let i = 0; i < count; i += 1) verdicts[meter.judge(method, 1, atMS, backlog)] += 1;
  return verdicts;
}

test('of what clients can do without, so many a second are told and the others dropped', () => {
  const meter = new Meter();
  assert.deepEqual(judged(meter, mostDroppable + 1, log, 0), {
    told: mostDroppable,
    dropped: 1,
    flood: 0,
  });
  assert.equal(meter.judge(log, 1, 999, 0), 'dropped');
  assert.equal(meter.judge(navigated, 1, 999, 0), 'told');
  assert.equal(meter.judge(log, 1, 1000, 0), 'told');
});

test('a tab may tell much at once, and no more', () => {
  const meter = new Meter();
  assert.equal(judged(meter, burstEvents, navigated, 5000).told, burstEvents);
  assert.equal(meter.judge(navigated, 1, 5000, 0), 'flood');
});

test('long events are told as much of as short ones that weigh the same', () => {
  const meter = new Meter();
  assert.equal(meter.judge(navigated, burstEvents, 5000, 0), 'told');
  assert.equal(meter.judge(log, 1, 5000, 0), 'flood');
});

test('what was told at once is made up for with time', () => {
  const meter = new Meter();
  judged(meter, burstEvents, navigated, 5000);
  assert.equal(judged(meter, steadyEvents, navigated, 6000).told, steadyEvents);
  assert.equal(meter.judge(navigated, 1, 6000, 0), 'flood');
});

test('a tab that tells steadily is told of for ever', () => {
  const meter = new Meter();
  for (let second = 0; second < 100; second += 1) {
    assert.equal(judged(meter, steadyEvents, navigated, second * 1000).told, steadyEvents);
  }
});

test('a clock that goes back makes nothing up', () => {
  const meter = new Meter();
  judged(meter, burstEvents, navigated, 5000);
  assert.equal(meter.judge(navigated, 1, 0, 0), 'flood');
});

test('while the way is crowded only what clients need is told, and nothing while it is full', () => {
  const meter = new Meter();
  assert.equal(meter.judge(log, 1, 0, crowdedBytes), 'told');
  assert.equal(meter.judge(log, 1, 0, crowdedBytes + 1), 'dropped');
  assert.equal(meter.judge(navigated, 1, 0, fullBytes), 'told');
  assert.equal(meter.judge(log, 1, 0, fullBytes + 1), 'dropped');
  assert.equal(meter.judge(navigated, 1, 0, fullBytes + 1), 'flood');
});
