import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { begin, contextOf } from './raw_world.ts';

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
  sent[0]?.done({ object: { objectId: '9.1.5' } });
  assert.deepEqual(
    sent.slice(1).map(({ method, params }) => ({ method, params })),
    [
      { method: 'DOM.getOuterHTML', params: { objectId: '9.1.5' } },
      { method: 'Runtime.releaseObject', params: { objectId: '9.1.5' } },
    ],
  );
  sent[1]?.done({ outerHTML: '<p>' });
  assert.deepEqual(said, [{ t: 'reply', id: 2, body: '{"outerHTML":"<p>"}' }]);
});

test('a node of a frame that clients may not be in is none', async () => {
  const { raw, sent, said, command } = await begin();
  const elsewhere = { origin: 'http://localhost:7788' };
  raw.event(1, '', 'Runtime.executionContextCreated', contextOf(3, elsewhere));
  for (const method of ['DOM.getOuterHTML', 'Accessibility.getPartialAXTree', 'DOM.resolveNode']) {
    sent.length = 0;
    const context = method === 'DOM.resolveNode' ? { executionContextId: 1 } : {};
    command(method, { backendNodeId: 5, ...context });
    sent[0]?.done({ object: { objectId: '9.3.5' } });
    assert.deepEqual(
      sent.slice(1).map(({ method }) => method),
      ['Runtime.releaseObject'],
    );
    const error = { code: -32_000, message: 'Could not find object with given id' };
    assert.deepEqual(said.pop(), { t: 'reply', id: 2, error });
  }
});

test('a frame that clients may not be in, or that nobody knows, is not read by its name', async () => {
  const { raw, world, sent, said, command } = await begin();
  world.stays = 'a';
  raw.event(1, '', 'Page.frameAttached', { frameId: 'F1', parentFrameId: 'T1' });
  const read = (frameId: string) => command('Accessibility.getFullAXTree', { frameId });
  const refused = { code: 'forbidden', message: 'This frame is not for agents.' };
  read('F1');
  const frame = { id: 'F1', parentId: 'T1', url: 'http://b/' };
  raw.event(1, '', 'Page.frameNavigated', { frame });
  sent[0]?.done({ nodes: [] });
  assert.deepEqual(said.at(-1), { t: 'error', id: 2, ...refused }, 'it went while it was read');
  raw.event(1, '', 'Page.frameAttached', { frameId: 'F2', parentFrameId: 'F1' });
  for (const away of ['F1', 'F2', 'F9']) assert.throws(() => read(away), refused, away);
  command('DOM.getFrameOwner', { frameId: 'F1' });
  assert.equal(sent.at(-1)?.method, 'DOM.getFrameOwner');
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

test('objects of the page script are none, however their names are written', async () => {
  const { raw, sent, said, command } = await begin();
  raw.event(1, '', 'Runtime.executionContextCreated', contextOf(2, { name: 'chaperone' }));
  const elsewhere = { origin: 'http://localhost:7788' };
  raw.event(1, '', 'Runtime.executionContextCreated', contextOf(3, elsewhere));
  for (const objectId of [
    '9.2.1',
    '9.2\u0000.1',
    '9.2\u0000x.1',
    '9.+2.1',
    '9. 2.1',
    '9.3.1',
    '9.4.1',
    '9',
  ]) {
    sent.length = 0;
    command('Runtime.callFunctionOn', { objectId, functionDeclaration: 'f' });
    assert.match(JSON.stringify(said.at(-1)), /Could not find object with given id/, objectId);
    assert.equal(sent.length, 0);
  }
  command('Runtime.callFunctionOn', { objectId: '9.1.1', functionDeclaration: 'f' });
  assert.equal(sent.length, 1);
});

test('the source of a script that comes to be hidden while it is asked for stays here', async () => {
  const { raw, sent, said, command } = await begin();
  command('Debugger.getScriptSource', { scriptId: '7' });
  const loaded = { scriptId: '7', url: 'http://b/', startLine: 0, startColumn: 0 };
  raw.event(1, '', 'Debugger.scriptParsed', loaded);
  sent[0]?.done({ scriptSource: '4711' });
  assert.match(JSON.stringify(said.at(-1)), /"code":"forbidden"/);
  assert.doesNotMatch(JSON.stringify(said), /4711/);
});
