/**
 * Plain text that has come or changed since the page was last looked at. Between two looks an observer notes where
 * text came, and of the text that went enough to know the same text when it comes again; what could not be seen at the
 * last look may have come into sight. Both are only places to look at: whether text shows, the walk decides.
 */

import { holderOf, isElement, isText, own } from './dom.ts';
import { fold, head, onRoot, parentOf } from './flat.ts';
import type { Item } from './items.ts';

/** Places that are noted, and texts that went; beyond that a page is no longer followed until the next look. */
const MOST_PLACES = 3000;
const MOST_GONE = 3000;
/** What could not be seen is noted as far as this, and looked for among so many elements beyond the budget. */
const MOST_HIDDEN = 1000;
const MOST_SOUGHT = 2000;
/** Texts are told apart by their beginnings. */
const COMPARED = 300;
/** Text that another takes the place of so often while no action runs changes by itself. */
const RESTLESS = 3;
const IDLE_MS = 250;
const MOST_TOLD = 20;
const LONGEST_GONE = 100;

type Noted = {
  places: Set<Node>;
  /** What text said before it was changed. */
  was: Map<Node, string>;
  /** What such text said when the latest action began. */
  begun: Map<Node, string>;
  /** How often a text went. */
  gone: Map<string, number>;
  /** More has come than is noted. */
  full: boolean;
};

function nothing(): Noted {
  return { places: new Set(), was: new Map(), begun: new Map(), gone: new Map(), full: false };
}

let noted = nothing();
/** What the latest look told, until something else is asked. */
let before: Noted | null = null;
let isWatching = false;
let told: { node: WeakRef<Text>; text: string }[] = [];

/** How often another text came to stand in the element while no action ran, and when the latest did. */
const restless = new WeakMap<Node, { times: number; at: number }>();
let isActing = 0;
let lastActed = 0;

const observer = new MutationObserver(note);
const OBSERVED = {
  subtree: true,
  childList: true,
  characterData: true,
  characterDataOldValue: true,
};

/** Something is asked or done: what changes meanwhile does not change by itself. */
export function acting(isBegun: boolean): void {
  if (isBegun && isActing === 0 && performance.now() - lastActed > IDLE_MS) begin();
  isActing += isBegun ? 1 : -1;
  lastActed = performance.now();
}

/**
 * An action begins: what it brings is new, though the same stood there at the last look. Text that went before and has
 * come again before is the same text still.
 */
function begin(): void {
  if (!isWatching) return;
  note(observer.takeRecords());
  for (const node of noted.was.keys()) if (isText(node)) noted.begun.set(node, node.data);
  const present = noted.gone.size > 0 ? countGone() : undefined;
  for (const [said, times] of present === undefined ? [] : [...noted.gone]) {
    const back = Math.min(times, present?.get(said) ?? 0);
    if (back > 0) noted.gone.set(said, back);
    else noted.gone.delete(said);
  }
}

/** How often texts that went stand in the noted places; `undefined` where that is too much to look through. */
function countGone(): Map<string, number> | undefined {
  const present = new Map<string, number>();
  let looked = 0;
  for (const { data } of notedTexts()) {
    looked += 1;
    if (looked > MOST_GONE) return undefined;
    const said = beginning(data);
    if (noted.gone.has(said)) present.set(said, (present.get(said) ?? 0) + 1);
  }
  return present;
}

function* notedTexts(): Generator<Text> {
  for (const place of noted.places) {
    if (!place.isConnected) continue;
    if (isText(place)) yield place;
    const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    for (let at = texts.nextNode(); at !== null; at = texts.nextNode()) if (isText(at)) yield at;
  }
}

// Follows the shadow trees too.
onRoot((root) => {
  if (isWatching) observer.observe(root, OBSERVED);
  else waiting.push(new WeakRef(root));
});

const waiting: WeakRef<ShadowRoot>[] = [];

function note(records: readonly MutationRecord[]): void {
  const isIdle = isActing === 0 && performance.now() - lastActed > IDLE_MS;
  for (const record of records) {
    if (noted.full) return;
    if (isIdle) noteIdle(record);
    noteOne(record);
  }
}

function noteOne(record: MutationRecord): void {
  const { target } = record;
  if ((restless.get(target)?.times ?? 0) > RESTLESS) return;
  if (record.type === 'characterData') changed(target, record.oldValue ?? '');
  else replaced(record);
}

