import type { Over, OverArgs } from './contract.ts';
import { own } from './dom.ts';
import { Refusal } from './failure.ts';
import { closest } from './flat.ts';
import { COVERED_MS, frame } from './locate.ts';
import { elementNumbered } from './nodes.ts';
import { owner } from './owner.ts';

/** Waits until the frame's element would be hit at a point of its content box, and answers that point of the viewport. */
export async function over(args: OverArgs): Promise<Over> {
  const el = elementNumbered(args.node);
  if (closest(el, isBent)) {
    throw new Refusal(
      'not_visible',
      'The frame is scaled or turned: what is in it cannot be aimed at.',
    );
  }
  const start = performance.now();
  for (;;) {
    const corner = owner(el);
    const point = { x: corner.x + args.x, y: corner.y + args.y };
    const root = own(el).getRootNode();
    if (root instanceof Document || root instanceof ShadowRoot) {
      if (root.elementFromPoint(point.x, point.y) === el) return point;
    }
    if (performance.now() - start > COVERED_MS) {
      throw new Refusal('covered', 'Something in the page around the frame lies over the element.');
    }
    await frame();
  }
}

/** Whether what is in the element is drawn in another size or direction: then its points are elsewhere than they seem. */
function isBent(el: Element): boolean {
  const { transform, scale, rotate, offsetPath, zoom } = getComputedStyle(el);
  if (scale !== 'none' || rotate !== 'none' || offsetPath !== 'none' || Number(zoom) !== 1)
    return true;
  const { a, b, c, d, is2D } = new DOMMatrixReadOnly(transform);
  return !(is2D && a === 1 && b === 0 && c === 0 && d === 1);
}
