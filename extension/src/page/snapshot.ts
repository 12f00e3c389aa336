import { cut, whereabouts } from './bounds.ts';
import type { Line, Snapshot, SnapshotArgs } from './contract.ts';
import { isA, own } from './dom.ts';
import { fold } from './flat.ts';
import { unseenFrames } from './frames.ts';
import type { Item } from './items.ts';
import { isPressable, item } from './items.ts';
import { nameOf } from './names.ts';
import type { Look } from './news.ts';
import { doc, elementOf, numberOf } from './nodes.ts';
import { canSee } from './sight.ts';
import { heldBy, linkOf, statesOf } from './states.ts';
import { walk } from './walk.ts';

/** A label in the default view is a label, not the article. */
const LONGEST_LABEL = 160;
/** Where all text is asked for; what is longer is get_text's to read. */
const LONGEST_TEXT = 4000;
/** Enough of an address to tell where it leads; the rest is there where all text is asked for. */
const LONGEST_ADDRESS = 40;
/** The cells of a row are data; what an article says at length is get_text's to read. */
const LONGEST_ENTRY = 320;
/** New text is told as far as this, a piece. */
const LONGEST_NEWS = 300;
const MOST_OPTIONS = 12;
/** What a dot or a bar between two links has not. */
const SAYS = /[\p{L}\p{N}\p{Sc}\p{So}]/u;
/** Fewer are shown as often as they come. */
const FEW_OPTIONS = 3;
/** A box of a pixel stands for what is drawn elsewhere. */
const SEEN_PX = 1;

export function snapshot(args: SnapshotArgs): Snapshot {
  const elsewhere = args.scope !== undefined && args.scope.doc !== doc;
  if (elsewhere && window.top === window) return { doc, ...whereabouts(), lines: [], more: 0 };
  const tally = { left: args.budget, more: 0, texts: args.full === true, news: args.news ?? 0 };
  const scope = args.scope && !elsewhere ? elementOf(args.scope) : null;
  const { items, look } = walk(scope, tally);
  const page = new Page({ full: args.full === true, part: args.scope !== undefined }, args.budget);
  page.add(
    items.flatMap((it) => prune(it, args.full === true)),
    0,
  );
  const unseen = unseenFrames();
  return {
    doc,
    ...whereabouts(),
    ...(unseen.length > 0 && { unseen }),
    lines: page.lines,
    more: page.more + tally.more,
    ...(args.scope === undefined && newsOf(page, look, args.news !== undefined)),
  };
}

/** Ends the look: what is told now is not told again. */
function newsOf(page: Page, look: Look, isAsked: boolean): Pick<Snapshot, 'news'> {
  const gone = look.end();
  const more = look.more + page.untold;
  return isAsked ? { news: { texts: page.news, more, gone } } : {};
}

/** What is left of an item in the view asked for; an item whose line would say nothing hands its children up. */
function prune(it: Item, full: boolean): Item[] {
  if (it.kind === 'text') {
    const shown = full || it.near.some((holder) => holder.labels);
    if (shown && fold(it.text) !== '') return [it];
    return it.news === '' ? [] : [{ ...it, kind: 'news' }];
  }
  const children = it.children.flatMap((child) => prune(child, full));
  const pruned = { ...it, children };
  switch (it.kind) {
    case 'entry':
    case 'live':
      return entry(pruned, full);
    case 'landmark':
    case 'set':
      return children.some(isLine) || isOfUseEmpty(it) ? [pruned] : children;
    default:
      return [pruned];
  }
}

function isLine(it: Item): boolean {
  return it.kind !== 'news';
}

/** A dialog is worth a line by itself, and a pane of mere text can still be scrolled. */
function isOfUseEmpty(it: Item): boolean {
  return it.role.endsWith('dialog') || it.states.includes('scrollable');
}