/** Text that only grows is news each time. */
function noteIdle({ type, target, oldValue, removedNodes, addedNodes }: MutationRecord): void {
  const isOther =
    type === 'characterData'
      ? isText(target) && !target.data.startsWith(oldValue ?? '')
      : removedNodes.length > 0 && addedNodes.length > 0;
  if (!isOther) return;
  const now = performance.now();
  const known = restless.get(target);
  if (known === undefined) restless.set(target, { times: 1, at: now });
  else if (now - known.at > IDLE_MS) restless.set(target, { times: known.times + 1, at: now });
}

function changed(node: Node, was: string): void {
  if (noted.places.has(node) || isWithinNews(node)) return;
  noted.was.set(node, was);
  add(node);
}

function replaced({ target, addedNodes, removedNodes }: MutationRecord): void {
  if (!isWithinNews(target)) for (let i = 0; i < removedNodes.length; i += 1) left(removedNodes[i]);
  for (let i = 0; i < addedNodes.length; i += 1) {
    const node = addedNodes[i];
    if (isElement(node) || isText(node)) add(node);
  }
}

function add(node: Node): void {
  noted.places.add(node);
  if (noted.places.size <= MOST_PLACES) return;
  for (const each of noted.places) if (!each.isConnected) forget(each);
  noted.full = noted.places.size > MOST_PLACES / 2;
}

function forget(node: Node): void {
  noted.places.delete(node);
  noted.was.delete(node);
  noted.begun.delete(node);
}

/** What has gone was there at the last look, unless it came since. */
function left(node: Node | undefined): void {
  if (node === undefined) return;
  const was = noted.was.get(node);
  const isNews = noted.places.has(node) && was === undefined;
  forget(node);
  if (isNews) return;
  if (isText(node)) went(was ?? node.data);
  else if (isElement(node)) wentAll(node);
}

function wentAll(el: Element): void {
  const texts = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
  for (let at = texts.nextNode(); at !== null; at = texts.nextNode()) {
    if (noted.gone.size >= MOST_GONE) return;
    if (isText(at)) went(at.data);
  }
}

function went(text: string): void {
  const said = beginning(text);
  if (said !== '' && noted.gone.size < MOST_GONE)
    noted.gone.set(said, (noted.gone.get(said) ?? 0) + 1);
}

function beginning(text: string): string {
  return fold(head(text, COMPARED));
}

function isWithinNews(node: Node): boolean {
  if (noted.places.size === 0) return false;
  for (let at: Node | null = node; at !== null; at = holderOf(at)) {
    if (noted.places.has(at) && !noted.was.has(at)) return true;
  }
  return false;
}

/** One walk's look at what has come: it is asked of each place, and gathers what cannot be seen now. */
export class Look {
  readonly hidden: Node[] = [];
  /** What has come and cannot be told yet: it stands behind a dialog. */
  readonly kept: Node[] = [];
  /** How many characters have come beyond what is told. */
  more = 0;
  #left: number;
  #sought = 0;
  #paths: Set<Node> | null = null;
  readonly #places: Set<Node>;
  readonly #gone: Map<string, number>;
  readonly #was: Map<Node, string>;
  readonly #begun: Map<Node, string>;

  /** Without a budget nothing is new. */
  constructor(budget = 0) {
    this.#left = budget;
    if (budget > 0 && isWatching) note(observer.takeRecords());
    const isFirst = budget > 0 && !isWatching;
    this.#places = budget > 0 ? noted.places : new Set();
    if (isFirst) this.#places.add(document.body ?? document.documentElement);
    this.#gone = new Map(budget > 0 ? noted.gone : []);
    this.#was = noted.was;
    this.#begun = noted.begun;
  }

  /** Whether all text from here on is new. */
  isNew(node: Node): boolean {
    return this.#places.size > 0 && this.#places.has(node);
  }

