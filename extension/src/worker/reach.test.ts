import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Book } from './book.ts';
import { Reach } from './reach.ts';

const site = { frame: { id: 'M', url: 'https://site/' } };
const within = (url: string) => ({ ...site, childFrames: [{ frame: { id: 'F', url } }] });

/** A tab that stays on https://site/, whose frame tree a test may change. */
function begin(frameTree: object) {
  const sent: string[] = [];
  const world = { frameTree };
  const book = {
    ofTab: () => ({ grant: {}, level: 'read' }),
    isAway: (_: object, url: string) => !url.startsWith('https://site'),
  } as unknown as Book;
  const reach = new Reach(book, (_tab, child, method) => {
    sent.push(`${child ?? ''} ${method}`);
    return Promise.resolve(method === 'Page.getFrameTree' ? world : { executionContextId: 1 });
  });
  return { reach, world, sent };
}

const world = (frameId: string) => ['Page.createIsolatedWorld', { frameId }] as const;

test('programs are told of no frame where the grant does not reach', async () => {
  const { reach } = begin(within('https://bank/'));
  const told = await reach.send(1, undefined, 'Page.getFrameTree', {});
  assert.deepEqual(told, { frameTree: { ...site, childFrames: [] } });
});

test('a target session that is elsewhere has no frames', async () => {
  const { reach } = begin({ frame: { id: 'F', url: 'https://bank/' } });
  await assert.rejects(reach.send(1, 'c', 'Page.getFrameTree', {}), { code: 'forbidden' });
  await assert.rejects(reach.send(1, undefined, 'Page.getFrameTree', {}), {
    code: 'tab_suspended',
  });
});

test('no world is made in a frame that has gone elsewhere since it was told of', async () => {
  const { reach, world: page, sent } = begin(within('https://site/frame'));
  assert.deepEqual(await reach.send(1, undefined, ...world('F')), { executionContextId: 1 });
  page.frameTree = within('https://bank/');
  await assert.rejects(reach.send(1, undefined, ...world('F')), { code: 'forbidden' });
  await assert.rejects(reach.send(1, undefined, ...world('gone')), { code: 'forbidden' });
  assert.deepEqual(await reach.send(1, undefined, ...world('M')), { executionContextId: 1 });
  assert.deepEqual(sent.slice(0, 2), [' Page.createIsolatedWorld', ' Page.getFrameTree']);
});