/** A row, a list entry or a message says its text on its own line. */
function entry(it: Item, full: boolean): Item[] {
  const texts = it.children.filter((child) => child.kind === 'text');
  const rest = it.children.filter((child) => child.kind !== 'text');
  if (texts.length === 0 && it.kind === 'entry' && !isPressable(it)) return rest;
  if (isPressable(it)) return [{ ...it, children: rest }];
  if (full && rest.length > 0) return [it];
  const said = texts.map((child) => fold(child.text)).join(' | ');
  return said === '' && !rest.some(isLine) ? rest : [{ ...it, text: said, children: rest }];
}

/** All text is shown; only a part of the page is. */
type View = { full: boolean; part: boolean };

/** Lines within a budget of characters; what comes after it is counted, neither named nor numbered. */
class Page {
  readonly lines: Line[] = [];
  more = 0;
  /** Text that has come, each by how many lines stand before it, and how many characters there was no room for. */
  readonly news: { at: number; text: string }[] = [];
  untold = 0;
  /** The last element told of is outside of the window. */
  #away = false;
  /** The lists of options that have been shown: in a table the same one often stands in each row. */
  readonly #lists = new Set<string>();
  readonly #view: View;
  #left: number;

  constructor(view: View, budget: number) {
    this.#view = view;
    this.#left = budget;
  }

  add(items: Item[], depth: number): void {
    for (const [i, each] of items.entries()) {
      if (each.kind === 'news') this.#tell(each);
      if (this.#isSilent(each, items[i + 1])) continue;
      const it = this.#merges(depth) && this.#left > 0 ? merged(each) : each;
      if (this.#left <= 0) this.more += 1;
      else this.#put(this.#placed(it, describe(it, depth, this.#view)));
      this.add(this.#shown(it), depth + 1);
    }
  }

  /** Whether it has no line of its own. */
  #isSilent(it: Item, next: Item | undefined): boolean {
    return !isLine(it) || (!this.#view.full && (isMere(it) || isNamed(it, next)));
  }

  /** New text with what stands beside it, where that is short. */
  #tell(it: Item): void {
    if (!SAYS.test(it.text)) return;
    const all = fold(it.text);
    const text = all.length <= LONGEST_LABEL ? all : fold(it.news);
    const said = cut(text, LONGEST_NEWS);
    this.untold += text.length - said.length;
    this.news.push({ at: this.lines.length, text: said });
  }

  /** What a scope names is what its first line is of. */
  #merges(depth: number): boolean {
    return !this.#view.full && !(this.#view.part && depth === 0);
  }

  /** Says only where the window ends and begins: on each line it would cost more than it tells. */
  #placed(it: Item, line: Line): Line {
    const away = isAway(it) ?? this.#away;
    if (away === this.#away) return line;
    this.#away = away;
    return { ...line, states: [...(line.states ?? []), away ? 'offscreen' : 'onscreen'] };
  }

  #put(line: Line): void {
    this.lines.push(line);
    this.#left -= lengthOf(line);
  }

