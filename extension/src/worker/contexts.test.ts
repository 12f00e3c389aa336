import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bind, isActing } from './binding.ts';
import { Contexts, type News, type Reach } from './contexts.ts';

/** A page whose main frame is M; the grant covers what is not on bank.test. Session W is a worker's. */
const reach: Reach = {
  covers: (url) => !url.includes('bank.test'),
  frameOf: (session) => (session === 'W' ? '' : 'M'),
};

function begin() {
  const contexts = new Contexts();
  const hear = (method: string, params: object, session = '') =>
    contexts.hear(session, { method, params: { ...params } }, reach).map(said);
  const created = (id: number, origin: string, more: object = {}) => {
    const auxData = { isDefault: true, frameId: 'M' };
    const context = { id, uniqueId: `U${id}`, origin, name: '', auxData, ...more };
    return hear('Runtime.executionContextCreated', { context });
  };
  const navigated = (id: string, url: string, more: object = {}) =>
    hear('Page.frameNavigated', { frame: { id, url, ...more } });
  const place = { contexts, session: '', reach };
  const evaluate = (params: object = {}) => bind(place, 'Runtime.evaluate', params);
  return { contexts, hear, created, navigated, place, evaluate };
}

/** A word and a number say what is told. */
function said({ method, params }: News): string {
  const { context } = params as { context?: { id: number } };
  return `${method.split('.')[1]} ${context?.id ?? ''}`.trim();
}

const inFrame = (frameId: string) => ({ auxData: { isDefault: true, frameId } });
const gone = { code: -32_000, message: 'Cannot find context with specified id' };

test('script goes to the context that it is meant for, by a name that no other ever has', () => {
  const { created, evaluate } = begin();
  assert.deepEqual(evaluate({ expression: '1' }), { is: 'early' });
  created(3, 'https://shop.test');
  const bound = (params: object) => ({ is: 'bound', params, unique: 'U3' });
  assert.deepEqual(
    evaluate({ expression: '1' }),
    bound({ expression: '1', uniqueContextId: 'U3' }),
  );
  assert.deepEqual(evaluate({ contextId: 3 }), bound({ uniqueContextId: 'U3' }));
  assert.deepEqual(evaluate({ uniqueContextId: 'U3' }), bound({ uniqueContextId: 'U3' }));
});

test('nobody reaches a context that is unknown, the page script’s, gone, or of a page that the grant does not cover', () => {
  const { created, hear, evaluate, place } = begin();
  created(1, 'https://shop.test', { name: 'chaperone F' });
  created(2, 'https://bank.test', inFrame('F'));
  created(4, 'https://shop.test');
  hear('Runtime.executionContextDestroyed', { executionContextId: 4 });
  for (const contextId of [1, 2, 4, 5]) {
    assert.deepEqual(evaluate({ contextId }), { is: 'refused', error: gone });
    const asked = { executionContextId: contextId };
    for (const method of ['Runtime.callFunctionOn', 'DOM.resolveNode', 'Runtime.compileScript']) {
      assert.deepEqual(bind(place, method, asked), { is: 'refused', error: gone }, method);
    }
  }
  for (const uniqueContextId of ['U1', 'U2', 'U4', 'U5']) {
    assert.deepEqual(evaluate({ uniqueContextId }), { is: 'refused', error: gone });
  }
});

test('objects of the page script are nobody’s', () => {
  const { created, place } = begin();
  created(7, 'https://shop.test', { name: 'chaperone' });
  created(8, 'https://shop.test');
  const error = { code: -32_000, message: 'Could not find object with given id' };
  for (const params of [
    { objectId: '-5.7.1' },
    { objectId: '-5.8.1', arguments: [{ value: 1 }, { objectId: '-5.7.1' }] },
    { promiseObjectId: '-5.7.1' },
  ]) {
    assert.deepEqual(bind(place, 'Runtime.callFunctionOn', params), { is: 'refused', error });
  }
  const theirs = { objectId: '-5.8.1' };
  assert.deepEqual(bind(place, 'Runtime.callFunctionOn', theirs), { is: 'bound', params: theirs });
});

test('a context that has gone before its script came is not waited for again', () => {
  const { created, place } = begin();
  created(1, 'https://shop.test');
  assert.deepEqual(bind(place, 'Runtime.evaluate', {}, 'U1'), { is: 'early' });
  created(2, 'https://shop.test', inFrame('F'));
  assert.deepEqual(bind(place, 'Runtime.evaluate', {}, 'U1'), { is: 'early' });
});

