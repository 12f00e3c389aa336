import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { begin, contextOf } from './raw_world.ts';

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

test('a frame that goes where clients may not be tells nothing more', async () => {
  const { raw, world, said } = await begin();
  const targetInfo = { targetId: 'F1', type: 'iframe', url: 'http://b/' };
  const attached = { sessionId: 'C', targetInfo, waitingForDebugger: false };
  world.children.apply('', 'Target.attachedToTarget', attached);
  raw.event(1, '', 'Target.attachedToTarget', attached);
  const line = () => raw.event(1, 'C', 'Log.entryAdded', { entry: { text: 'a line' } });
  const told = () => said.filter(({ t }) => t === 'event').length;
  const before = told();
  line();
  assert.equal(told(), before + 1);
  const frame = { id: 'F1', url: 'http://localhost:7788/' };
  world.children.apply('C', 'Page.frameNavigated', { frame });
  line();
  assert.equal(told(), before + 1);
});
