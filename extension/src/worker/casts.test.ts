import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Casts } from './casts.ts';

const options = { tab: 't1', maxWidth: 640, maxHeight: 480, quality: 50, fps: 4 };

function begin(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 10_000 });
  const commands: string[] = [];
  const pictures: string[] = [];
  const users: { now: number; refuse: boolean } = { now: 0, refuse: false };
  const page = { isSeen: true };
  const casts = new Casts({
    watch: () => {
      if (users.refuse) return Promise.reject(new Error('asleep'));
      users.now += 1;
      return Promise.resolve(() => {
        users.now -= 1;
      });
    },
    isSeen: () => page.isSeen,
    send: (_tab, _child, method) => {
      if (method !== 'Page.enable') commands.push(method);
      return Promise.resolve({});
    },
  });
  const screen = {
    backlog: 0,
    send: (header: object, body: string) =>
      pictures.push(`${'id' in header ? header.id : ''} ${body}`),
  };
  return { casts, commands, page, pictures, screen, users };
}

function framed(casts: Casts, data: string): void {
  casts.framed(1, { data, sessionId: 7, metadata: { deviceWidth: 640.4, deviceHeight: 480 } });
}

test('every frame is acknowledged at once, and the newest is sent as often as asked for', async (t) => {
  const { casts, commands, pictures, screen } = begin(t);
  casts.start('p', 9, 1, options, screen);
  await turn();
  assert.deepEqual(commands, ['Page.startScreencast']);
  for (const data of ['a', 'b', 'c']) framed(casts, data);
  assert.equal(commands.filter((one) => one === 'Page.screencastFrameAck').length, 3);
  assert.deepEqual(pictures, ['9 a']);
  t.mock.timers.tick(250);
  assert.deepEqual(pictures, ['9 a', '9 c']);
  t.mock.timers.tick(1000);
  assert.deepEqual(pictures, ['9 a', '9 c']);
});

test('a picture is captured while a screencast of its own keeps the page painting', async (t) => {
  const { casts, commands, pictures } = begin(t);
  const capture = () => {
    commands.push('capture');
    framed(casts, 'small');
    return Promise.resolve('picture');
  };
  assert.equal(await casts.painting(1, capture), 'picture');
  assert.deepEqual(commands, [
    'Page.startScreencast',
    'capture',
    'Page.screencastFrameAck',
    'Page.stopScreencast',
  ]);
  assert.deepEqual(pictures, []);
});

test('no picture leaves of a page that may not be seen, nor one that comes late', async (t) => {
  const { casts, page, pictures, screen } = begin(t);
  casts.start('p', 9, 1, options, screen);
  await turn();
  framed(casts, 'seen');
  framed(casts, 'waits');
  page.isSeen = false;
  framed(casts, 'elsewhere');
  t.mock.timers.tick(1000);
  assert.deepEqual(pictures, ['9 seen']);
  casts.paused(1);
  page.isSeen = true;
  framed(casts, 'late');
  t.mock.timers.tick(1000);
  assert.deepEqual(pictures, ['9 seen']);
  await casts.resume(1);
  t.mock.timers.tick(1000);
  assert.deepEqual(pictures, ['9 seen']);
  framed(casts, 'back');
  assert.deepEqual(pictures, ['9 seen', '9 back']);
});

test('what waited to be sent is not sent once the tab has another id', async (t) => {
  const { casts, pictures, screen } = begin(t);
  casts.start('p', 9, 1, options, screen);
  await turn();
  framed(casts, 'seen');
  framed(casts, 'waits');
  casts.move(1, 2);
  await turn();
  t.mock.timers.tick(1000);
  assert.deepEqual(pictures, ['9 seen']);
});

test('a page that is kept painting has one small screencast until it is free, whatever is captured or watched meanwhile', async (t) => {
  const { casts, commands, pictures, screen } = begin(t);
  casts.keep(1);
  framed(casts, 'small');
  await casts.painting(1, () => Promise.resolve('picture'));
  casts.start('p', 9, 1, options, screen);
  await turn();
  casts.stop('p', 9);
  assert.deepEqual(commands, [
    'Page.startScreencast',
    'Page.screencastFrameAck',
    'Page.stopScreencast',
    'Page.startScreencast',
    'Page.startScreencast',
  ]);
  assert.deepEqual(pictures, []);
  casts.free(1);
  casts.free(1);
  assert.deepEqual(commands.slice(5), ['Page.stopScreencast']);
});

test('a page that is watched when it is free goes on casting', async (t) => {
  const { casts, commands, screen } = begin(t);
  casts.keep(1);
  casts.start('p', 9, 1, options, screen);
  await turn();
  casts.free(1);
  assert.deepEqual(commands, [
    'Page.startScreencast',
    'Page.stopScreencast',
    'Page.startScreencast',
  ]);
  casts.stop('p', 9);
  assert.deepEqual(commands.slice(3), ['Page.stopScreencast']);
});

test('a picture of a tab that is cast leaves the cast alone', async (t) => {
  const { casts, commands, screen } = begin(t);
  casts.start('p', 9, 1, options, screen);
  await turn();
  await assert.rejects(casts.painting(1, () => Promise.reject(new Error('no picture'))));
  assert.deepEqual(commands, ['Page.startScreencast']);
});

test('a connection that does not keep up gets no picture meanwhile', async (t) => {
  const { casts, pictures, screen } = begin(t);
  casts.start('p', 9, 1, options, screen);
  await turn();
  screen.backlog = (1 << 20) + 1;
  framed(casts, 'a');
  assert.deepEqual(pictures, []);
  screen.backlog = 0;
  framed(casts, 'b');
  assert.deepEqual(pictures, ['9 b']);
});

test('two who watch a tab share one screencast, which the last one ends', async (t) => {
  const { casts, commands, users, screen } = begin(t);
  casts.start('p', 1, 1, options, screen);
  casts.start('p', 2, 1, options, screen);
  await turn();
  casts.stop('p', 1);
  assert.deepEqual(commands, ['Page.startScreencast']);
  casts.stop('p', 2);
  assert.deepEqual(commands, ['Page.startScreencast', 'Page.stopScreencast']);
  assert.equal(users.now, 0);
});

test('a tab that sleeps is cast again once it wakes', async (t) => {
  const { casts, commands, users, screen } = begin(t);
  users.refuse = true;
  casts.start('p', 9, 1, options, screen);
  await turn();
  assert.equal(casts.isCast(1), false);
  users.refuse = false;
  await casts.resume(1);
  assert.deepEqual(commands, ['Page.startScreencast']);
  assert.equal(casts.isCast(1), true);
});

test('a cast that is cancelled before it began leaves the next one free to begin', async (t) => {
  const { casts, commands, pictures, screen, users } = begin(t);
  casts.start('p', 1, 1, options, screen);
  casts.stop('p', 1);
  await turn();
  assert.equal(casts.isCast(1), false);
  assert.equal(users.now, 0);
  casts.start('p', 2, 1, options, screen);
  await turn();
  assert.equal(commands.at(-1), 'Page.startScreencast');
  framed(casts, 'a');
  assert.deepEqual(pictures, ['2 a']);
  casts.stop('p', 2);
  assert.equal(users.now, 0);
});

test('a cast that takes the place of one cancelled meanwhile runs once', async (t) => {
  const { casts, commands, screen, users } = begin(t);
  casts.start('p', 1, 1, options, screen);
  casts.stop('p', 1);
  casts.start('p', 2, 1, options, screen);
  await turn();
  assert.equal(commands.filter((one) => one === 'Page.startScreencast').length, 1);
  assert.equal(users.now, 1);
});
