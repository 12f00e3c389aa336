/** Looking something up on a page of any length, without describing the rest of it. */

import { address, cut, LONGEST_NAME, site } from './bounds.ts';
import type { FindArgs, Line, Snapshot } from './contract.ts';
import { isA, isElement, isText, tagOf } from './dom.ts';
import { fitting, isListed } from './find.ts';
import { childrenOf, closest, fold, parentOf, within } from './flat.ts';
import { unseenFrames } from './frames.ts';
import { nameOf, textOf } from './names.ts';
import { doc, numberOf } from './nodes.ts';
import { kindOf, roleOf } from './roles.ts';
import { enter, inks, sightOf, textInSight } from './sight.ts';
import { snapshot } from './snapshot.ts';
import { SKIPPED } from './walk.ts';

/** What one match may say: a row, an entry, a paragraph. */
const ONE_MATCH = 3000;
/** What of a match's surroundings is told. */
const LONGEST_HOLDER = 40;
/** More places of one text than this are not looked at. */
const MOST_PLACES = 1000;

export function search(args: FindArgs & { budget: number }): Omit<Snapshot, 'title'> {
  const page = new Results(args.budget);
  if (args.role || args.name) for (const el of elements(args)) page.addLine(el);
  else for (const el of new Set(places(args.text ?? '').map(around))) page.addWhole(el);
  const { lines, more } = page;
  return { doc, url: address(), site: site(), lines, more, unseen: unseenFrames() };
}

/** Elements by role and name; where there is a text, those nearest to each of its places. */
function elements(wanted: FindArgs): Element[] {
  const all = fitting(wanted);
  if (!wanted.text) return all;
  const above = new Map<Element, Element[]>();
  for (const el of all) {
    closest(el, (at) => {
      const held = above.get(at);
      if (held) held.push(el);
      else above.set(at, [el]);
      return isEntry(at); // what stands in one row is not near to another
    });
  }
  const near = new Set(places(wanted.text).flatMap((place) => nearest(place, above)));
  return all.filter((el) => near.has(el));
}

/** Climbing up from the place, the first thing that holds any; never beyond the entry that the place stands in. */
function nearest(place: Element, above: Map<Element, Element[]>): Element[] {
  let entry: Element | null = null;
  closest(place, (at) => {
    if (isEntry(at)) entry = at;
    return false;
  });
  const held = closest(place, (at) => above.has(at) || at === entry);
  return (held && above.get(held)) ?? [];
}

/** A row, a list entry and the like: what stands in it belongs together. */
function isEntry(el: Element): boolean {
  return kindOf(el, roleOf(el)) === 'entry';
}

/** What to show of a place: the row, else the control or message that it is part of or labels, else itself. */
function around(place: Element): Element {
  const row = closest(place, (at) => ['row', 'listitem'].includes(roleOf(at)));
  if (row !== null) return row;
  const label = closest(place, (at) => isA(at, 'label'));
  if (isA(label, 'label') && label.control) return label.control;
  return closest(place, (at) => SAYING.includes(kindOf(at, roleOf(at)))) ?? place;
}

const SAYING = ['control', 'heading', 'live'];

/** The innermost elements that hold the text and show it, in document order. */
function places(text: string): Element[] {
  const needle = fold(text).toLowerCase();
  const root = document.body ?? document.documentElement;
  if (needle === '' || root === null) return [];
  const page = new Reading();
  page.gather(root);
  return page.placesOf(needle);
}

/** What a page says as one string, and which text each part of it came from. */
class Reading {
  readonly #said: string[] = [];
  #length = 0;
  #spaced: boolean = true;
  readonly #parts: { at: number; text: Text }[] = [];

  gather(el: Element): void {
    if (SKIPPED.has(tagOf(el))) return;
    for (const child of childrenOf(el)) {
      if (isText(child)) this.#add(child);
      else if (isElement(child)) {
        const apart = !INLINE.has(tagOf(child));
        if (apart) this.#space();
        this.gather(child);
        if (apart) this.#space();
      }
    }
  }

