import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Roads, type Traveller } from './roads.ts';

const there = { id: 1, url: 'http://a/', status: 'complete' };

for (const [sentence, tab, began, at] of [
  ['a tab that is somewhere', there, 0, 'http://a/'],
  [
    'one that is going elsewhere, as Chrome says',
    { ...there, pendingUrl: 'http://b/' },
    0,
    undefined,
  ],
  ['one of which a navigation has begun', { ...there, status: 'loading' }, 1, undefined],
  ['one of which a second navigation has begun', { ...there, status: 'loading' }, 2, undefined],
  ['one whose page loads', { ...there, status: 'loading' }, 0, 'http://a/'],
  ['one that is closed', undefined, 0, undefined],
] satisfies [string, Traveller | undefined, number, string | undefined][]) {
  test(`${sentence} is ${at === undefined ? 'nowhere' : 'there'}`, async () => {
    const roads = new Roads(() => Promise.resolve(tab));
    for (let i = 0; i < began; i += 1) roads.began(1);
    if (began > 1) roads.ended(1);
    assert.equal(await roads.at(1), at);
  });
}

test('a tab that is leaving has not come back before its way is over', () => {
  const roads = new Roads(() => Promise.resolve(undefined));
  roads.leave(1);
  assert.equal(roads.isLeaving({ ...there, status: 'loading' }), true);
  assert.equal(roads.isLeaving({ ...there, pendingUrl: 'http://b/' }), true);
  assert.equal(roads.isLeaving(there), false);
  roads.leave(1);
  assert.deepEqual([roads.ended(1), roads.ended(1)], [true, false]);
});
