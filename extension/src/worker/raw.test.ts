import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Book } from './book.ts';
import { Children } from './children.ts';
import type { Level } from './grants.ts';
import type { Order } from './holds.ts';
import type { House } from './house.ts';
import { Raw } from './raw.ts';
import type { Answered, Seats } from './seats.ts';
import { type Header, Refusal } from './wire.ts';

type Sent = { child: string; method: string; params: object; done: Answered };

type SeatCommand = [child: string | undefined, method: string, params: object, done: Answered];

type World = {
  now: number;
  level: Level;
  seen: boolean;
  mayOpen: boolean;
  stays?: string;
  left: string[];
  children: Children;
};

function newWorld(level: Level): World {
  const children = new Children();
  return { now: 0, level, seen: true, mayOpen: true, left: [], children };
}

/** A context of the page as Chrome tells of it. */
function contextOf(id: number, more: object = {}): object {
  const auxData = { isDefault: true, frameId: 'T1' };
  return { context: { id, uniqueId: `U${id}`, origin: 'http://a', name: '', auxData, ...more } };
}

/** A raw road to tab 1, held as t1 for session s; Chrome answers what a test lets it. */
async function begin(level: Level = 'act') {
  const world = newWorld(level);
  const sent: Sent[] = [];
  const said: (Header & { body?: string })[] = [];
  const line = {
    backlog: 0,
    send: (header: Header, body?: string) =>
      said.push(body === undefined ? header : { ...header, body }),
  };
  const standing = () => ({
    grant: { tab: 1, name: 't1', session: 's', stays: world.stays },
    level: world.level,
  });
  const isOwn = (url: string) => url.includes(':7788');
  const seats = {
    takeFresh: () => Promise.resolve(() => undefined),
    children: () => world.children,
    isCrashed: () => false,
    spoil: () => undefined,
    command: (_: number, ...[child, method, params, done]: SeatCommand) => {
      sent.push({ child: child ?? '', method, params, done });
      if (method === 'Fetch.enable' || method === 'Page.getNavigationHistory') done({});
    },
    release: (tab: number) => world.left.push(`release ${tab}`),
  };
  const raw = new Raw({
    book: {
      ownHosts: ['localhost:7788'],
      ofName: standing,
      ofTab: standing,
      pairing: () => ({ mayOpen: world.mayOpen }),
      isAway: (_: object, url: string) => isOwn(url),
      isOwn,
      problemAt: (_: object, url: string) => (isOwn(url) ? 'not here' : undefined),
    } as unknown as Book,
    house: {
      claim: standing,
      usable: standing,
      prepare: () => Promise.resolve(),
      raise: () => Promise.resolve(() => undefined),
    } as unknown as House,
    seats: seats as unknown as Seats,
    sight: { at: () => Promise.resolve('http://a/'), frames: () => Promise.resolve([]) },
    leaving: (_, url) => world.left.push(url),
    targetOf: () => Promise.resolve('T1'),
    gate: () => {
      if (!world.seen) throw new Refusal('tab_suspended', 'not to be seen');
    },
    painting: (_, capture) => capture(),
    keep: () => undefined,
    free: () => undefined,
    stop: () => undefined,
    ask: () => Promise.resolve(),
    nowMS: () => world.now,
  });
  await raw.hold({ key: 'k', session: 's', line, id: 1, tab: 't1' });
  raw.event(1, '', 'Runtime.executionContextCreated', contextOf(1));
  sent.length = 0;
  said.length = 0;
  const command = (method: string, params: object = {}, more: Partial<Order> = {}) =>
    raw.command({
      key: 'k',
      line,
      id: 2,
      session: 's',
      tab: 't1',
      method,
      body: JSON.stringify(params),
      ...more,
    });
  return { raw, world, sent, said, command };
}

test('what Chrome answers goes back, without what must not leave', async () => {
  const { sent, said, command } = await begin();
  command('Page.getLayoutMetrics');
  sent[0]?.done({ width: 1, headers: { Cookie: 'secret', Accept: 'all' } });
  assert.deepEqual(said, [{ t: 'reply', id: 2, body: '{"width":1,"headers":{"Accept":"all"}}' }]);
});

test('what Chrome refuses goes back as it says it', async () => {
  const { sent, said, command } = await begin();
  command('Page.getLayoutMetrics');
  sent[0]?.done(undefined, '{"code":-32000,"message":"Not now"}');
  assert.deepEqual(said, [{ t: 'reply', id: 2, error: { code: -32_000, message: 'Not now' } }]);
});

