import { areasOf } from './areas.ts';
import { holderOf, isA, isElement, isText, own, tagOf } from './dom.ts';
import { isOfEditor } from './editors.ts';
import { childrenOf, head, within } from './flat.ts';
import { suspectPlain } from './hosts.ts';
import { isDialog, isInert, isInertByStyle, modalDialog, noteDialog } from './inert.ts';
import type { Holder, Item } from './items.ts';
import { fallback, isPressable, item, SKIPPED } from './items.ts';
import { Look } from './news.ts';
import { countOf, isMereText, leastLength } from './remaining.ts';
import type { Kind } from './roles.ts';
import { asksForClicks, isEditingHost, isNamedByContent, kindOf, roleOf } from './roles.ts';
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

type Block = Holder & { run: Item | null };

/** Where in the page the walk stands. */
type Place = {
  out: Item[];
  sight: Sight;
  tally: Tally;
  /** The text here is already somebody's name. */
  named: boolean;
  inert: boolean;
  /** All text here has come since the last look. */
  fresh: boolean;
  /** A pointer cursor has begun further up: a boundary is only where it begins. */
  pointer: boolean;
  block: Block;
  /** What else around is labelled by text: the entry or the message that all of this stands in. */
  beyond: readonly Holder[];
  pass: Pass;
  look: Look;
};

/** One pass over the page: what is switched off by the modal dialog, and whether another one was found on the way. */
type Pass = { modal: Element | null; stale: boolean; visited: number };

/** After so many elements, blocks of mere text are passed over. */
const MANY = 4000;

/** An object that shows nothing shows what stands in it. */
const LEFT_OUT = new Set([...SKIPPED].filter((tag) => tag !== 'object'));

/** Of those, what is something to operate by itself. */
const EMBEDDED = new Set(['canvas', 'video', 'audio']);
/** Pictures smaller than this are no place to operate anything. */
const PLACE_PX = 40;

/**
 * How much more is worth describing, `texts` included where all of them are shown; what lies beyond is only counted, but
 * for text that has come since the last look, which so many characters of `news` are for.
 */
export type Tally = { left: number; more: number; texts?: boolean; news?: number };

/** What is on the page, and what a look at it told besides. */
export type Walked = { items: Item[]; look: Look };

/** All that can be seen in the document or beneath scope, as a tree. */
export function walk(scope: Element | null, tally: Tally): Walked {
  const root = scope ?? document.body ?? document.documentElement;
  const before = { ...tally };
  for (let tried = 0; ; tried += 1) {
    const pass: Pass = { modal: modalDialog(), stale: false, visited: 0 };
    const look = new Look(tally.news);
    const items = once(root, tally, { pass, look });
    if (!pass.stale || tried > 2) return { items, look };
    Object.assign(tally, before);
  }
}

type Going = { pass: Pass; look: Look };

function once(root: Element | null, tally: Tally, going: Going): Item[] {
  const out: Item[] = [];
  const sight = root && sightOf(root);
  if (!sight) return out;
  const block: Block = { labels: false, run: null };
  const { modal } = going.pass;
  const inert = modal !== null && !within(root, modal);
  const flags = { named: false, inert, pointer: false, fresh: false };
  visit(root, { out, sight, tally, block, beyond: [], ...going, ...flags });
  return out;
}

function visit(el: Element, around: Place): void {
  const tag = tagOf(el);
  const embedded = EMBEDDED.has(tag);
  if (LEFT_OUT.has(tag) && !embedded) return;
  const fresh = around.fresh || around.look.isNew(el);
  if (isPassed(el, around) && !around.look.leadsTo(el, fresh)) {
    around.tally.more += around.tally.left > 0 ? 0 : countOf(el);
    around.look.pass(el, fresh);
    return;
  }
  const place = fresh === around.fresh ? around : { ...around, fresh };
  const style = getComputedStyle(el);
  const inert = isOffAt(el, style, place);
  const role = roleOf(el);
  const kind = inert ? 'none' : kindOf(el, role);
  const sight = enter(el, style, place.sight);
  const entering = { kind, role, style, around: place.sight };
  if (sight === null) {
    place.look.hide(el);
    standIn(el, place, entering);
  } else if (embedded) embed(el, { ...place, sight, inert }, entering);
  else enterSeen(el, { ...place, sight, inert }, entering);
}

/** Whether nothing in it is described any more. Where all text is shown, that is what the budget is for. */
function isPassed(el: Element, { tally, pass, beyond, named }: Place): boolean {
  if (tally.left <= 0) return true;
  pass.visited += 1;
  if (tally.texts || pass.visited <= MANY || beyond.length > 0 || !isMereText(el)) return false;
  return named || isBlock(getComputedStyle(el));
}