  #shown(it: Item): Item[] {
    const options = it.children.filter((child) => child.kind === 'option');
    if (this.#view.full || options.length < FEW_OPTIONS) return it.children;
    const all = options.map(({ el }) => (isA(el, 'option') ? el.label : '')).join('\n');
    if (this.#lists.has(all)) return [note(`the same ${options.length} options as above`)];
    this.#lists.add(all);
    if (options.length <= MOST_OPTIONS) return it.children;
    const rest = note(`${options.length - MOST_OPTIONS} more options`);
    return [...options.slice(0, MOST_OPTIONS), rest];
  }
}

function note(text: string): Item {
  return { ...item('text', 'text', null), text };
}

/** Whether the text only parts what stands around it. */
function isMere(it: Item): boolean {
  return it.kind === 'text' && !SAYS.test(it.text);
}

/** Whether the text does nothing but name the control after it. */
function isNamed(it: Item, next: Item | undefined): boolean {
  if (it.kind !== 'text' || next?.kind !== 'control' || next.el === null) return false;
  return (
    own(next.el).hasAttribute('aria-labelledby') && nameOf(next.el, next.role) === fold(it.text)
  );
}

/** One line for a heading that is a link or a button, or a link that is a heading: it tells the heading's level. */
function merged(it: Item): Item {
  const [inner, ...others] = it.children.filter((child) => child.kind !== 'text' && isLine(child));
  if (!inner?.el || !it.el || others.length > 0) return it;
  if (it.role === 'heading' && ['link', 'button'].includes(inner.role) && !isPressable(it)) {
    if (nameOf(it.el, it.role) !== nameOf(inner.el, inner.role)) return it;
    return { ...inner, states: [...inner.states, ...statesOf(it.el, it.role)] };
  }
  if (it.role !== 'link' || inner.role !== 'heading' || inner.children.length > 0) return it;
  if (isPressable(inner) || !nameOf(it.el, it.role).includes(nameOf(inner.el, inner.role)))
    return it;
  return { ...it, states: [...it.states, ...statesOf(inner.el, inner.role)], children: [] };
}

/** Whether the element is outside of the window, or scrolled out of its pane; undefined where it has no box. */
function isAway(it: Item): boolean | undefined {
  if (it.el === null || it.now === null) return undefined;
  const box = own(it.el).getBoundingClientRect();
  const drawn = box.width > SEEN_PX && box.height > SEEN_PX;
  return drawn ? !canSee(box, it.now) : undefined;
}

function lengthOf(line: Line): number {
  const states = (line.states ?? []).reduce((sum, state) => sum + state.length + 3, 0);
  const ref = line.node === undefined ? 0 : 10;
  const url = line.url === undefined ? 0 : line.url.length + 7;
  const value = line.value === undefined ? 0 : line.value.length + 2;
  return (
    2 * line.depth + 6 + line.role.length + (line.name?.length ?? 0) + states + ref + url + value
  );
}

function describe(it: Item, depth: number, view: View): Line {
  if (it.el === null) return textLine(it, depth, view.full);
  const line: Line = { depth, role: it.role };
  const quiet = (it.kind === 'entry' && !isPressable(it)) || it.kind === 'live';
  const name = quiet ? '' : nameOf(it.el, it.role);
  if (name !== '') line.name = name;
  if (hasRef(it)) line.node = numberOf(it.el);
  const states = [...it.states, ...stated(it, it.el)];
  if (states.length > 0) line.states = states;
  if (it.kind === 'frame') line.frame = true;
  addContent(line, it, view);
  return line;
}

/** The states of its element; which option of a list is chosen, the line of a list that takes one says. */
function stated(it: Item, el: Element): string[] {
  const states = statesOf(el, it.role);
  const list = it.kind === 'option' ? own(el).closest('select') : null;
  return isA(list, 'select') && !list.multiple ? states.filter((s) => s !== 'selected') : states;
}

function addContent(line: Line, it: Item, view: View): void {
  if (it.el === null || it.kind === 'option') return;
  const value = it.text === '' ? heldBy(it.el) : it.text;
  if (value !== undefined) line.value = cut(value, longest(it, view.full));
  const url = linkOf(it.el);
  if (url === undefined || (it.kind !== 'frame' && !view.full && !view.part && isHere(url))) return;
  line.url = view.full ? url : cut(url, LONGEST_ADDRESS);
}

function longest(it: Item, full: boolean): number {
  if (full) return LONGEST_TEXT;
  return it.role === 'article' ? LONGEST_LABEL : LONGEST_ENTRY;
}

/** Whether an address is of this site: where all of a page is listed, a link's name tells what it leads to. */
function isHere(url: string): boolean {
  return url.startsWith('/') || url.startsWith('#');
}

function hasRef(it: Item): boolean {
  return (
    it.kind === 'control' ||
    isPressable(it) ||
    it.kind === 'landmark' ||
    it.kind === 'set' ||
    it.kind === 'frame'
  );
}

function textLine(it: Item, depth: number, full: boolean): Line {
  const line: Line = { depth, role: it.role };
  if (it.states.length > 0) line.states = it.states;
  const text = fold(it.text);
  if (text !== '') line.value = cut(text, full ? LONGEST_TEXT : LONGEST_LABEL);
  return line;
}
