/** What is left of a page once the budget is full is only counted, and no more is looked at than will fit. */

import { isText, own, tagOf } from './dom.ts';
import { hasRoots, rootOf } from './flat.ts';

/** A line for something to operate holds at least this much besides its role and its name. */
const SHORTEST_LINE = 16;
const LONGEST_SURE_NAME = 60;
const LONGEST_LOOKED_AT = 500;

/** The least that the element's line will hold besides its role. */
export function leastLength(el: Element): number {
  const label = own(el).getAttribute('aria-label');
  const tag = tagOf(el);
  const first = tag === 'a' || tag === 'button' ? own(el).firstChild : null;
  const name = label ?? (isText(first) ? first.data : '');
  return (
    SHORTEST_LINE + Math.min(name.slice(0, LONGEST_LOOKED_AT).trim().length, LONGEST_SURE_NAME)
  );
}

/** What mostly makes a line, as a query that the browser answers at once. */
const HOLDING =
  'a[href],button,input:not([type=hidden]),select,textarea,summary,canvas,video,audio,iframe,frame,area[href],' +
  'h1,h2,h3,h4,h5,h6,main,nav,aside,dialog[open],fieldset,output,progress,meter,[onclick],[tabindex="0"],' +
  '[contenteditable=""],[contenteditable="true"],[role]:not([role=none],[role=presentation],[role=img],[role=group])';

const LINES = `${HOLDING},tr,li,article`;

/** Whether it seems to hold nothing but text, which makes no line: what only its style makes something to click is not seen. */
export function isMereText(el: Element): boolean {
  if (hasRoots() && countOf(el) > 0) return false;
  return !own(el).matches(HOLDING) && own(el).querySelector(HOLDING) === null;
}

/** About how many lines the element would make, without looking at how it is laid out. */
export function countOf(el: Element): number {
  return (own(el).matches(LINES) ? 1 : 0) + countIn(rootOf(el) ?? own(el));
}

function countIn(root: ParentNode): number {
  let lines = root.querySelectorAll(LINES).length;
  if (!hasRoots()) return lines;
  for (const el of root.querySelectorAll('*')) {
    const inner = rootOf(el);
    if (inner) lines += countIn(inner);
  }
  return lines;
}