  /** Whether there is something new to be told in what the walk would not look at any more. */
  leadsTo(el: Element, isFresh: boolean): boolean {
    if (this.#left <= 0 || this.#places.size === 0) return false;
    if (isFresh) return true;
    this.#paths ??= pathsTo(this.#places);
    return this.#paths.has(el);
  }

  /** Takes text that shows and is new into the run it stands in. */
  meet(run: Item, node: Text, isInert: boolean): void {
    const fresh = this.#newPart(node);
    if (fresh === '') return;
    if (isInert) this.kept.push(node);
    else if (this.#left <= 0) this.more += fresh.length;
    else {
      this.#left -= fresh.length;
      run.news += `${run.news === '' ? '' : ' '}${head(fresh, COMPARED)}`;
      if (fresh.length > COMPARED) this.more += fresh.length - COMPARED;
      this.#note(node);
    }
  }

  readonly #told: typeof told = [];

  #newPart(node: Text): string {
    const begun = this.#begun.get(node);
    const isOther = begun !== undefined && beginning(begun) !== beginning(node.data);
    const was = isOther ? begun : this.#was.get(node);
    if (was !== undefined) {
      const grown = was.trim() !== '' && node.data.startsWith(was);
      return grown ? node.data.slice(was.length) : this.#unless(node.data, beginning(was));
    }
    const said = beginning(node.data);
    const times = this.#gone.get(said) ?? 0;
    if (times <= 0) return node.data;
    this.#gone.set(said, times - 1);
    if (told.some(({ text }) => text === said)) this.#note(node);
    return '';
  }

  /** Notes what the reader knows of, to tell when it goes. */
  #note(node: Text): void {
    if (this.#told.length < MOST_TOLD)
      this.#told.push({ node: new WeakRef(node), text: beginning(node.data) });
  }

  #unless(text: string, was: string): string {
    return beginning(text) === was ? '' : text;
  }

  /** Notes what cannot be seen. */
  hide(node: Node): void {
    if (this.hidden.length < MOST_HIDDEN) this.hidden.push(node);
  }

  /** Notes what is hidden in an element that is only counted. */
  pass(el: Element, isFresh: boolean): void {
    if (isFresh) this.more += fold(head(own(el).textContent ?? '', 1_000_000)).length;
    if (this.#sought >= MOST_SOUGHT) return;
    const walker = document.createTreeWalker(el, NodeFilter.SHOW_ELEMENT);
    let at: Node | null = el;
    while (at !== null && this.#sought < MOST_SOUGHT) {
      this.#sought += 1;
      const isHidden: boolean =
        isElement(at) && !own(at).checkVisibility({ opacityProperty: true });
      if (isHidden) this.hide(at);
      at = isHidden ? skipped(walker) : walker.nextNode();
    }
  }

  /** What was told and does not stand there any more, and this look is the last one. */
  end(): string[] {
    const gone = told.filter(({ node, text }) => !stands(node.deref(), text));
    told = [...told.filter((each) => !gone.includes(each)), ...this.#told].slice(-MOST_TOLD);
    before = noted;
    noted = nothing();
    for (const node of [...this.hidden, ...this.kept]) noted.places.add(node);
    watch();
    const known = new Set(this.#told.map(({ text }) => text));
    return gone.map(({ text }) => text).filter((t) => t.length <= LONGEST_GONE && !known.has(t));
  }
}

function skipped(walker: TreeWalker): Node | null {
  return walker.nextSibling() ?? above(walker);
}

function above(walker: TreeWalker): Node | null {
  while (walker.parentNode() !== null) {
    const next = walker.nextSibling();
    if (next !== null) return next;
  }
  return null;
}

function stands(node: Text | undefined, text: string): boolean {
  const holder = node?.isConnected ? parentOf(node) : null;
  if (node === undefined || holder === null || beginning(node.data) !== text) return false;
  return own(holder).checkVisibility({ opacityProperty: true, visibilityProperty: true });
}

function pathsTo(places: Set<Node>): Set<Node> {
  const paths = new Set<Node>();
  for (const place of places) {
    if (!place.isConnected) continue;
    for (let at: Node | null = place; at !== null && !paths.has(at); at = parentOf(at))
      paths.add(at);
  }
  return paths;
}

function watch(): void {
  observer.takeRecords();
  if (isWatching) return;
  isWatching = true;
  observer.observe(document, OBSERVED);
  for (const root of waiting.splice(0)) {
    const tree = root.deref();
    if (tree) observer.observe(tree, OBSERVED);
  }
}

/** The latest look is asked for again: what it told is to be told again. */
export function lookAgain(): void {
  if (before === null) return;
  const { places, was, begun, gone, full } = before;
  before = null;
  for (const place of places) noted.places.add(place);
  for (const [node, text] of was) noted.was.set(node, text);
  for (const [node, text] of begun) noted.begun.set(node, text);
  for (const [text, times] of gone) noted.gone.set(text, times + (noted.gone.get(text) ?? 0));
  noted.full ||= full;
}

/** Something else is asked. */
export function lookedAt(): void {
  before = null;
}