test('what a page answers that may not be seen any more stays here', async () => {
  const { world, sent, said, command } = await begin();
  command('Page.getLayoutMetrics');
  world.seen = false;
  sent[0]?.done({ secret: 1 });
  const message = 'not to be seen';
  assert.deepEqual(said, [{ t: 'error', id: 2, code: 'tab_suspended', message }]);
});

test('an answer that comes twice, or after the tab slept, goes nowhere', async () => {
  const { raw, sent, said, command } = await begin();
  command('Page.getLayoutMetrics');
  raw.sleep(1, 'away');
  said.length = 0;
  sent[0]?.done({});
  assert.deepEqual(
    said.filter(({ t }) => t === 'reply'),
    [],
  );
});

test('32 clients have 1024 commands each under way, and no more', async () => {
  const { raw, sent, said, command } = await begin();
  const most = 32 * 1024;
  for (let id = 2; id < most + 2; id += 1) command('Page.getLayoutMetrics', {}, { id });
  assert.equal(sent.length, most);
  assert.throws(() => command('Page.getLayoutMetrics', {}, { id: 1 }), { code: 'bad_request' });
  sent[0]?.done({});
  command('Page.getLayoutMetrics', {}, { id: 1 });
  raw.dropAll('k');
  assert.equal(said.length, most + 1);
});

test('beyond the level nothing goes to Chrome', async () => {
  const { sent, command } = await begin('read');
  assert.throws(() => command('Runtime.evaluate', { expression: '1' }), { code: 'forbidden' });
  await turn();
  assert.deepEqual(sent, []);
});

test('a level that falls while a command waits for the wall counts', async () => {
  const { world, sent, said, command } = await begin('read');
  command('Page.getLayoutMetrics');
  await turn();
  assert.equal(sent.length, 1);
  world.level = 'act';
  command('Runtime.evaluate', { expression: '1' }, { id: 3 });
  assert.equal(sent.length, 2);
  world.level = 'read';
  command('Page.getLayoutMetrics', {}, { id: 4 });
  world.seen = false;
  await turn();
  assert.equal(sent.length, 3);
  assert.equal(said.length, 0);
});

test('a key’s native code is not sent on', async () => {
  const { sent, command } = await begin();
  command('Input.dispatchKeyEvent', { type: 'keyDown', key: 't', nativeVirtualKeyCode: 84 });
  assert.deepEqual(sent[0]?.params, { type: 'keyDown', key: 't' });
});

test('a node goes to Chrome as an object of the page, and is given back', async () => {
  const { sent, said, command } = await begin();
  command('DOM.getOuterHTML', { backendNodeId: 5 });
  assert.equal(sent[0]?.method, 'DOM.resolveNode');
  sent[0]?.done({ object: { objectId: 'O' } });
  assert.deepEqual(
    sent.slice(1).map(({ method, params }) => ({ method, params })),
    [
      { method: 'DOM.getOuterHTML', params: { objectId: 'O' } },
      { method: 'Runtime.releaseObject', params: { objectId: 'O' } },
    ],
  );
  sent[1]?.done({ outerHTML: '<p>' });
  assert.deepEqual(said, [{ t: 'reply', id: 2, body: '{"outerHTML":"<p>"}' }]);
});

test('a node of another page is none', async () => {
  for (const method of ['DOM.getOuterHTML', 'DOM.resolveNode']) {
    const { sent, said, command } = await begin();
    const context = method === 'DOM.resolveNode' ? { executionContextId: 1 } : {};
    command(method, { backendNodeId: 5, ...context });
    assert.deepEqual(sent[0]?.params, { backendNodeId: 5, objectGroup: 'chaperone' });
    sent[0]?.done(undefined, '{"code":-32000,"message":"does not belong"}');
    assert.equal(sent.length, 1);
    assert.deepEqual(said, [
      { t: 'reply', id: 2, error: { code: -32_000, message: 'does not belong' } },
    ]);
  }
});

test('what the worker needs in a tab stays on', async () => {
  const { sent, said, command } = await begin();
  command('Page.disable');
  command('Emulation.setFocusEmulationEnabled', { enabled: false }, { id: 3 });
  assert.deepEqual(sent, []);
  assert.deepEqual(said, [
    { t: 'reply', id: 2, body: '{}' },
    { t: 'reply', id: 3, body: '{}' },
  ]);
});

test('a debugger pauses no page', async () => {
  const { sent, command } = await begin();
  command('Debugger.enable');
  assert.deepEqual(
    sent.map(({ method }) => method),
    ['Debugger.enable', 'Debugger.setSkipAllPauses'],
  );
});

