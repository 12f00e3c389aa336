import { holderOf, isA, isElement, isHTML, isText, own, tagOf } from './dom.ts';
import { childrenOf } from './flat.ts';
import type { Kind } from './roles.ts';
import { asksForClicks, isNamedByText, kindOf, roleOf } from './roles.ts';
import type { Sight } from './sight.ts';
import {
  boxInSight,
  enter,
  inks,
  isVisible,
  scrolls,
  sightOf,
  standsIn,
  textInSight,
} from './sight.ts';

/** One thing on the page, before it is named: names cost most, and most of a long page is never shown. */
export type Item = {
  kind: Kind | 'text' | 'option';
  role: string;
  /** The element; null for text. */
  el: Element | null;
  text: string;
  states: string[];
  children: Item[];
  /** For text: what decides whether it labels something that can be operated. */
  near: Holder[];
};

/** Something that holds text: the text labels what else is held, once there is a control in it. */
type Holder = { labels: boolean };

type Block = Holder & { run: Item | null };

/** Where in the page the walk stands. */
type Place = {
  out: Item[];
  sight: Sight;
  tally: Tally;
  /** The text here is already somebody's name. */
  named: boolean;
  inert: boolean;
  /** A pointer cursor has begun further up: a boundary is only where it begins. */
  pointer: boolean;
  block: Block;
  near: Holder[];
};

/** A line for something to operate holds at least this much besides its role. */
const SHORTEST_LINE = 12;

/** Elements whose content is not shown as text. */
export const SKIPPED = new Set(
  'script style template noscript head meta link title desc datalist canvas video audio object embed'.split(
    ' ',
  ),
);

/** How much more is worth describing; what lies beyond is only counted. */
export type Tally = { left: number; more: number };

/** All that can be seen in the document or beneath scope, as a tree. */
export function walk(scope: Element | null, tally: Tally): Item[] {
  const root = scope ?? document.body ?? document.documentElement;
  const out: Item[] = [];
  const sight = root && sightOf(root);
  if (!sight) return out;
  const block: Block = { labels: false, run: null };
  const flags = { named: false, inert: false, pointer: false };
  visit(root, { out, sight, tally, block, near: [block], ...flags });
  return out;
}

/** About how many lines the element would make, without looking at how it is laid out. */
function countOf(el: Element): number {
  if (SKIPPED.has(tagOf(el))) return 0;
  const own = kindOf(el, roleOf(el)) === 'none' ? 0 : 1;
  if (tagOf(el) === 'select') return own;
  return childrenOf(el).reduce((sum, child) => sum + (isElement(child) ? countOf(child) : 0), own);
}

function visit(el: Element, place: Place): void {
  if (SKIPPED.has(tagOf(el))) return;
  if (place.tally.left <= 0) {
    place.tally.more += countOf(el);
    return;
  }
  const style = getComputedStyle(el);
  const role = roleOf(el);
  const kind = place.inert ? 'none' : kindOf(el, role);
  const sight = enter(el, style, place.sight);
  if (sight === null) {
    if (kind === 'control' && standsInForHidden(el, style, place))
      push(place, item(kind, role, el));
    return;
  }
  const inside = { ...place, sight, inert: place.inert || isInert(el) };
  if (own(el).getAttribute('aria-hidden') === 'true') {
    contain(el, inside, style, { ...item('set', 'group', null), states: ['aria-hidden'] });
    return;
  }
  enterKind(el, inside, { kind, role, style, around: place.sight });
}

export function isInert(el: Element): boolean {
  return isHTML(el) && own(el).inert;
}

function isSeen(el: Element, style: CSSStyleDeclaration, around: Sight): boolean {
  return style.visibility === 'visible' && boxInSight(el, standsIn(style, around));
}

/** A control that is hidden while what stands for it is not: its label, or the styled box it lies over. */
function standsInForHidden(el: Element, style: CSSStyleDeclaration, place: Place): boolean {
  if (labelsOf(el).some(isVisible)) return true;
  return style.opacity === '0' && tagOf(el) === 'input' && isSeen(el, style, place.sight);
}

/** The labels of a control; none for what cannot be labelled. */
export function labelsOf(el: Element): Element[] {
  if (isA(el, 'input') && ['checkbox', 'radio', 'file'].includes(el.type)) {
    return Array.from(el.labels ?? []);
  }
  return [];
}

type Entering = { kind: Kind; role: string; style: CSSStyleDeclaration; around: Sight };

function enterKind(el: Element, place: Place, entering: Entering): void {
  const { kind, role, style, around } = entering;
  switch (kind) {
    case 'frame':
      if (isSeen(el, style, around)) push(place, item(kind, role, el));
      return;
    case 'control':
      if (isSeen(el, style, around) || labelsOf(el).some(isVisible)) {
        control(el, place, role, style);
      } else descend(el, place, style);
      return;
    case 'heading':
      contain(el, { ...place, named: true }, style, item(kind, role, el));
      return;
    case 'landmark':
    case 'set':
    case 'entry':
    case 'live':
      contain(el, place, style, item(kind, role, el));
      return;
    case 'none':
      plain(el, place, style, around);
      return;
    default:
      kind satisfies never;
  }
}

