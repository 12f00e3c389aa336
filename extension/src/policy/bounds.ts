import { at, isObject } from './json.ts';

/**
 * What a picture may cost: a person's browser draws it in memory of a few times its pixels, and all its windows wait. A
 * clip's are before the screen's own factor, a view's with it.
 */
const MAX_CLIP_PIXELS = 2 ** 25;
const MAX_CLIP_SIDE = 2 ** 16;
const MAX_CLIP_SCALE = 4;
const MAX_VIEW_PIXELS = 2 ** 26;

/** How deep params are nested at most. Chrome 156 answers nothing to 300 levels. */
export const MAX_DEPTH = 200;

/** A number with a least and a most. */
export type Bounds =
  | { readonly number: readonly number[] }
  | { readonly integer: readonly number[] };

/** What is wrong with a number that has bounds; nothing when empty. */
export function refuseBounded(kind: Bounds, value: unknown): string {
  const name = 'integer' in kind ? 'integer' : 'number';
  const [least = 0, most = 0] = 'integer' in kind ? kind.integer : kind.number;
  const isWhole = name === 'number' || Number.isInteger(value);
  const isWithin = typeof value === 'number' && value >= least && value <= most;
  return isWhole && isWithin ? '' : `is not of kind ${name}, from ${least} to ${most}`;
}

/** What is wrong with a picture's clip; nothing when empty. A part that `isLater` knows is judged when it is filled in. */
export function refuseClip(clip: unknown, isLater: (part: unknown) => boolean): string {
  const isBox = isObject(clip) && Object.entries(clip).every(([n, v]) => isPart(n, v, isLater));
  if (isBox && fits(clip)) return '';
  return `is not a box of finite numbers with at most ${MAX_CLIP_PIXELS} pixels, ${MAX_CLIP_SIDE} a side, and scale ${MAX_CLIP_SCALE}`;
}

/**
 * What is wrong with an emulated screen; nothing when empty. What is not given counts as Chrome's own, and what is filled
 * in later is judged then.
 */
export function refuseHuge(given: Record<string, unknown>): string {
  const factor = Math.max(1, number(given, 'deviceScaleFactor'));
  const pixels = number(given, 'width') * number(given, 'height') * factor * factor;
  if (pixels <= MAX_VIEW_PIXELS) return '';
  return `width and height with deviceScaleFactor are more than ${MAX_VIEW_PIXELS} pixels`;
}

/** Is the value nested deeper than MAX_DEPTH? */
export function isTooDeep(value: unknown, left = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((part) => isTooDeep(part, left - 1));
}

function isPart(name: string, value: unknown, isLater: (part: unknown) => boolean): boolean {
  const isKnown = ['x', 'y', 'width', 'height', 'scale'].includes(name);
  return isKnown && (Number.isFinite(value) || isLater(value));
}

/** Chrome says itself what is missing. A scale below 1 counts as 1: the page is laid out to the clip's size first. */
function fits(clip: Record<string, unknown>): boolean {
  const scale = Math.max(1, number(clip, 'scale'));
  const width = number(clip, 'width') * scale;
  const height = number(clip, 'height') * scale;
  if (width < 0 || height < 0 || number(clip, 'scale') < 0 || scale > MAX_CLIP_SCALE) return false;
  return width <= MAX_CLIP_SIDE && height <= MAX_CLIP_SIDE && width * height <= MAX_CLIP_PIXELS;
}

function number(of: Record<string, unknown>, name: string): number {
  const value = at(of, name);
  return typeof value === 'number' ? value : 0;
}
