import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Hold } from './holds.ts';
import { fields } from './parse.ts';
import { Root } from './root.ts';

type Page = { root: string; below: string[]; isHung: boolean };

/** A held tab whose page has a frame F1 below its own. */
async function begin(t: TestContext, more: Partial<Page> = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const page: Page = { root: 'T1', below: ['F1'], isHung: false, ...more };
  const did: string[] = [];
  const root = new Root({
    frameTree: () => {
      did.push('ask');
      if (page.isHung) return new Promise(() => undefined);
      const childFrames = page.below.map((id) => ({ frame: { id, parentId: page.root } }));
      return Promise.resolve(fields({ frame: { id: page.root }, childFrames }));
    },
    replaced: () => did.push('replaced'),
  });
  const hold = { target: 'T1', frame: '', state: 'coming' } as Hold;
  root.begin(hold);
  const learnt = root.learn(hold);
  await turn();
  t.mock.timers.tick(500);
  await learnt;
  hold.state = 'held';
  did.length = 0;
  return { root, page, hold, did };
}

test('the page’s own frame is the one that it tells of, or the target where it tells nothing', async (t) => {
  assert.equal((await begin(t)).hold.frame, 'T1');
  t.mock.timers.reset();
  assert.equal((await begin(t, { root: 'P1' })).hold.frame, 'P1');
  t.mock.timers.reset();
  assert.equal((await begin(t, { root: 'P1', isHung: true })).hold.frame, 'T1');
});

test('whose a frame is is known at once, or asked for', async (t) => {
  const { root, page, hold, did } = await begin(t);
  const placed: [string, boolean][] = [];
  const place = (frame: string) =>
    root.whenPlaced(hold, frame, (isOwn) => placed.push([frame, isOwn]));
  for (const frame of ['T1', 'F1', '']) place(frame);
  root.event(hold, 'Page.frameAttached', { frameId: 'F2', parentFrameId: 'T1' });
  place('F2');
  assert.deepEqual(did, []);
  page.below.push('F3');
  place('F3');
  place('F4');
  await turn();
  assert.deepEqual(did, ['ask']);
  assert.deepEqual(placed, [
    ['T1', true],
    ['F1', false],
    ['', false],
    ['F2', false],
    ['F3', false],
    ['F4', false], // it has gone since
  ]);
});

test('a frame of a page that does not answer is taken for its own after two seconds', async (t) => {
  const { root, page, hold } = await begin(t);
  page.isHung = true;
  const placed: boolean[] = [];
  root.whenPlaced(hold, 'F9', (isOwn) => placed.push(isOwn));
  t.mock.timers.tick(1999);
  await turn();
  assert.equal(placed.length, 0);
  t.mock.timers.tick(1);
  await turn();
  assert.deepEqual(placed, [true]);
  page.isHung = false;
  root.whenPlaced(hold, 'F9', (isOwn) => placed.push(isOwn));
  await turn();
  assert.deepEqual(placed, [true, false], 'what was never answered is asked again');
});

test('what was asked of an attachment that is over is not answered', async (t) => {
  const { root, hold } = await begin(t);
  root.whenPlaced(hold, 'F9', () => assert.fail('it was'));
  root.begin(hold);
  await turn();
});

test('a page that was loaded ahead and is shown now is another', async (t) => {
  const context = { id: 1, auxData: { frameId: 'P1', isDefault: true } };
  const signs: [string, object][] = [
    ['Page.frameStoppedLoading', { frameId: 'P1' }],
    ['Runtime.executionContextCreated', { context }],
    ['Page.frameNavigated', { frame: { id: 'P1', url: 'http://a/' } }],
  ];
  for (const [method, params] of signs) {
    const { root, page, hold, did } = await begin(t);
    root.event(hold, method, params);
    await turn();
    assert.deepEqual(did, ['ask'], `${method} of a page that is still the same`);
    page.root = 'P1';
    root.event(hold, method, params);
    await turn();
    assert.deepEqual(did, ['ask', 'ask', 'replaced'], method);
    t.mock.timers.reset();
  }
});

test('frames of a document are forgotten with it, and one that left is', async (t) => {
  const { root, hold } = await begin(t);
  root.note(hold, 'F1', 'http://b/');
  root.note(hold, 'F2', 'http://c/');
  root.detached(hold, { frameId: 'F1', reason: 'swap' });
  root.detached(hold, { frameId: 'F2', reason: 'remove' });
  assert.deepEqual([root.boundFor(hold, 'F1'), root.boundFor(hold, 'F2')], ['http://b/', '']);
  root.event(hold, 'Page.frameNavigated', { frame: { id: 'F1', parentId: 'T1' } });
  assert.equal(root.boundFor(hold, 'F1'), 'http://b/');
  root.event(hold, 'Page.frameNavigated', { frame: { id: 'T1' } });
  assert.equal(root.boundFor(hold, 'F1'), '');
});
