import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type Asker, type Host, type Order, Runs } from './runs.ts';
import type { Standing } from './standing.ts';
import { Refusal } from './wire.ts';

const standing: Standing = {
  grant: { name: 't1', tab: 1, pairing: 'p', level: 'read', url: '', title: '' },
  level: 'read',
};

/** Programs that end when told to, and what was sent. */
function begin(host: Partial<Host> = {}) {
  const sent: string[] = [];
  const started: string[] = [];
  const ends: ((result: object) => void)[] = [];
  const runs = new Runs({
    claim: (_order, name) => ({ ...standing, grant: { ...standing.grant, name } }),
    make: () => Promise.resolve({ ...standing, grant: { ...standing.grant, name: 't9', tab: 9 } }),
    discard: ({ grant }) => sent.push(`discarded ${grant.name}`),
    perform: ({ grant }, _program, signal) => {
      started.push(grant.name);
      return new Promise((resolve) => {
        ends.push((result) => resolve(result as never));
        signal.addEventListener('abort', () => resolve({ steps: [], stopped: true } as never));
      });
    },
    ...host,
  });
  const lineOf = (name: string): Asker => ({
    send: (header, body) => sent.push(`${name} ${JSON.stringify(header)} ${body ?? ''}`.trim()),
  });
  const line = lineOf('p');
  const order = (id: number, session = 's_1', tab = 't1'): Order => {
    return { key: 'p', line, id, session, body: JSON.stringify({ tab, steps: [] }) };
  };
  return { runs, sent, started, ends, order, line, lineOf };
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i += 1) await turn();
}

test('programs of one session run one after the other, of two side by side', async () => {
  const { runs, started, ends, sent, order } = begin();
  runs.start(order(1));
  runs.start(order(2, 's_1', 't2'));
  runs.start(order(3, 's_2', 't3'));
  await settle();
  assert.deepEqual(started, ['t1', 't3']);
  ends[0]?.({ steps: [] });
  await settle();
  assert.deepEqual(started, ['t1', 't3', 't2']);
  assert.deepEqual(sent, ['p {"t":"result","id":1} {"steps":[],"tab":"t1"}']);
});

test('a program that asks for a new tab is told its name', async () => {
  const { runs, ends, sent, order } = begin();
  runs.start(order(1, 's_1', 'new'));
  await settle();
  ends[0]?.({ steps: [] });
  await settle();
  assert.match(sent[0] ?? '', /"tab":"t9"/);
});

test('a refusal keeps its code, and the session goes on', async () => {
  const { runs, sent, order } = begin({
    claim: () => {
      throw new Refusal('tab_suspended', 'asleep');
    },
  });
  runs.start(order(1));
  runs.start(order(2));
  await settle();
  assert.deepEqual(sent, [
    'p {"t":"error","id":1,"code":"tab_suspended","message":"asleep"}',
    'p {"t":"error","id":2,"code":"tab_suspended","message":"asleep"}',
  ]);
});

test('a program that is none is a bad request', async () => {
  const { runs, sent, order } = begin();
  runs.start({ ...order(1), body: 'no JSON' });
  await settle();
  assert.match(sent[0] ?? '', /"code":"bad_request"/);
});

test('the sixty-fifth program of a link is refused, and one whose id is taken', async () => {
  const { runs, sent, order } = begin();
  for (let id = 1; id <= 64; id += 1) runs.start(order(id));
  assert.equal(sent.length, 0);
  runs.start(order(65));
  runs.start(order(64));
  assert.equal(sent.length, 2);
  assert.match(sent[0] ?? '', /"id":65,"code":"bad_request"/);
  await settle();
});

test('an answer larger than the link carries becomes an error for that program', async () => {
  const { runs, sent, ends, order } = begin();
  runs.start(order(1));
  await settle();
  ends[0]?.({ steps: ['ü'.repeat(9 << 20)] });
  await settle();
  assert.match(sent[0] ?? '', /"code":"too_large"/);
});

