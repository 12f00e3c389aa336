/**
 * Elements that may hold a closed shadow tree, which only the edge can open to us. Each is asked about once; an element
 * that could not have one, or shows nothing that its own content does not explain, never is.
 */

import { isHTML, isText, own, tagOf } from './dom.ts';

/** How many elements one document is asked about at once and in all. */
const AT_ONCE = 64;
const IN_ALL = 512;

const PLAIN = new Set(
  'article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span'.split(
    ' ',
  ),
);

const asked = new WeakSet<Element>();
const pending = new Set<Element>();
let left = IN_ALL;

/** Notes an element of the page's own making that has no root as far as is known. */
export function suspectCustom(el: Element): void {
  if (!tagOf(el).includes('-') || asked.has(el) || !isHTML(el)) return;
  if (own(el).matches(':defined')) note(el);
}

/** Notes an ordinary element that takes room although nothing in it accounts for that. */
export function suspectPlain(el: Element, style: CSSStyleDeclaration): void {
  if (!PLAIN.has(tagOf(el)) || asked.has(el) || !isHTML(el) || !isBare(el)) return;
  if (takesRoom(el, style) && !isGenerated(el, '::before') && !isGenerated(el, '::after')) note(el);
}

function note(el: Element): void {
  if (left <= 0) return;
  left -= 1;
  asked.add(el);
  pending.add(el);
}

/** Nothing of its own is shown: there is nothing, or it is not slotted into what is. */
function isBare(el: Element): boolean {
  const first = own(el).firstElementChild;
  if (first) return getComputedStyle(first).display === '';
  for (const child of own(el).childNodes) {
    if (isText(child) && /\S/.test(child.data)) return false;
  }
  return true;
}

function takesRoom(el: Element, style: CSSStyleDeclaration): boolean {
  const { width, height } = own(el).getBoundingClientRect();
  if (width < 2 || height < 2) return false;
  if (style.display === 'inline') return true;
  if (isGiven(el, 'height') || isGiven(el, 'min-height') || isGiven(el, 'aspect-ratio'))
    return false;
  const { paddingTop, paddingBottom, borderTopWidth, borderBottomWidth } = style;
  const edges = [paddingTop, paddingBottom, borderTopWidth, borderBottomWidth];
  return height - edges.reduce((sum, edge) => sum + Number.parseFloat(edge), 0) > 1;
}

/** Whether the style says more than to follow the content. */
function isGiven(el: Element, property: string): boolean {
  const value = String(own(el).computedStyleMap().get(property) ?? 'auto');
  return !['auto', 'none', '0px', 'normal'].includes(value);
}

function isGenerated(el: Element, pseudo: string): boolean {
  const { content } = getComputedStyle(el, pseudo);
  return content !== 'none' && content !== 'normal';
}

export function hasSuspects(): boolean {
  return pending.size > 0;
}

/** The elements to ask the browser about: each is given out once. */
export function takeSuspects(): Element[] {
  const some = Array.from(pending).slice(0, AT_ONCE);
  for (const el of some) pending.delete(el);
  return some;
}
