/**
 * Sight: the part of the page that a person can bring into view. It is carried down the tree, since what hides an
 * element mostly stands above it: a clipping box, a position off the page, a transparent parent.
 */

import { own } from './dom.ts';
import { closest, parentOf } from './flat.ts';

export type Box = { left: number; top: number; right: number; bottom: number };

export type Sight = {
  /** Where content in normal flow can be seen, in viewport coordinates; scrolling counts as seeing. */
  flow: Box;
  /** The same for absolutely positioned content, which only positioned ancestors clip. */
  positioned: Box;
  /** And for fixed content. */
  fixed: Box;
  /** What of it is in the window now, as far as it has been scrolled. */
  now: Box;
};

/** More than a pixel each way: one-pixel boxes are how pages hide text from eyes. */
const SEEN_PX = 1;

export function firstSight(): Sight {
  const root = document.documentElement;
  const scroller = document.scrollingElement ?? root;
  const rightToLeft = getComputedStyle(root).direction === 'rtl';
  const hiddenLeft = rightToLeft ? scroller.scrollWidth - scroller.clientWidth : 0;
  const page = {
    left: -window.scrollX - hiddenLeft,
    top: -window.scrollY,
    right: Number.POSITIVE_INFINITY,
    bottom: Number.POSITIVE_INFINITY,
  };
  const view = { left: 0, top: 0, right: window.innerWidth, bottom: window.innerHeight };
  return { flow: page, positioned: page, fixed: view, now: view };
}

export function overlap(a: Box, b: Box): Box {
  return {
    left: Math.max(a.left, b.left),
    top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  };
}

export function canSee(box: Box, clip: Box): boolean {
  const width = Math.min(box.right, clip.right) - Math.max(box.left, clip.left);
  return (
    width > SEEN_PX && Math.min(box.bottom, clip.bottom) - Math.max(box.top, clip.top) > SEEN_PX
  );
}

/** What of its surroundings the element stands in, by its position. */
export function standsIn(style: CSSStyleDeclaration, sight: Sight): Box {
  return placed(style.position, sight);
}

function placed(position: string, sight: Sight): Box {
  if (position === 'fixed') return sight.fixed;
  return position === 'absolute' ? sight.positioned : sight.flow;
}

/** Sight inside the element; null when nothing in it can be seen, wherever it is positioned. */
export function enter(el: Element, style: CSSStyleDeclaration, sight: Sight): Sight | null {
  // Each property of a computed style is dear: what is asked of every element is read once.
  const { position } = style;
  if (style.display === 'none' || style.opacity === '0' || isCutAway(style, position)) return null;
  if (style.getPropertyValue('content-visibility') === 'hidden') return null;
  const around = placed(position, sight);
  const before = position === 'fixed' ? sight.fixed : sight.now;
  const { inside, now } = isRoot(el)
    ? { inside: around, now: before }
    : clipTo(el, style, { around, now: before });
  const turned = style.transform !== 'none';
  return {
    flow: inside,
    positioned: turned || position !== 'static' ? inside : sight.positioned,
    fixed: turned ? inside : sight.fixed,
    now,
  };
}

function isRoot(el: Element): boolean {
  return el === document.documentElement || el === document.body;
}

