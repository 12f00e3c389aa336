import { cut, LONGEST_NAME } from './bounds.ts';
import { elementNow, enterAsTyped, kept, noSuch } from './choice.ts';
import type {
  Chosen,
  ChosenArgs,
  OptionArgs,
  OptionFound,
  PopupArgs,
  PopupState,
  Target,
} from './contract.ts';
import { holderOf, isA, isHTML, own } from './dom.ts';
import { Refusal } from './failure.ts';
import { resolve } from './find.ts';
import { closest, elementsOf, fold, within } from './flat.ts';
import { fieldOf, focusedElement, isField } from './keyboard.ts';
import { landed } from './landing.ts';
import { frame } from './locate.ts';
import { nameOf, textOf } from './names.ts';
import { doc, numberOf } from './nodes.ts';
import { roleOf } from './roles.ts';
import { scrolls } from './sight.ts';
import { isDisabled } from './states.ts';
import { canBeSeen, newText, newTexts, noteTexts, textsBy } from './unmarked.ts';

/**
 * A list that the page made of its own elements: it is opened by a press, its options may stand anywhere in the
 * document and only while it is open, and an option is taken by another press. The presses are the edge's.
 */

const OPTIONS = ['option', 'menuitem', 'menuitemradio', 'menuitemcheckbox', 'treeitem', 'radio'];
const LISTS = ['listbox', 'menu', 'tree', 'radiogroup', 'menubar', 'grid', 'dialog'];

/** How long options may take to come, to be found by their text, and to stay as they are to count as all there are. */
const COMING_MS = 1500;
const SOON_MS = 700;
const SEARCH_MS = 3000;
const STILL_MS = 300;
/** How far a list is scrolled for an option that is not drawn yet. */
const MOST_SCREENS = 60;
const MOST_OFFERED = 30;

/** What was there before the list was opened is not in it. */
let before = new WeakSet<Element>();
/** The element whose list was opened for an action, by a press. */
let opened: Element | null = null;
/** What the last option was called, its element, and what there was to choose from. */
let last: { name: string; el: Element; isCommand: boolean } | null = null;
let offered: string[] = [];

