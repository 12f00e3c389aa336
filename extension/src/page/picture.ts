import type { Picture } from './contract.ts';
import { own } from './dom.ts';

/**
 * What a picture of a whole page holds at most, in pixels of the screen: a texture that every graphics card draws, beyond which
 * browsers repeat or leave out, and no more than a browser draws without its windows waiting for it.
 */
const LONGEST_SIDE = 16_384;
const MOST_PIXELS = 2 ** 25;

/** The part of the whole page, from its beginning, that one picture can show, and the page's own size; in CSS pixels. */
export function picture(): Picture {
  const page = document.scrollingElement ?? document.documentElement;
  const page_width = Math.max(window.innerWidth, page === null ? 0 : own(page).scrollWidth, 1);
  const page_height = Math.max(window.innerHeight, page === null ? 0 : own(page).scrollHeight, 1);
  // A picture has as many pixels as the screen, but a clip is judged by its own.
  const ratio = Math.max(1, window.devicePixelRatio);
  const side = Math.floor(LONGEST_SIDE / ratio);
  const width = Math.min(page_width, side);
  const height = Math.min(page_height, side, Math.floor(MOST_PIXELS / ratio ** 2 / width));
  return { width, height, page_width, page_height };
}
