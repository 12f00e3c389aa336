import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Line, Socket } from './line.ts';
import { Link, type LinkState } from './link.ts';
import { newPairing } from './pairings.ts';
import { member } from './parse.ts';
import { prove } from './proof.ts';

const token = 'secret-token';
const pairing = newPairing({ server: 'http://127.0.0.1:7788', token, project: 'p_1', name: 'P' });

class FakeSocket {
  readonly sent: Record<string, unknown>[] = [];
  closedWith: number | undefined;
  bufferedAmount = 0;
  onopen: Socket['onopen'] = null;
  onmessage: Socket['onmessage'] = null;
  onclose: Socket['onclose'] = null;

  send(message: string): void {
    this.sent.push(JSON.parse(message.split('\n')[0] ?? ''));
  }

  close(code: number): void {
    this.closedWith = code;
  }

  hear(header: object): void {
    this.onmessage?.call(this as never, { data: JSON.stringify(header) } as MessageEvent);
  }

  drop(code: number, reason = ''): void {
    this.onclose?.call(this as never, { code, reason } as CloseEvent);
  }
}

/** A link, the sockets it dialled and what its owner was told. */
function begin(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  const sockets: FakeSocket[] = [];
  const states: string[] = [];
  const received: string[] = [];
  const lines: Line[] = [];
  const owner = {
    tabs: () => [],
    changed: (state: LinkState) => states.push(state.is),
    paired: () => received.push('paired'),
    received: (message: { t: string }, line: Line) => {
      received.push(message.t);
      lines.push(line);
    },
  };
  const identity = { extension: '0.1.0', browser: { name: 'C', version: '1' }, install: 'i' };
  const link = new Link(pairing, identity, owner, () => {
    sockets.push(new FakeSocket());
    return sockets.at(-1) as unknown as Socket;
  });
  link.start();
  return {
    link,
    sockets,
    states,
    received,
    lines,
    last: () => sockets.at(-1) ?? assert.fail('no socket'),
  };
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000; // WebCrypto works in threads, whose time no mock keeps
  while (!holds() && performance.now() < deadline) await turn();
  assert.ok(holds());
}

/** Opens the newest socket and answers as a server that holds serverToken. */
async function greet(socket: FakeSocket, serverToken = token): Promise<void> {
  socket.onopen?.call(socket as never, {} as Event);
  await until(() => socket.sent.length === 1);
  const extension = String(member(socket.sent[0], 'nonce'));
  const mac = await prove(serverToken, 'server', { project: 'p_1', extension, server: 'nonce-s' });
  socket.hear({ t: 'challenge', nonce: 'nonce-s', mac });
}

async function pair(socket: FakeSocket): Promise<void> {
  await greet(socket);
  await until(() => socket.sent.length === 2);
  socket.hear({ t: 'paired', project: { id: 'p_1', name: 'P' }, level: 'read' });
}

test('the extension proves itself only to a server that has, and tells its tabs only then', async (t) => {
  const { last, states } = begin(t);
  await pair(last());
  const [hello, proof] = last().sent;
  assert.equal(member(hello, 't'), 'hello');
  assert.equal(member(hello, 'token_id'), 'abc847688f88e21e');
  assert.equal('tabs' in (hello ?? {}), false);
  const challenge = {
    project: 'p_1',
    extension: String(member(hello, 'nonce')),
    server: 'nonce-s',
  };
  assert.equal(member(proof, 'mac'), await prove(token, 'extension', challenge));
  assert.deepEqual(states, ['connecting', 'connected']);
  assert.ok(!JSON.stringify(last().sent).includes(token));
});

test('a server with another token learns nothing and is not dialled again', async (t) => {
  const { last, states, sockets } = begin(t);
  await greet(last(), 'guess');
  await until(() => states.at(-1) === 'refused');
  assert.equal(last().closedWith, 4001);
  assert.equal(last().sent.length, 1);
  t.mock.timers.tick(600_000);
  assert.equal(sockets.length, 1);
});

test('a server that says paired before it proved itself is not believed', async (t) => {
  const { last, states, received } = begin(t);
  last().onopen?.call(last() as never, {} as Event);
  await until(() => last().sent.length === 1);
  last().hear({ t: 'paired', project: { id: 'p_1', name: 'P' }, level: 'act' });
  assert.equal(states.at(-1), 'refused');
  assert.deepEqual(received, []);
});

test('nothing is taken from a server before it is paired', async (t) => {
  const { last, received } = begin(t);
  last().hear({ t: 'program', id: 1, session: 's' });
  assert.deepEqual(received, []);
  await pair(last());
  last().hear({ t: 'program', id: 1, session: 's' });
  assert.deepEqual(received, ['paired', 'program']);
});

for (const code of [4001, 4002, 4004]) {
  test(`a close with ${code} is told and not retried`, async (t) => {
    const { last, link, sockets } = begin(t);
    await pair(last());
    last().drop(code, 'because');
    assert.ok(link.state.is === 'refused' && link.state.why.message === 'because');
    t.mock.timers.tick(600_000);
    assert.equal(sockets.length, 1);
  });
}

test('an expired link is renewed at once', async (t) => {
  const { last, sockets } = begin(t);
  await pair(last());
  last().drop(4003);
  assert.equal(sockets.length, 2);
});

