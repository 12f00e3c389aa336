import type { Over, OverArgs } from './contract.ts';
import { own } from './dom.ts';
import { Refusal } from './failure.ts';
import { closest } from './flat.ts';
import { COVERED_MS, frame } from './locate.ts';
import { elementNumbered } from './nodes.ts';

/** How many pixels of the page one of the frame's is wide and high. */
type Scale = { x: number; y: number };

/** Below this a point is too coarse: browsers tell the places of a press apart by a 64th of a pixel. */
const LEAST_SCALE = 0.1;

/** Waits until the frame's element would be hit at a point of its content box, and answers that point of the viewport. */
export async function over(args: OverArgs): Promise<Over> {
  const el = elementNumbered(args.node);
  const start = performance.now();
  for (;;) {
    const point = pointIn(el, args);
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

/** Where a point of the frame's own viewport is drawn, or refuses where that is not plain to see. */
function pointIn(el: Element, { x, y }: { x: number; y: number }): Over {
  const scale = scaleOf(el);
  if (scale === null) {
    throw new Refusal(
      'not_visible',
      'The frame is turned, mirrored or bent: what is in it cannot be aimed at.',
    );
  }
  if (Math.min(scale.x, scale.y) < LEAST_SCALE) {
    throw new Refusal(
      'not_visible',
      'The frame is drawn too small: what is in it cannot be aimed at.',
    );
  }
  const box = own(el).getBoundingClientRect();
  const style = getComputedStyle(el);
  const left = own(el).clientLeft + Number.parseFloat(style.paddingLeft || '0');
  const top = own(el).clientTop + Number.parseFloat(style.paddingTop || '0');
  return { x: box.x + (left + x) * scale.x, y: box.y + (top + y) * scale.y };
}

/** The size that what is in the element is drawn in; null where it does not only differ in size. */
function scaleOf(el: Element): Scale | null {
  const zoom = zoomOf(el);
  const scale = { x: zoom, y: zoom };
  const isBent = closest(el, (at) => {
    const one = ownScale(at);
    scale.x *= one?.x ?? 1;
    scale.y *= one?.y ?? 1;
    return one === null;
  });
  return isBent || !isDrawnSo(el, scale) ? null : scale;
}

/** With what is around it; a document in a frame is zoomed with its frame. */
function zoomOf(el: Element): number {
  const { currentCSSZoom } = own(el) as { currentCSSZoom?: number };
  return currentCSSZoom ?? 1;
}

/** What the element's own style makes of its size; null where it is turned, mirrored or in depth. */
function ownScale(el: Element): Scale | null {
  const { transform, scale, rotate, offsetPath } = getComputedStyle(el);
  if (rotate !== 'none' || offsetPath !== 'none') return null;
  const { a, b, c, d, is2D } = new DOMMatrixReadOnly(transform);
  const parts = scale === 'none' ? [1] : scale.split(' ').map(Number);
  const [across = 1, down = across, ...depth] = parts;
  const isUpright = is2D && b === 0 && c === 0 && a > 0 && d > 0;
  if (!isUpright || !(across > 0) || !(down > 0) || depth.length > 0) return null;
  return { x: a * across, y: d * down };
}

/** Whether the element is as large as that: other things may scale it too, such as a drawing that it stands in. */
function isDrawnSo(el: Element, scale: Scale): boolean {
  const box = own(el).getBoundingClientRect();
  const { offsetWidth, offsetHeight } = own(el) as Partial<HTMLElement>;
  if (offsetWidth === undefined || offsetHeight === undefined) return false;
  return isNear(box.width, offsetWidth, scale.x) && isNear(box.height, offsetHeight, scale.y);
}

/** Lengths of a layout are rounded to whole pixels when they are told. */
function isNear(drawn: number, layout: number, scale: number): boolean {
  return Math.abs(drawn - layout * scale) <= 2 + 2 * scale;
}