test('a document whose origin says nothing is judged by its address, or by whose it is', () => {
  const { hear, created, navigated, evaluate } = begin();
  const opaque = (id: number, frame: string) => created(id, '://', inFrame(frame));
  const isReached = (contextId: number) => evaluate({ contextId }).is === 'bound';
  navigated('M', 'https://shop.test/');
  hear('Page.frameAttached', { frameId: 'B', parentFrameId: 'M' });
  navigated('B', 'https://bank.test/', { parentId: 'M' });
  navigated('S', 'about:srcdoc', { parentId: 'M' });
  navigated('T', 'about:srcdoc', { parentId: 'B' });
  navigated('D', 'data:text/html,x', { parentId: 'S' });
  navigated('E', 'chrome-error://chromewebdata/', {
    parentId: 'M',
    unreachableUrl: 'https://shop.test/gone',
  });
  navigated('X', 'chrome-error://chromewebdata/', { parentId: 'M' });
  const frames = ['M', 'B', 'S', 'T', 'D', 'E', 'X', 'nowhere'];
  for (const [n, frame] of frames.entries()) opaque(n + 1, frame);
  assert.deepEqual(
    frames.filter((_, n) => isReached(n + 1)),
    ['M', 'S', 'D', 'E'],
  );
});

test('a page that comes back from where it was kept is judged anew', () => {
  const { contexts, hear, created, navigated, evaluate } = begin();
  navigated('M', 'https://shop.test/');
  contexts.ask('', reach);
  hear('Runtime.executionContextsCleared', {});
  assert.deepEqual(created(2, '://'), [], 'its address is not told yet');
  assert.equal(evaluate().is, 'early');
  assert.deepEqual(navigated('M', 'https://bank.test/'), ['frameNavigated']);
  assert.equal(evaluate().is, 'early');
  hear('Runtime.executionContextsCleared', {});
  created(3, '://');
  assert.deepEqual(navigated('M', 'https://shop.test/'), [
    'frameNavigated',
    'executionContextCreated 3',
  ]);
  assert.equal(evaluate().is, 'bound');
});

test('contexts and the console are told of from when a client asks, what was there first', () => {
  const { contexts, hear, created } = begin();
  const log = { type: 'log', executionContextId: 1 };
  assert.deepEqual(created(1, 'https://shop.test'), []);
  created(2, 'https://bank.test', inFrame('F'));
  assert.deepEqual(hear('Runtime.consoleAPICalled', log), []);
  hear('Runtime.consoleAPICalled', { ...log, executionContextId: 2 });
  assert.deepEqual(contexts.ask('', reach).map(said), [
    'executionContextCreated 1',
    'consoleAPICalled',
  ]);
  assert.deepEqual(contexts.ask('', reach), []);
  assert.deepEqual(hear('Runtime.consoleAPICalled', log), ['consoleAPICalled']);
  assert.deepEqual(hear('Runtime.consoleAPICalled', { ...log, executionContextId: 2 }), []);
  assert.deepEqual(hear('Runtime.bindingCalled', { executionContextId: 2 }), []);
  const away = { exceptionDetails: { executionContextId: 2 } };
  assert.deepEqual(hear('Runtime.exceptionThrown', away), []);
  assert.deepEqual(hear('Runtime.executionContextDestroyed', { executionContextId: 2 }), []);
  assert.deepEqual(hear('Runtime.executionContextDestroyed', { executionContextId: 1 }), [
    'executionContextDestroyed',
  ]);
  contexts.unask('');
  assert.deepEqual(hear('Runtime.executionContextsCleared', {}), []);
});

test('a worker’s context is its own', () => {
  const { contexts, hear } = begin();
  const context = { id: 1, uniqueId: 'U', origin: 'https://shop.test/w.js', name: '' };
  hear('Runtime.executionContextCreated', { context }, 'W');
  assert.equal(contexts.main('W', reach)?.unique, 'U');
  hear('Target.detachedFromTarget', { sessionId: 'W' });
  assert.equal(contexts.main('W', reach), undefined);
});

test('what acts on whatever page is there is known', () => {
  for (const method of [
    'Input.dispatchKeyEvent',
    'Input.insertText',
    'DOM.setOuterHTML',
    'DOM.removeNode',
    'CSS.setStyleTexts',
    'WebMCP.invokeTool',
  ]) {
    assert.equal(isActing(method), true, method);
  }
  for (const method of [
    'Runtime.evaluate',
    'Page.navigate',
    'Page.reload',
    'DOM.getDocument',
    'Page.handleJavaScriptDialog',
  ]) {
    assert.equal(isActing(method), false, method);
  }
});
