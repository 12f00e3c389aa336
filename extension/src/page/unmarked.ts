import { isText, own } from './dom.ts';
import { closest, fold, parentOf, within } from './flat.ts';
import { isVisible } from './sight.ts';

/** Options of lists whose page does not say that they are: what has come up with the text since the list was opened. */

let before = new WeakSet<Element>();
let shown = new WeakSet<Element>();

/** A page of more texts than this is not noted as a whole: what comes up there is not told. */
const MOST_NOTED = 5000;
let isNoted = false;

/** Whether it takes up room, and nothing around it leaves it none. */
export function canBeSeen(el: Element): boolean {
  return isVisible(el) && closest(el, isShut) === null;
}

function isShut(el: Element): boolean {
  const { clientWidth, clientHeight } = own(el);
  if (clientWidth > 1 && clientHeight > 1) return false;
  const { display, overflow } = getComputedStyle(el);
  return overflow !== 'visible' && display !== 'inline' && display !== 'contents';
}

/** Notes what stands there with the text before the list is opened. */
export function noteTexts(wanted: string): void {
  before = new WeakSet(withText(wanted));
  const all = textsIn(bodyOf(), { most: MOST_NOTED });
  isNoted = all.length < MOST_NOTED;
  shown = new WeakSet(all.map(({ el }) => el));
}

/** The texts that have come up since, outside of the element, in the order they stand. */
export function newTexts(outside: Element): string[] {
  if (!isNoted) return [];
  const all = textsIn(bodyOf(), { most: MOST_NOTED });
  const fresh = all.filter(({ el }) => !shown.has(el) && !within(el, outside));
  return [...new Set(fresh.map(({ text }) => text))];
}

function bodyOf(): Element {
  return document.body ?? document.documentElement;
}

/** The last thing that has come up with just this text, outside of the element; null for none. */
export function newText(wanted: string, outside: Element): Element | null {
  const found = withText(wanted).filter((el) => !before.has(el) && !within(el, outside));
  return found.at(-1) ?? null;
}

/** What can be read around a list that itself shows nothing: some keep one for machines and draw another. */
export function textsBy(list: Element): string[] {
  let at: Element | null = list;
  for (let steps = 0; at !== null && at !== document.body && steps < 3; steps += 1) {
    const texts = textsIn(at).map(({ text }) => text);
    if (texts.length > 0) return texts;
    at = parentOf(at);
  }
  return [];
}

function withText(wanted: string): Element[] {
  return textsIn(bodyOf(), { wanted }).map(({ el }) => el);
}

type Sought = { wanted?: string; most?: number };

/** The texts in an element that can be seen, those that are just what is wanted where something is. */
function textsIn(root: Element, { wanted, most }: Sought = {}): { el: Element; text: string }[] {
  const found: { el: Element; text: string }[] = [];
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const text = isText(node) ? fold(node.data) : '';
    if (text === '' || (wanted !== undefined && text !== wanted)) continue;
    const el = parentOf(node);
    if (el !== null && canBeSeen(el)) found.push({ el, text });
    if (found.length === most) break;
  }
  return found;
}