function control(el: Element, place: Place, role: string, style: CSSStyleDeclaration): void {
  const it = item('control', role, el);
  push(place, it);
  if (isA(el, 'select')) {
    it.children = Array.from(el.options, (option) => item('option', 'option', option));
    return;
  }
  if (tagOf(el) === 'input' || tagOf(el) === 'textarea' || role === 'textbox') return;
  descend(el, { ...place, out: it.children, named: isNamedByText(role), pointer: true }, style);
}

/** An element without a role of its own: a scroll area, something clickable, a label, or only a box. */
function plain(el: Element, place: Place, style: CSSStyleDeclaration, around: Sight): void {
  if (isScrollArea(el, style)) {
    contain(el, place, style, item('set', 'group', el));
    return;
  }
  if (isA(el, 'label') && el.control) {
    descend(el, { ...place, named: true, pointer: true }, style);
    return;
  }
  if (tagOf(el) === 'legend' && isA(holderOf(el), 'fieldset')) {
    descend(el, { ...place, named: true }, style);
    return;
  }
  const clicks = !place.inert && isClickable(el, place, style);
  if (clicks && isSeen(el, style, around)) clickable(el, place, style);
  else descend(el, place, style);
}

export function isScrollArea(el: Element, style: CSSStyleDeclaration): boolean {
  if (el === document.body || el === document.documentElement) return false;
  const down = scrolls(style.overflowY) && own(el).scrollHeight > own(el).clientHeight + 1;
  const across = scrolls(style.overflowX) && own(el).scrollWidth > own(el).clientWidth + 1;
  return down || across;
}

function isClickable(el: Element, place: Place, style: CSSStyleDeclaration): boolean {
  if (asksForClicks(el)) return true;
  if (el === document.body || place.pointer) return false;
  return style.cursor === 'pointer';
}

/** A clickable box: one line by its text; where controls stand in it, they are what there is to click. */
function clickable(el: Element, place: Place, style: CSSStyleDeclaration): void {
  const it = item('control', 'generic', el);
  it.states = ['clickable'];
  descend(el, { ...place, out: it.children, pointer: true }, style);
  const inner = it.children.some(holdsControl);
  if (inner && !own(el).hasAttribute('onclick')) {
    place.out.push(...it.children);
    return;
  }
  it.children = it.children.filter(holdsControl);
  push(place, it);
}

function holdsControl(it: Item): boolean {
  return it.kind === 'control' || it.children.some(holdsControl);
}

/** Puts the element's line down and goes on inside it. */
function contain(el: Element, place: Place, style: CSSStyleDeclaration, it: Item): void {
  if (isScrollArea(el, style)) it.states = [...it.states, 'scrollable'];
  place.out.push(it);
  place.block.run = null;
  const near: Holder[] = it.kind === 'entry' ? [{ labels: false }] : [];
  if (it.kind === 'live') near.push({ labels: true });
  const block: Block = { labels: false, run: null };
  const inside = { ...place, out: it.children, block, near: [block, ...near] };
  spread(el, inside, style);
  if (block.labels) for (const holder of place.near) holder.labels = true;
}

function descend(el: Element, place: Place, style: CSSStyleDeclaration): void {
  if (!isBlock(style)) {
    spread(el, place, style);
    return;
  }
  place.block.run = null;
  const block: Block = { labels: false, run: null };
  // What labels a whole row or entry reaches through the blocks in it; a plain block does not.
  spread(
    el,
    { ...place, block, near: [block, ...place.near.filter((h) => h !== place.block)] },
    style,
  );
}

function isBlock(style: CSSStyleDeclaration): boolean {
  return style.display !== 'contents' && !style.display.startsWith('inline');
}

function spread(el: Element, place: Place, style: CSSStyleDeclaration): void {
  const shut = isA(el, 'details') && !el.open;
  for (const child of childrenOf(el)) {
    if (isElement(child)) {
      if (!shut || tagOf(child) === 'summary') visit(child, place);
    } else if (isText(child) && !shut && !place.named) {
      text(child, el, place, style);
    }
  }
}

function text(node: Text, el: Element, place: Place, style: CSSStyleDeclaration): void {
  if (node.data.trim() === '') {
    if (place.block.run) place.block.run.text += ' ';
    return;
  }
  if (!inks(el, style) || !textInSight(node, place.sight.flow)) return;
  if (place.block.run) {
    place.block.run.text += node.data;
    return;
  }
  const run: Item = { ...item('text', 'text', null), text: node.data, near: place.near };
  place.block.run = run;
  place.out.push(run);
}

function push(place: Place, it: Item): void {
  place.out.push(it);
  place.block.run = null;
  place.tally.left -= it.role.length + SHORTEST_LINE;
  if (it.kind === 'control') for (const holder of place.near) holder.labels = true;
}

function item(kind: Item['kind'], role: string, el: Element | null): Item {
  return { kind, role, el, text: '', states: [], children: [], near: [] };
}