function enterSeen(el: Element, place: Place, entering: Entering): void {
  if (isDialog(el) && noteDialog(el)) place.pass.stale = true;
  suspectPlain(el, entering.style);
  if (own(el).getAttribute('aria-hidden') === 'true' && entering.kind !== 'control') {
    const boundary = { ...item('set', 'group', null), states: ['aria-hidden'] };
    contain(el, place, entering.style, boundary);
  } else enterKind(el, place, entering);
}

/** Whether the element answers nobody: a modal dialog is out of that, wherever it stands. */
function isOffAt(el: Element, style: CSSStyleDeclaration, place: Place): boolean {
  if (isInert(el)) return true;
  if (el === place.pass.modal) return false;
  return place.inert || isInertByStyle(style);
}

/** A canvas or a player: something to point at, and what the page offers in its stead. */
function embed(el: Element, place: Place, { kind, role, style, around }: Entering): void {
  if (place.inert || !isSeen(el, style, around)) return;
  const { width, height } = own(el).getBoundingClientRect();
  const large = width >= PLACE_PX && height >= PLACE_PX;
  if (kind !== 'control' && !large && !own(el).hasAttribute('aria-label')) return;
  const it = item('control', role || tagOf(el), el);
  push(place, it);
  if (tagOf(el) === 'canvas') for (const child of childrenOf(el)) fallback(child, it.children);
}

function isSeen(el: Element, style: CSSStyleDeclaration, around: Sight): boolean {
  return style.visibility === 'visible' && boxInSight(el, standsIn(style, around));
}

/** A control that is hidden while what stands for it is not: its label, or the styled box it lies over. */
function standIn(el: Element, place: Place, { kind, role, style }: Entering): void {
  if (kind !== 'control') return;
  const overlaid = style.opacity === '0' && tagOf(el) === 'input';
  const stands = labelsOf(el).some(isVisible) || (overlaid && isSeen(el, style, place.sight));
  if (stands || isOfEditor(el)) push(place, item(kind, role, el));
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
      if (isSeen(el, style, around) || labelsOf(el).some(isVisible) || isOfEditor(el)) {
        control(el, place, role, style);
      } else descend(el, place, style);
      return;
    case 'heading':
      contain(el, { ...place, named: true }, style, pressable(el, place, entering));
      return;
    case 'landmark':
    case 'set':
    case 'live':
      contain(el, place, style, item(kind, role, el));
      return;
    case 'entry':
      contain(el, place, style, pressable(el, place, entering));
      return;
    case 'none':
      plain(el, place, entering);
      return;
    default:
      kind satisfies never;
  }
}

function control(el: Element, place: Place, role: string, style: CSSStyleDeclaration): void {
  const it = item('control', role, el);
  if (own(el).getAttribute('aria-hidden') === 'true') it.states.push('aria-hidden');
  if (isDraggable(el)) it.states.push('draggable');
  push(place, it);
  if (isA(el, 'select')) {
    it.children = Array.from(el.options, (option) => item('option', 'option', option));
    return;
  }
  if (tagOf(el) === 'input' || tagOf(el) === 'textarea') return;
  descend(el, { ...place, out: it.children, named: isSaid(el, role), pointer: true }, style);
}

const SAID_AS_VALUE = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton']);

/** Whether the text in it is its name or its value. */
function isSaid(el: Element, role: string): boolean {
  return isNamedByContent(role) || SAID_AS_VALUE.has(role) || isEditingHost(el);
}

/** A heading or an entry, which may be something to click as a whole. */
function pressable(el: Element, place: Place, { kind, role, style, around }: Entering): Item {
  const it = item(kind, role, el);
  const uses = usesOf(el, place, style);
  if (uses.length === 0 || !isSeen(el, style, around)) return it;
  counted(place, it);
  return { ...it, states: uses };
}

/** An element without a role to operate: a scroll area, something clickable, a label, or only a box. */
function plain(el: Element, place: Place, { role, style, around }: Entering): void {
  if (isScrollArea(el, style)) {
    contain(el, place, style, item('set', role || 'group', el));
    return;
  }
  if (isLabel(el)) {
    descend(el, { ...place, named: true, pointer: place.pointer || isA(el, 'label') }, style);
    return;
  }
  if (place.inert || !isSeen(el, style, around)) {
    descend(el, place, style);
    return;
  }
  if (usesOf(el, place, style).length > 0) clickable(el, place, { role, style });
  else descend(el, place, style);
  for (const area of areasOf(el)) push(place, item('control', roleOf(area), area));
}

