import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frame, isOversized, readMessage } from './wire.ts';

test('a program keeps its body unread, line breaks included', () => {
  assert.deepEqual(readMessage('{"t":"program","id":7,"session":"s_1"}\n{"tab":\n"t1"}'), {
    t: 'program',
    id: 7,
    session: 's_1',
    body: '{"tab":\n"t1"}',
  });
});

test('a frame is its header in one line and its body', () => {
  assert.equal(frame({ t: 'ping' }), '{"t":"ping"}');
  assert.equal(frame({ t: 'result', id: 1 }, '{}'), '{"t":"result","id":1}\n{}');
});

const unknown = {
  'an unknown kind': '{"t":"later","id":1}',
  'a kind that every object has': '{"t":"constructor","id":1}',
  'no JSON': 'ping',
  'no object': '[1]',
  nothing: '',
  'a level that does not exist': '{"t":"level","level":"all"}',
  'a challenge without proof': '{"t":"challenge","nonce":"n"}',
  'a pairing without project': '{"t":"paired","level":"read"}',
};

for (const [sentence, message] of Object.entries(unknown)) {
  test(`${sentence} is ignored`, () => assert.equal(readMessage(message), undefined));
}

test('a request of a known kind that cannot be read keeps its id, to be refused', () => {
  assert.deepEqual(readMessage('{"t":"program","id":7}'), { t: 'bad', id: 7 });
  assert.deepEqual(readMessage('{"t":"cast","id":8,"session":"s_1"}'), { t: 'bad', id: 8 });
});

for (const session of ['', 'a b', 's/1', 's'.repeat(65)]) {
  test(`a session called ${JSON.stringify(session)} is none`, () => {
    for (const t of ['program', 'cast', 'end']) {
      const options = { tab: 't1' };
      const message = JSON.stringify({ t, id: 1, session, options });
      assert.deepEqual(readMessage(message), { t: 'bad', id: 1 });
    }
  });
}

test('what a person may read is short and in one line', () => {
  const name = `In\u202Evo\n\tices ${'x'.repeat(200)}`;
  const paired = readMessage(
    JSON.stringify({ t: 'paired', project: { id: 'p', name }, level: 'read', server: name }),
  );
  assert.ok(paired?.t === 'paired');
  assert.equal(paired.project.name, `Invo ices ${'x'.repeat(90)}`);
  assert.equal(paired.server.length, 100);
  const refused = readMessage(JSON.stringify({ t: 'refused', code: name, message: name }));
  assert.ok(refused?.t === 'refused' && refused.message.startsWith('Invo ices x'));
});

test('bounds count bytes, of the first line and of the whole', () => {
  const line = '{"t":"pong"}';
  assert.equal(isOversized(line.padEnd(64 << 10)), false);
  assert.equal(isOversized(line.padEnd((64 << 10) + 1)), true);
  assert.equal(isOversized(`${line}\n`.padEnd(2 << 20)), false);
  assert.equal(isOversized(`${line}\n`.padEnd((2 << 20) + 1)), true);
  assert.equal(isOversized(`${line}\n${'ü'.repeat(1 << 20)}`), true);
});

test('what a cast asks for is brought within bounds', () => {
  const message = readMessage(
    '{"t":"cast","id":1,"session":"s","options":{"tab":"t1","fps":1000,"quality":-3,"max_width":1e9}}',
  );
  assert.deepEqual(message, {
    t: 'cast',
    id: 1,
    session: 's',
    options: { tab: 't1', maxWidth: 4096, maxHeight: 720, quality: 1, fps: 30 },
  });
});

test('whatever arrives, nothing is thrown and nothing half read comes out', () => {
  const seed =
    '{"t":"paired","project":{"id":"p","name":"P"},"level":"act","heartbeat_s":20}\n{"a":[1]}';
  let state = 1;
  const next = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  for (let round = 0; round < 5000; round += 1) {
    const at = next(seed.length);
    const spoilt = seed.slice(0, at) + String.fromCharCode(next(256)) + seed.slice(at + next(12));
    const message = readMessage(spoilt);
    if (message?.t === 'paired') {
      assert.ok(message.project.id !== '' && (message.level === 'act' || message.level === 'read'));
      assert.ok(message.heartbeatMS >= 1000 && message.heartbeatMS <= 20_000);
    }
  }
});