test('cancel stops one program, a queued one before it starts', async () => {
  const { runs, sent, started, order, line, lineOf } = begin();
  runs.start(order(1));
  runs.start(order(2, 's_1', 't2'));
  await settle();
  runs.cancel(line, 2);
  runs.cancel(lineOf('q'), 1);
  await settle();
  assert.equal(sent.length, 0);
  runs.cancel(line, 1);
  await settle();
  assert.deepEqual(started, ['t1']);
  assert.equal(sent.length, 2);
});

test('a tab that opens belongs to the session whose program runs in its opener', async () => {
  const { runs, ends, sent, order } = begin();
  assert.equal(runs.sessionIn(1), undefined);
  const press = { call: 'Input.dispatchMouseEvent', params: { type: 'mousePressed' } };
  runs.start({ ...order(1), body: JSON.stringify({ tab: 't1', steps: [press] }) });
  await settle();
  assert.equal(runs.sessionIn(1), 's_1');
  runs.adopted(1, { id: 't2', url: 'about:blank', title: '', level: 'read' });
  ends[0]?.({ steps: [] });
  await settle();
  assert.match(sent[0] ?? '', /"opened":\[\{"id":"t2"/);
  assert.equal(runs.sessionIn(1), undefined);
});

test('a tab that opens while a program only looks is the person’s', async () => {
  const looking: object[] = [
    { run: '@snapshot', each_frame: true },
    { await: { run: '@has_text', args: {}, max_ms: 9000 } },
    { call: 'Page.navigate', params: { url: 'http://a/' } },
    { call: 'Input.dispatchMouseEvent', params: { type: 'mouseWheel' } },
    { settle: {} },
    { stop_if: { $: '0' } },
  ];
  const doing: object[] = [{ run: '@toggle', args: {} }, { eval: { expression: 'open()' } }];
  for (const [steps, session] of [
    [looking, undefined],
    [[...looking, doing[0]], 's_1'],
    [[...looking, doing[1]], 's_1'],
  ] as const) {
    const { runs, order } = begin();
    runs.start({ ...order(1), body: JSON.stringify({ tab: 't1', steps }) });
    await settle();
    assert.equal(runs.sessionIn(1), session);
  }
});

test('a tab made for a session that ended meanwhile is closed again', async () => {
  const { runs, sent, started, order } = begin();
  runs.start(order(1, 's_1', 'new'));
  await Promise.resolve();
  runs.stopSession('p', 's_1');
  await settle();
  assert.deepEqual(started, []);
  assert.deepEqual(sent, [
    'discarded t9',
    'p {"t":"error","id":1,"code":"tab_closed","message":"The session has ended."}',
  ]);
});

test('a connection counts its programs anew, whatever an earlier one left', async () => {
  const { runs, sent, ends, order, lineOf } = begin();
  const earlier = lineOf('earlier');
  for (let id = 1; id <= 64; id += 1) runs.start({ ...order(id), line: earlier });
  await settle();
  runs.start(order(1, 's_2', 't2'));
  await settle();
  assert.equal(sent.length, 0);
  ends[0]?.({ steps: ['old'] });
  ends[1]?.({ steps: ['new'] });
  await settle();
  assert.match(sent.find((one) => one.startsWith('p ')) ?? '', /"id":1\} \{"steps":\["new"\]/);
  assert.match(sent.find((one) => one.startsWith('earlier ')) ?? '', /"steps":\["old"\]/);
});

test('a program that is stopped while its tab is attached says why it was stopped', async () => {
  const { runs, sent, order } = begin({
    perform: (_standing, _program, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      }),
  });
  runs.start(order(1));
  await settle();
  runs.stopTab(1, new Refusal('tab_closed', 'gone'));
  await settle();
  assert.deepEqual(sent, ['p {"t":"error","id":1,"code":"tab_closed","message":"gone"}']);
});