test('a server that closes as expired before it paired is not dialled in a circle', (t) => {
  const { last, sockets } = begin(t);
  last().drop(4003);
  assert.equal(sockets.length, 1);
  t.mock.timers.tick(500);
  assert.equal(sockets.length, 2);
});

test('a lost network is retried after doubling waits of at most a minute', (t) => {
  t.mock.method(Math, 'random', () => 1);
  const { last, sockets } = begin(t);
  for (const wait of [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
    const before = sockets.length;
    last().drop(1006);
    t.mock.timers.tick(wait - 1);
    assert.equal(sockets.length, before);
    t.mock.timers.tick(1);
    assert.equal(sockets.length, before + 1);
  }
});

test('a link that waits says until when, and dials at once when it is asked to', (t) => {
  const { link, sockets, last } = begin(t);
  last().drop(1006);
  const waiting = link.state;
  assert.ok(waiting.is === 'waiting' && waiting.untilMS > Date.now());
  link.start();
  assert.equal(sockets.length, 2);
  t.mock.timers.tick(waiting.untilMS - Date.now());
  assert.equal(sockets.length, 2);
});

test('a quiet server is pinged, and given up after a minute of silence', async (t) => {
  const { last, states, link } = begin(t);
  await pair(last());
  t.mock.timers.tick(20_000);
  assert.deepEqual(last().sent.at(-1), { t: 'ping' });
  last().hear({ t: 'pong' });
  t.mock.timers.tick(60_000);
  assert.equal(link.state.is, 'connected');
  t.mock.timers.tick(20_000);
  assert.equal(states.at(-1), 'waiting');
});

test('after a sleep of the computer it is dialled at once, by whichever clock tells first', async (t) => {
  for (const wake of ['heartbeat', 'alarm']) {
    const { link, sockets, states, last } = begin(t);
    await pair(last());
    t.mock.timers.tick(20_000);
    last().hear({ t: 'pong' });
    const { now } = Date;
    const slept = t.mock.method(Date, 'now', () => now() + 3_600_000);
    if (wake === 'heartbeat') t.mock.timers.tick(20_000);
    else link.look();
    assert.equal(sockets.length, 2, wake);
    assert.equal(states.at(-1), 'connecting');
    assert.ok(!states.includes('waiting'));
    link.stop();
    slept.mock.restore();
    t.mock.timers.reset();
  }
});

test('an alarm dials what should have been dialled already, and nothing sooner', async (t) => {
  const { link, sockets, last } = begin(t);
  link.look();
  last().drop(1006);
  link.look();
  assert.equal(sockets.length, 1);
  t.mock.timers.setTime(Date.now() + 500);
  link.look();
  assert.equal(sockets.length, 2);
  await pair(last());
  t.mock.timers.setTime(Date.now() + 59_000);
  link.look();
  assert.equal(sockets.length, 2);
});

test('a connection that never opens is given up', (t) => {
  const { link } = begin(t);
  t.mock.timers.tick(14_999);
  assert.equal(link.state.is, 'connecting');
  t.mock.timers.tick(1);
  assert.equal(link.state.is, 'waiting');
});

test('a stopped link says a last word and stays stopped', async (t) => {
  const { last, link, sockets } = begin(t);
  await pair(last());
  link.stop({ t: 'disconnect' });
  assert.deepEqual(last().sent.at(-1), { t: 'disconnect' });
  last().drop(1006);
  t.mock.timers.tick(600_000);
  assert.equal(sockets.length, 1);
  assert.equal(link.state.is, 'stopped');
});

test('an old socket that still speaks is not heard', async (t) => {
  const { last, sockets, received } = begin(t);
  await pair(last());
  last().drop(1006);
  t.mock.timers.tick(500);
  sockets[0]?.hear({ t: 'program', id: 1, session: 's' });
  assert.deepEqual(received, ['paired']);
});

test('an answer to an earlier connection does not go over a later one', async (t) => {
  const { last, sockets, lines } = begin(t);
  await pair(last());
  last().hear({ t: 'program', id: 1, session: 's' });
  last().drop(1006);
  t.mock.timers.tick(500);
  await pair(last());
  last().hear({ t: 'program', id: 1, session: 's' });
  lines[0]?.send({ t: 'result', id: 1 }, 'late');
  assert.ok(!sockets.some(({ sent }) => sent.some((header) => member(header, 't') === 'result')));
  lines[1]?.send({ t: 'result', id: 1 }, '{}');
  assert.deepEqual(last().sent.at(-1), { t: 'result', id: 1 });
});

const oversized = {
  'a header of more than 64 KiB': { t: 'program', id: 1, session: 's'.repeat(64 << 10) },
  'a message of more than 2 MiB': { t: 'pong', x: 'ü'.repeat(1 << 20) },
};

for (const [sentence, header] of Object.entries(oversized)) {
  test(`${sentence} ends the link, which is not dialled again`, async (t) => {
    const { last, link, sockets, received } = begin(t);
    await pair(last());
    last().hear(header);
    assert.equal(last().closedWith, 4004);
    assert.ok(link.state.is === 'refused' && link.state.why.code === 'bad_request');
    t.mock.timers.tick(600_000);
    assert.equal(sockets.length, 1);
    assert.deepEqual(received, ['paired']);
  });
}
