/** Frames that nobody sees: what is in them is not told, wherever they stand. */

import { own } from './dom.ts';
import { hasRoots, rootOf } from './flat.ts';
import { numberOf } from './nodes.ts';
import { boxInSight, enter, sightOf, standsIn } from './sight.ts';

/** No page has more that the edge would read. */
const MOST_FRAMES = 100;

/** The numbers of the document's frame elements that cannot be seen. */
export function unseenFrames(): number[] {
  const unseen: number[] = [];
  let met = 0;
  for (const frame of framesIn(document)) {
    if (met >= MOST_FRAMES) break;
    met += 1;
    if (!isSeen(frame)) unseen.push(numberOf(frame));
  }
  return unseen;
}

function* framesIn(root: ParentNode): Generator<Element> {
  yield* root.querySelectorAll('iframe, frame');
  if (!hasRoots()) return;
  for (const el of root.querySelectorAll('*')) {
    const inner = rootOf(el);
    if (inner) yield* framesIn(inner);
  }
}

function isSeen(frame: Element): boolean {
  const sight = sightOf(frame);
  const style = getComputedStyle(frame);
  if (sight === null || style.visibility !== 'visible') return false;
  return enter(frame, style, sight) !== null && boxInSight(own(frame), standsIn(style, sight));
}
