import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasFrame, withoutFrames } from './frames.ts';

const frame = (url: string, ...childFrames: object[]) =>
  childFrames.length === 0 ? { frame: { url } } : { frame: { url }, childFrames };
const isBarred = (url: string) => url.startsWith('https://own/');

test('a barred frame goes with what is inside it, its neighbours stay', () => {
  const tree = frame(
    'https://x/',
    frame('https://own/', frame('about:blank')),
    frame('https://y/'),
  );
  assert.deepEqual(withoutFrames(tree, isBarred), frame('https://x/', frame('https://y/')));
});

test('a barred frame deep inside goes alone', () => {
  const tree = frame('https://x/', frame('https://y/', frame('https://z/'), frame('https://own/')));
  const left = frame('https://x/', frame('https://y/', frame('https://z/')));
  assert.deepEqual(withoutFrames(tree, isBarred), left);
});

test('a barred document has no tree', () => {
  assert.equal(withoutFrames(frame('https://own/'), isBarred), undefined);
});

test('what is no tree stays as it is', () => {
  assert.equal(withoutFrames('nothing', isBarred), 'nothing');
});

test('a document that has no address of its own is as barred as whoever it is from', () => {
  const empty = (securityOrigin: string) => ({ frame: { url: 'about:blank', securityOrigin } });
  const tree = { frame: { url: 'https://x/' }, childFrames: [empty('https://own/')] };
  assert.deepEqual(withoutFrames(tree, isBarred), { ...tree, childFrames: [] });
  const ours = { ...tree, childFrames: [empty('https://x'), empty('://'), empty('')] };
  assert.deepEqual(
    withoutFrames(ours, (url) => !url.startsWith('https://x')),
    ours,
  );
});

test('a frame is found wherever in the tree it is', () => {
  const tree = { frame: { id: 'A' }, childFrames: [{ frame: { id: 'B' } }] };
  assert.deepEqual(
    ['A', 'B', 'C'].map((id) => hasFrame(tree, id)),
    [true, true, false],
  );
});