test('only scripts that clients added are removed', async () => {
  const { sent, command } = await begin();
  const remove = (identifier: string, id: number) =>
    command('Page.removeScriptToEvaluateOnNewDocument', { identifier }, { id });
  assert.throws(() => remove('1', 3), { code: 'forbidden' });
  command('Page.addScriptToEvaluateOnNewDocument', { source: '1' });
  sent[0]?.done({ identifier: '2' });
  assert.throws(() => remove('1', 4), { code: 'forbidden' });
  remove('2', 5);
  assert.equal(sent.length, 2);
});

test('a window is a session’s until five seconds after what its clients did', async () => {
  const { raw, world, sent, command } = await begin();
  assert.equal(raw.sessionIn(1), undefined);
  command('Runtime.evaluate', { expression: 'open()' });
  world.now = 60_000;
  assert.equal(raw.sessionIn(1), 's', 'it is under way');
  sent[0]?.done({});
  world.now = 64_999;
  assert.equal(raw.sessionIn(1), 's');
  world.now = 65_000;
  assert.equal(raw.sessionIn(1), undefined);
  command('Page.getLayoutMetrics');
  assert.equal(raw.sessionIn(1), undefined, 'looking opens nothing');
});

test('a window is the person’s after what gives the page neither input nor script', async () => {
  const { raw, command } = await begin();
  command('Runtime.runIfWaitingForDebugger', {}, { id: 10 });
  command('Page.reload', {}, { id: 11 });
  command('Page.navigate', { url: 'http://a/' }, { id: 12 });
  command('Input.dispatchMouseEvent', { type: 'mouseMoved', x: 1, y: 1 }, { id: 13 });
  command('Input.dispatchMouseEvent', { type: 'mouseWheel', x: 1, y: 1, deltaY: 9 }, { id: 14 });
  command('Emulation.setEmulatedVisionDeficiency', { type: 'drop' }, { id: 15 });
  assert.equal(raw.sessionIn(1), undefined);
  command('Input.dispatchMouseEvent', { type: 'mousePressed', x: 1, y: 1 }, { id: 16 });
  assert.equal(raw.sessionIn(1), 's');
});

test('where agents may not open tabs, a window is a session’s a second after what its clients did', async () => {
  const { raw, world, command } = await begin();
  world.mayOpen = false;
  command('Runtime.evaluate', { expression: 'open()' });
  world.now = 999;
  assert.equal(raw.sessionIn(1), 's');
  world.now = 1000;
  assert.equal(raw.sessionIn(1), undefined, 'also while it is under way');
});

test('nobody is told of the page script’s contexts, nor of Chaperone’s own pages', async () => {
  const { raw, world, sent, said } = await begin();
  raw.event(1, '', 'Runtime.executionContextCreated', { context: { id: 1, name: 'chaperone' } });
  const own = {
    sessionId: 'C',
    waitingForDebugger: true,
    targetInfo: { targetId: 'F', type: 'iframe', url: 'http://127.0.0.1:7788/' },
  };
  world.children.apply('', 'Target.attachedToTarget', own);
  raw.event(1, '', 'Target.attachedToTarget', own);
  raw.event(1, 'C', 'Page.frameNavigated', { frame: { id: 'F' } });
  assert.deepEqual(said, []);
  assert.deepEqual(
    sent.map(({ child, method }) => `${child} ${method}`),
    ['C Page.enable', 'C Fetch.enable', 'C Page.getFrameTree', 'C Runtime.runIfWaitingForDebugger'],
  );
});

test('a document waits until it is known to be one that clients may be in', async () => {
  const { raw, world, sent } = await begin();
  const wait = (frameId: string, url: string, child = '') =>
    raw.event(1, child, 'Fetch.requestPaused', { requestId: 'R', frameId, request: { url } });
  wait('T1', 'http://a/next');
  wait('F1', 'http://b/frame');
  wait('F1', 'http://localhost:7788/', 'C1');
  assert.deepEqual(
    sent.map(({ child, method, params }) => [child, method, params]),
    [
      ['', 'Fetch.continueRequest', { requestId: 'R' }],
      ['', 'Fetch.continueRequest', { requestId: 'R' }],
      ['C1', 'Fetch.failRequest', { requestId: 'R', errorReason: 'BlockedByClient' }],
    ],
  );
  sent.length = 0;
  wait('T1', 'http://localhost:7788/');
  assert.deepEqual([sent, world.left], [[], ['http://localhost:7788/']]);
});