export type { Item } from './items.ts';
export { SKIPPED };

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

/** Whether its text is the name of what it stands by. */
function isLabel(el: Element): boolean {
  if (isA(el, 'label')) return el.control !== null;
  return tagOf(el) === 'legend' && isA(holderOf(el), 'fieldset');
}

/** A clickable box: one line by its text; where controls stand in it, they are what there is to click. */
function clickable(
  el: Element,
  place: Place,
  { role, style }: { role: string; style: CSSStyleDeclaration },
): void {
  const it = item('control', role || 'generic', el);
  it.states = usesOf(el, place, style);
  descend(el, { ...place, out: it.children, pointer: true }, style);
  const inner = it.children.some(holdsControl);
  if (inner && !own(el).hasAttribute('onclick') && !isDraggable(el)) {
    place.out.push(...it.children);
    return;
  }
  it.children = it.children.filter(holdsControl);
  push(place, it);
}

function holdsControl(it: Item): boolean {
  return it.kind === 'control' || isPressable(it) || it.children.some(holdsControl);
}

/** What can be done with it although it is no control by its role. */
function usesOf(el: Element, place: Place, style: CSSStyleDeclaration): string[] {
  const clickable = isClickable(el, place, style) ? ['clickable'] : [];
  return isDraggable(el) ? [...clickable, 'draggable'] : clickable;
}

function isDraggable(el: Element): boolean {
  return own(el).getAttribute('draggable') === 'true';
}

/** Puts the element's line down and goes on inside it. */
function contain(el: Element, place: Place, style: CSSStyleDeclaration, it: Item): void {
  if (isScrollArea(el, style)) it.states = [...it.states, 'scrollable'];
  put(place, it);
  const beyond: Holder[] = it.kind === 'entry' ? [{ labels: false }] : [];
  if (it.kind === 'live') beyond.push({ labels: true });
  const block: Block = { labels: false, run: null };
  const pointer = place.pointer || isPressable(it);
  spread(el, { ...place, out: it.children, block, beyond, pointer }, style);
  if (block.labels) label(place);
}

function descend(el: Element, place: Place, style: CSSStyleDeclaration): void {
  if (!isBlock(style)) {
    spread(el, place, style);
    return;
  }
  place.block.run = null;
  const block: Block = { labels: false, run: null };
  // What labels a whole row or entry reaches through the blocks in it; a plain block does not.
  spread(el, { ...place, block }, style);
}

function isBlock(style: CSSStyleDeclaration): boolean {
  return style.display !== 'contents' && !style.display.startsWith('inline');
}

function spread(el: Element, place: Place, style: CSSStyleDeclaration): void {
  const shut = isA(el, 'details') && !el.open;
  for (const child of childrenOf(el)) {
    if (isElement(child)) {
      if (!shut || tagOf(child) === 'summary') visit(child, place);
      else place.look.hide(child);
    } else if (isText(child) && !shut && !place.named) {
      text(child, el, place, style);
    }
  }
}

function text(node: Text, el: Element, place: Place, style: CSSStyleDeclaration): void {
  if (!/\S/.test(node.data)) {
    if (place.block.run) place.block.run.text += ' ';
    return;
  }
  if (!inks(el, style) || !textInSight(node, place.sight.flow)) {
    place.look.hide(node);
    return;
  }
  const run = place.block.run ?? runIn(place);
  if (run.text === '' && place.tally.texts) place.tally.left -= node.data.length;
  run.text = head(run.text + head(node.data, ENOUGH), ENOUGH);
  if (place.fresh || place.look.isNew(node)) place.look.meet(run, node, place.inert);
}

/** Text that stands in one piece, as far as anybody is told of it. */
function runIn(place: Place): Item {
  const near = place.inert ? [] : [place.block, ...place.beyond];
  const run: Item = { ...item('text', 'text', null), near };
  place.block.run = run;
  place.out.push(run);
  return run;
}

const ENOUGH = 8000;

function push(place: Place, it: Item): void {
  put(place, it);
  if (it.kind === 'control') counted(place, it);
}

function put(place: Place, it: Item): void {
  it.now = place.sight.now;
  place.out.push(it);
  place.block.run = null;
}

/** Something to operate is shown, with the text around it. */
function counted(place: Place, it: Item): void {
  place.tally.left -= it.role.length + (it.el ? leastLength(it.el) : 0);
  label(place);
}

function label({ block, beyond }: Place): void {
  block.labels = true;
  for (const holder of beyond) holder.labels = true;
}
