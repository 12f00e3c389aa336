import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutFrames } from './frames.ts';

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