test('a tab is let go when it goes where no document waits', async () => {
  const { raw, world } = await begin();
  for (const [frameId, url] of [
    ['F1', 'http://localhost:7788/frame'],
    ['T1', 'mailto:a@localhost:7788'],
    ['T1', 'http://a/'],
    ['T1', 'http://localhost:7788/'],
  ]) {
    raw.event(1, '', 'Page.frameStartedNavigating', { frameId, url });
  }
  assert.deepEqual(world.left, ['http://localhost:7788/']);
});

test('a frame of the server itself that is there all the same ends the work in the tab', async () => {
  const { raw, world, said } = await begin();
  const frame = { id: 'F1', parentId: 'T1', url: 'http://localhost:7788/' };
  raw.event(1, '', 'Page.frameNavigated', { frame });
  assert.deepEqual([world.left, said[0]?.t], [['release 1'], 'asleep']);
});

test('a pause is over before anybody is told of it', async () => {
  const { raw, sent, said } = await begin();
  raw.event(1, 'C1', 'Debugger.paused', {});
  raw.event(1, 'C1', 'Debugger.resumed', {});
  assert.deepEqual([sent[0]?.child, sent[0]?.method, said], ['C1', 'Debugger.resume', []]);
});

test('script that names no context goes to the next document’s when its own has gone; named, it is refused', async () => {
  const { raw, sent, said, command } = await begin();
  const lost = '{"code":-32602,"message":"uniqueContextId not found"}';
  command('Runtime.evaluate', { expression: '1' }, { id: 2 });
  command('Runtime.evaluate', { expression: '2', contextId: 1 }, { id: 3 });
  assert.deepEqual(sent[1]?.params, { expression: '2', uniqueContextId: 'U1' });
  for (const { done } of [...sent]) done(undefined, lost);
  const error = { code: -32_000, message: 'Cannot find context with specified id' };
  assert.deepEqual(said, [{ t: 'reply', id: 3, error }]);
  command('Page.getLayoutMetrics', {}, { id: 4 });
  assert.equal(sent.length, 3, 'others pass what waits');
  raw.event(1, '', 'Runtime.executionContextsCleared', {});
  raw.event(1, '', 'Runtime.executionContextCreated', contextOf(2));
  assert.deepEqual(sent[3]?.params, { expression: '1', uniqueContextId: 'U2' });
});

test('what is dragged is told, but not in a tab that stays on its site, where it can be of another', async () => {
  const { raw, world, said } = await begin();
  const drag = { data: { items: [{ mimeType: 'text/plain', data: 'private' }], files: ['/a'] } };
  raw.event(1, '', 'Input.dragIntercepted', drag);
  assert.equal(said.at(-1)?.body, JSON.stringify(drag));
  world.stays = 'a';
  raw.event(1, '', 'Input.dragIntercepted', drag);
  assert.equal(said.at(-1)?.body, '{"data":{"items":[],"files":[]}}');
});

test('where a page went when its tab fell asleep holds nothing up once it is attached anew', async () => {
  const { raw, sent, said, command } = await begin();
  raw.sleep(1, 'away');
  const navigationType = 'differentDocument';
  const started = { frameId: 'T1', url: 'file:///etc/', navigationType };
  raw.event(1, '', 'Page.frameStartedNavigating', started);
  while (said.at(-1)?.t !== 'held') await turn();
  sent.length = 0;
  command('Page.captureScreenshot');
  assert.equal(sent.at(-1)?.method, 'Page.captureScreenshot');
});

test('what acts on a page waits while the page goes where nobody has judged yet, five seconds at most', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { raw, sent, said, command } = await begin();
  const start = (navigationType: string) =>
    raw.event(1, '', 'Page.frameStartedNavigating', {
      frameId: 'T1',
      url: 'http://a/',
      navigationType,
    });
  const input = (id: number) => command('Input.insertText', { text: 'a' }, { id });
  start('sameDocument');
  input(10);
  assert.equal(sent.length, 1);
  start('differentDocument');
  input(11);
  raw.event(1, '', 'Page.lifecycleEvent', {});
  assert.equal(sent.length, 1);
  raw.event(1, '', 'Page.frameNavigated', { frame: { id: 'T1', url: 'http://a/' } });
  assert.equal(sent.length, 2);
  start('differentDocument');
  input(12);
  t.mock.timers.tick(4999);
  assert.equal(said.filter(({ t }) => t === 'error').length, 0);
  t.mock.timers.tick(1);
  assert.deepEqual(said.at(-1), {
    t: 'error',
    id: 12,
    code: 'tab_suspended',
    message: 'The tab is on its way to another page.',
  });
});