  #add(text: Text): void {
    const said = text.data.replace(/\s+/g, ' ').toLowerCase();
    this.#parts.push({ at: this.#length, text });
    this.#say(this.#spaced && said.startsWith(' ') ? said.slice(1) : said);
  }

  #space(): void {
    if (!this.#spaced) this.#say(' ');
  }

  #say(said: string): void {
    if (said === '') return;
    this.#said.push(said);
    this.#length += said.length;
    this.#spaced = said.endsWith(' ');
  }

  placesOf(needle: string): Element[] {
    const said = this.#said.join('');
    const found: Element[] = [];
    let at = said.indexOf(needle);
    for (let looked = 0; at >= 0 && looked < MOST_PLACES; looked += 1) {
      const holder = this.#holder(at, at + needle.length - 1);
      if (holder !== null) found.push(holder);
      at = said.indexOf(needle, at + needle.length);
    }
    return found;
  }

  /** The innermost element around the texts from one character to another; null where they do not show. */
  #holder(first: number, last: number): Element | null {
    const from = this.#parts[this.#partAt(first)]?.text;
    const to = this.#parts[this.#partAt(last)]?.text;
    if (!from || !to || !shows(from)) return null;
    return closest(from, (at) => within(to, at));
  }

  #partAt(position: number): number {
    let low = 0;
    let high = this.#parts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#parts[middle]?.at ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Elements that do not part the words before and after them. */
const INLINE = new Set(
  'a abbr b bdi bdo cite code data dfn em font i kbd label mark q s samp small span strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);

function shows(text: Text): boolean {
  const el = parentOf(text);
  const above = el && sightOf(el);
  if (el === null || above === null) return false;
  const style = getComputedStyle(el);
  const sight = enter(el, style, above);
  return sight !== null && inks(el, style) && textInSight(text, sight.flow);
}

/** Lines of what was found, within a budget of characters. */
class Results {
  readonly lines: Line[] = [];
  more = 0;
  #left: number;
  #under: Element | null = null;

  constructor(budget: number) {
    this.#left = budget;
  }

  /** All that a snapshot says of the element; what has no line of its own is said as text. */
  addWhole(el: Element): void {
    if (this.#left <= 0) this.more += 1;
    else this.#put(el, wholeOf(el));
  }

  /** The element's own line. */
  addLine(el: Element): void {
    if (this.#left <= 0) this.more += 1;
    else if (isListed(el)) this.#put(el, ownLine(el));
  }

  /** Lines below that of what they stand in, which is said once for all that follow in it. */
  #put(el: Element, lines: Line[]): void {
    if (lines.length === 0) return;
    const holder = holderLine(el);
    if (holder !== null && holder.el !== this.#under) this.#add({ ...holder.line, depth: 0 });
    this.#under = holder?.el ?? null;
    const below = holder === null ? 0 : 1;
    for (const line of lines) this.#add({ ...line, depth: line.depth + below });
  }

  #add(line: Line): void {
    this.lines.push(line);
    this.#left -= JSON.stringify(line).length;
  }
}

function linesOf(el: Element, full: boolean): Line[] {
  const scope = { doc, node: numberOf(el) };
  return snapshot({ full, scope, budget: ONE_MATCH }).lines.map(wherever);
}

/** Where the window ends is no help among things from all over the page. */
function wherever(line: Line): Line {
  if (line.states === undefined) return line;
  const { states, ...rest } = line;
  const kept = states.filter((state) => state !== 'offscreen' && state !== 'onscreen');
  return kept.length === 0 ? rest : { ...rest, states: kept };
}

function wholeOf(el: Element): Line[] {
  const lines = linesOf(el, kindOf(el, roleOf(el)) === 'none');
  if (lines.length > 0) return lines;
  return [{ depth: 0, role: 'text', value: cut(textOf(el), LONGEST_NAME) }];
}

/** The element's own line; an entry that has none begins with that of what stands in it. */
function ownLine(el: Element): Line[] {
  const role = roleOf(el) || 'generic';
  return linesOf(el, false)
    .slice(0, 1)
    .filter((line) => line.role === role);
}

const HOLDERS = ['entry', 'landmark', 'set', 'live'];

/** The line of the nearest thing around the element that a snapshot gives one. */
function holderLine(el: Element): { el: Element; line: Line } | null {
  let at = parentOf(el);
  while (at !== null) {
    const role = roleOf(at);
    const kind = kindOf(at, role);
    const line = HOLDERS.includes(kind) ? lineOf(at, role, kind) : undefined;
    if (line?.role === role) return { el: at, line };
    at = parentOf(at);
  }
  return null;
}

/** What holds a match is told so far that it is known again; a row's cells all belong to the match. */
function shortened(line: Line | undefined): Line | undefined {
  if (line?.value === undefined || line.role === 'row') return line;
  return { ...line, value: cut(line.value, LONGEST_HOLDER) };
}

/** An entry says its text; a region, which may be the whole page, is only named. */
function lineOf(el: Element, role: string, kind: string): Line | undefined {
  if (kind === 'entry' || kind === 'live') return shortened(linesOf(el, false)[0]);
  const name = nameOf(el, role);
  const line: Line = { depth: 0, role, node: numberOf(el) };
  return name === '' ? line : { ...line, name };
}