function isCutAway(style: CSSStyleDeclaration, position: string): boolean {
  const { clipPath } = style;
  if (clipPath !== 'none' && /^inset\((5\d|[6-9]\d|100)(\.\d+)?%/.test(clipPath)) return true;
  return position === 'absolute' && /^rect\(0px,? 0px,? 0px,? 0px\)$/.test(style.clip);
}

const NOTHING: Box = { left: 0, top: 0, right: 0, bottom: 0 };

type Clip = { inside: Box; now: Box };

function clipTo(
  el: Element,
  style: CSSStyleDeclaration,
  { around, now }: { around: Box; now: Box },
): Clip {
  const { overflowX, overflowY } = style;
  if (overflowX === 'visible' && overflowY === 'visible') return { inside: around, now };
  if (style.display === 'inline' || style.display === 'contents') return { inside: around, now };
  const { clientWidth, scrollWidth, scrollLeft, scrollTop } = own(el);
  const box = own(el).getBoundingClientRect();
  if (!canSee(box, around)) return { inside: NOTHING, now: NOTHING };
  const leftmost = style.direction === 'rtl' ? clientWidth - scrollWidth : 0;
  const x = axis(
    overflowX,
    [box.left, box.right],
    [around.left, around.right],
    scrollLeft - leftmost,
  );
  const y = axis(overflowY, [box.top, box.bottom], [around.top, around.bottom], scrollTop);
  const inside = { left: x[0], right: x[1], top: y[0], bottom: y[1] };
  return { inside, now: overlap(now, box) };
}

type Span = [start: number, end: number];

function axis(overflow: string, box: Span, around: Span, scrolled: number): Span {
  if (overflow === 'visible') return around;
  if (scrolls(overflow)) return [box[0] - scrolled, Number.POSITIVE_INFINITY];
  return [Math.max(box[0], around[0]), Math.min(box[1], around[1])];
}

export function scrolls(overflow: string): boolean {
  return overflow === 'auto' || overflow === 'scroll';
}

/** The colour behind the text, where it is certain: the element's own, or its parent's while neither is moved. */
function groundOf(el: Element, style: CSSStyleDeclaration): string {
  if (style.backgroundImage !== 'none') return '';
  if (!isClear(style.backgroundColor)) return style.backgroundColor;
  const parent = style.position === 'static' ? parentOf(el) : null;
  if (parent === null) return '';
  const above = getComputedStyle(parent);
  return above.backgroundImage !== 'none' || isClear(above.backgroundColor)
    ? ''
    : above.backgroundColor;
}

function isClear(colour: string): boolean {
  if (colour.startsWith('rgb(') && !colour.includes('/')) return false;
  return colour === 'transparent' || /^rgba\(.*, 0\)$|\/ 0\)$/.test(colour);
}

/** Whether the element's text shows at all: it has a size, a colour, and another colour behind it. */
export function inks(el: Element, style: CSSStyleDeclaration): boolean {
  if (style.visibility !== 'visible' || style.fontSize === '0px') return false;
  const { color } = style;
  if (!isClear(color) && !mayVanish(el, style, color)) return true;
  if (style.getPropertyValue('background-clip') === 'text') return true;
  return !isClear(color) && color !== groundOf(el, style);
}

/** Whether the colour is that of a ground near by, which is worth looking at closely. */
function mayVanish(el: Element, style: CSSStyleDeclaration, color: string): boolean {
  const { backgroundColor } = style;
  if (!isClear(backgroundColor)) return backgroundColor === color;
  const parent = parentOf(el);
  return parent !== null && getComputedStyle(parent).backgroundColor === color;
}

// One for all: thousands of live ranges slow every later change of the document down.
const range = document.createRange();

/** Mostly the beginning of a text decides, and each line of it is measured. */
const MEASURED = 1000;

/** Whether any of the text stands where it can be seen. */
export function textInSight(text: Text, clip: Box): boolean {
  range.setStart(text, 0);
  range.setEnd(text, Math.min(text.length, MEASURED));
  if (canSeeAny(range.getClientRects(), clip)) return true;
  if (text.length <= MEASURED) return false;
  range.selectNodeContents(text);
  return canSeeAny(range.getClientRects(), clip);
}

/** Mostly the first box decides. */
function canSeeAny(boxes: DOMRectList, clip: Box): boolean {
  for (let i = 0; i < boxes.length; i += 1) {
    const box = boxes[i];
    if (box && canSee(box, clip)) return true;
  }
  return false;
}

/** Whether the element itself takes up room where it can be seen. */
export function boxInSight(el: Element, clip: Box): boolean {
  if (canSee(own(el).getBoundingClientRect(), clip)) return true;
  return Array.from(own(el).children).some((child) =>
    canSee(own(child).getBoundingClientRect(), clip),
  );
}

/** Whether the element can be seen, judged by itself and all above it at once. */
export function isVisible(el: Element): boolean {
  if (!own(el).checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
  return Array.from(own(el).getClientRects()).some(
    (box) => box.width > SEEN_PX && box.height > SEEN_PX,
  );
}

/** The sight around an element: it has to be carried down from the top. */
export function sightOf(root: Element): Sight | null {
  const above: Element[] = [];
  closest(parentOf(root), (at) => above.push(at) === 0);
  above.reverse();
  let sight: Sight | null = firstSight();
  for (const el of above) sight = sight && enter(el, getComputedStyle(el), sight);
  return sight;
}