/** Whether the list is open, and else what to press for it. */
export async function popup(args: PopupArgs): Promise<PopupState> {
  const el = resolve(args.target);
  before = new WeakSet();
  last = null;
  noteTexts(fold(args.value));
  if (isList(el) || (isExpanded(el) && optionsOf(el).length > 0)) return { open: true };
  for (const option of everyOption(el)) before.add(option);
  const focused = focusedElement();
  if (focused !== null && within(focused, el) && isField(focused)) {
    // A field that has the keyboard already would not notice that it gets it.
    if (isHTML(focused)) own(focused).blur();
    await pause(150);
  }
  opened = el;
  return { open: false, press: { doc, node: numberOf(el) } };
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

function isList(el: Element): boolean {
  return LISTS.includes(roleOf(el));
}

function isExpanded(el: Element): boolean {
  return own(el).getAttribute('aria-expanded') === 'true';
}

/** Waits for the option, looks for it by scrolling and by typing, and answers which element it is. */
export async function option(args: OptionArgs): Promise<OptionFound> {
  const el = resolve(args.target);
  const wanted = fold(args.value);
  let found = await appearing(el, wanted, searchField(el) === null ? COMING_MS : SOON_MS);
  offered = offeredBy(el);
  found ??= await scrolledTo(el, wanted);
  found ??= await searched(el, wanted);
  if (found === null) return mayBeShut(el) ? { missing: true, shut: true } : { missing: true };
  // An entry of a menu does something, and is not kept as a choice.
  last = { name: labelOf(found), el: found, isCommand: roleOf(found) === 'menuitem' };
  if (isChosen(found) && isMultiple(found)) return { chosen: true };
  return { press: { doc, node: numberOf(found) } };
}

/**
 * A list that was opened for this is shut again. Escape does that, but to a dialog around it too where the page does not
 * take care.
 */
function mayBeShut(el: Element): boolean {
  if (el !== opened || (!isExpanded(el) && offered.length === 0)) return false;
  return closest(el, (at) => roleOf(at).endsWith('dialog')) === null;
}

/** What a person could choose. */
function offeredBy(el: Element): string[] {
  const options = optionsOf(el).filter((option) => !isDisabled(option));
  if (options.length > 0) return options.map(labelOf);
  const drawn = listsOf(el).flatMap(textsBy);
  return (drawn.length > 0 || isList(el) ? drawn : newTexts(el)).slice(0, MOST_OFFERED);
}

/** The option once it is there; null when the options have stood still for a while without it. */
async function appearing(el: Element, wanted: string, most: number): Promise<Element | null> {
  const start = performance.now();
  let shape = '';
  let since = start;
  for (;;) {
    const options = optionsOf(el);
    const found = matching(options, wanted) ?? unmarked(options, wanted, el);
    if (found !== null) return found;
    const now = performance.now();
    const shown = options.map(labelOf).join('\n');
    // "Searching…" is no option yet.
    if (shown !== shape || options.every(isDisabled)) [shape, since] = [shown, now];
    if (now - since > STILL_MS || now - start > most) return null;
    await frame();
  }
}

function unmarked(options: Element[], wanted: string, el: Element): Element | null {
  return options.length === 0 && !isList(el) ? newText(wanted, el) : null;
}

function matching(options: Element[], wanted: string): Element | null {
  const free = options.filter((option) => !isDisabled(option));
  const loose = wanted.toLowerCase();
  return (
    free.find((option) => labelOf(option) === wanted) ??
    free.find((option) => givenValue(option) === wanted) ??
    free.find((option) => labelOf(option).toLowerCase() === loose) ??
    free.find((option) => fold(textOf(option)) === wanted) ??
    null
  );
}

function labelOf(option: Element): string {
  return nameOf(option, roleOf(option) || 'option') || textOf(option);
}

function givenValue(option: Element): string | null {
  return own(option).getAttribute('data-value') ?? own(option).getAttribute('value');
}

/** A long list may draw only what is in view. */
async function scrolledTo(el: Element, wanted: string): Promise<Element | null> {
  const [first] = optionsOf(el);
  const pane = closest(first ?? null, (at) => scrolls(getComputedStyle(at).overflowY));
  if (pane === null || own(pane).scrollHeight <= own(pane).clientHeight + 1) return null;
  own(pane).scrollTop = 0;
  for (let screen = 0; screen < MOST_SCREENS; screen += 1) {
    for (let i = 0; i < 2; i += 1) await frame();
    const found = matching(optionsOf(el), wanted);
    if (found !== null) return await steady(el, wanted, found);
    const stood = own(pane).scrollTop;
    own(pane).scrollBy({ top: own(pane).clientHeight * 0.8, behavior: 'instant' });
    if (own(pane).scrollTop === stood) return null;
  }
  return null;
}

/** The option where it is drawn last: a list that draws what is in view draws it anew as it comes there. */
async function steady(el: Element, wanted: string, found: Element): Promise<Element> {
  let at = found;
  for (let round = 0; round < 5; round += 1) {
    own(at).scrollIntoView({ block: 'center', behavior: 'instant' });
    for (let i = 0; i < 2; i += 1) await frame();
    const now = matching(optionsOf(el), wanted);
    if (now === null || now === at) return at;
    at = now;
  }
  return at;
}

/** Types the option's name where the list has a field to narrow it; puts back what was there when that does not help. */
async function searched(el: Element, wanted: string): Promise<Element | null> {
  const field = searchField(el);
  if (field === null) return null;
  const held = field.value;
  field.focus({ preventScroll: true });
  enterAsTyped(field, wanted);
  const found = await appearing(el, wanted, offered.length > 0 ? COMING_MS : SEARCH_MS);
  if (found === null) {
    if (offered.length === 0) offered = offeredBy(el);
    enterAsTyped(field, held);
  }
  return found;
}

/** Where a person would type to narrow the list. */
function searchField(el: Element): HTMLInputElement | HTMLTextAreaElement | null {
  const now = focusedElement();
  const field = now !== null && isField(now) ? now : fieldOf(el);
  const takesText = isA(field, 'input') || isA(field, 'textarea');
  return takesText && !field.readOnly ? field : null;
}

/** The options that can be seen now: of the list that the element names, else of what has come since it was opened. */
function optionsOf(el: Element): Element[] {
  if (isList(el)) return [...elementsOf(el)].filter(isOption);
  const lists = listsOf(el);
  const inside = lists.flatMap((list) => [...elementsOf(list)].filter(isOption));
  if (inside.length > 0) return inside;
  return everyOption(el).filter((option) => !before.has(option) && roleOf(option) !== 'radio');
}

function isOption(el: Element): boolean {
  return (
    OPTIONS.includes(roleOf(el)) && (canBeSeen(el) || Array.from(own(el).children).some(canBeSeen))
  );
}

const SELECTOR = OPTIONS.map((role) => `[role~="${role}"]`).join(',');

/** All options of the document and of the shadow trees that the element stands in. */
function everyOption(el: Element): Element[] {
  const roots = new Set<ParentNode>([document]);
  for (let at: Element | null = el; at !== null; ) {
    const root = own(at).getRootNode();
    if (!(root instanceof ShadowRoot)) break;
    roots.add(root);
    at = root.host;
  }
  const all = [...roots].flatMap((root) => Array.from(root.querySelectorAll(SELECTOR)));
  return all.filter(isOption);
}

/** The lists that the element, what it stands in, or what stands in it, says it opens. */
function listsOf(el: Element): Element[] {
  const near = [el, ...elementsOf(el)];
  const outer = closest(holderOf(el), (at) => roleOf(at) === 'combobox');
  if (outer !== null) near.push(outer);
  const ids = near.flatMap((at) =>
    ['aria-controls', 'aria-owns'].flatMap((name) =>
      (own(at).getAttribute(name) ?? '').split(/\s+/).filter((id) => id !== ''),
    ),
  );
  const root = own(el).getRootNode();
  const find = (id: string) =>
    (root instanceof ShadowRoot ? root.getElementById(id) : null) ?? document.getElementById(id);
  return ids.map(find).filter((list) => list !== null);
}

function isChosen(option: Element): boolean {
  return ['aria-selected', 'aria-checked'].some(
    (name) => own(option).getAttribute(name) === 'true',
  );
}

function isMultiple(option: Element): boolean {
  const list = closest(option, isList);
  return list !== null && own(list).getAttribute('aria-multiselectable') === 'true';
}

/** What was chosen, and whether the element shows it; refuses with the real options when there was no such one. */
export async function chosen(args: ChosenArgs): Promise<Chosen> {
  if (args.missing === true) refuseMissing();
  if (args.set === true) return kept(args.target);
  const called = last?.name ?? args.values.at(-1) ?? '';
  const answer: Chosen = { values: [cut(called, LONGEST_NAME)], shown: false, landed: false };
  if (args.at !== undefined) {
    answer.landed = landed({ doc: args.doc ?? doc, at: args.at }).landed;
  }
  if (args.doc !== undefined && args.doc !== doc) return answer; // the choice led to another page
  const start = performance.now();
  while (!isShown(args.target, called) && performance.now() - start < COMING_MS) await frame();
  return { ...answer, shown: isShown(args.target, called) };
}

/** Leaves the list as a person would who does not find it there. */
function refuseMissing(): never {
  const focused = focusedElement();
  if (focused !== null && isHTML(focused)) own(focused).blur();
  if (offered.length > 0) throw noSuch(offered);
  throw new Refusal('not_found', 'No options came up: the list may open in another way.');
}

/** Whether the element, or a tag beside it, says that the option is chosen. */
function isShown(target: Target, called: string): boolean {
  if (last?.isCommand || (last !== null && own(last.el).isConnected && isChosen(last.el)))
    return true;
  const el = elementNow(target);
  if (el === null) return false;
  const field = fieldOf(el);
  const holds = isA(field, 'input') || isA(field, 'textarea') ? fold(field.value) : undefined;
  if (holds === called || own(el).getAttribute('aria-valuetext') === called) return true;
  return around(el).some((at) => textOf(at).includes(called));
}

/** The element and what holds it closely, as far as the option itself is not in it. */
function around(el: Element): Element[] {
  const near: Element[] = [];
  for (let at: Element | null = el; at !== null && near.length < 3; at = holderOf(at)) {
    if (at === document.body || (last !== null && within(last.el, at))) break;
    near.push(at);
  }
  return near;
}
