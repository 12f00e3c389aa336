import { cut, whereabouts } from './bounds.ts';
import type { Text as Passage, TextArgs } from './contract.ts';
import { isA, isElement, isText, own, tagOf } from './dom.ts';
import { childrenOf } from './flat.ts';
import { nameOf } from './names.ts';
import { doc, elementOf, numberOf } from './nodes.ts';
import { kindOf, roleOf } from './roles.ts';
import type { Sight } from './sight.ts';
import { boxInSight, enter, inks, sightOf, standsIn, textInSight } from './sight.ts';
import { linkOf } from './states.ts';
import { SKIPPED } from './walk.ts';
import { Writer } from './writer.ts';

const LONGEST_LINK = 200;

/**
 * Readable text: what a person can see, a line a block, links with their addresses, table rows with bars between their
 * cells. Of another document than the scope's, the top one says nothing and a frame all: it may stand in the scope.
 */
export function text(args: TextArgs): Passage {
  const page = new Writer({ limit: args.limit });
  const here = args.scope === undefined || args.scope.doc === doc;
  const root = args.scope && here ? elementOf(args.scope) : null;
  if (here || window.top !== window) begin(root, page);
  const all = page.toString();
  const part = cutPair(all.slice(0, args.limit));
  const more = all.length - part.length + (page.isFull ? unread(root, page) : 0);
  return { doc, ...whereabouts(), text: part, more, frames: page.frames };
}

/** About how many characters are left to say, by what was made of those that were read; 1 at least. */
function unread(scope: Element | null, page: Writer): number {
  const root = scope ?? document.body ?? document.documentElement;
  const all = root && own(root).textContent;
  const left = (all ?? '').length - page.read;
  return Math.max(1, Math.round((left * page.length) / Math.max(1, page.read)));
}

/** Never half of a surrogate pair. */
function cutPair(part: string): string {
  const last = part.charCodeAt(part.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? part.slice(0, -1) : part;
}

/** The text alone, without marks for what it is. */
export function readable(scope: Element | null): string {
  const page = new Writer({ plain: true });
  begin(scope, page);
  return page.toString();
}

function begin(scope: Element | null, page: Writer): void {
  const root = scope ?? document.body ?? document.documentElement;
  const sight = root && sightOf(root);
  if (sight) read(root, { sight, row: null, cell: false }, page);
}

/** Where in the page the reading stands. */
type Around = {
  sight: Sight;
  /** The row of a table of data; its cells are counted. */
  row: { cells: number } | null;
  /** In a cell of such a row, where nothing breaks the line. */
  cell: boolean;
};

function read(el: Element, around: Around, page: Writer): void {
  const tag = tagOf(el);
  if (page.isFull || SKIPPED.has(tag) || tag === 'select') return;
  const style = getComputedStyle(el);
  const sight = enter(el, style, around.sight);
  if (sight === null) return;
  if (tag === 'iframe' || tag === 'frame') {
    const seen = style.visibility === 'visible' && boxInSight(el, standsIn(style, around.sight));
    if (seen) page.frame(numberOf(el));
    return;
  }
  const inside = { ...around, sight };
  if (around.cell) readInline(el, { style, around: inside }, page);
  else if (around.row && isCell(el, style)) readCell(el, { style, around: inside }, page);
  else readBlock(el, { style, around: inside }, page);
}

type Seen = { style: CSSStyleDeclaration; around: Around };

function readBlock(el: Element, seen: Seen, page: Writer): void {
  const { display } = seen.style;
  const cell = display === 'table-cell';
  const block = !cell && display !== 'contents' && !display.startsWith('inline');
  if (block || tagOf(el) === 'br') page.end();
  if (cell && page.pending !== '') page.bar();
  page.mark(markOf(el));
  readNamed(el, { ...seen, around: { ...seen.around, row: rowOf(el, seen) } }, page);
  if (block) page.end();
}

function readCell(el: Element, seen: Seen, page: Writer): void {
  const row = seen.around.row;
  if (row) {
    if (row.cells > 0) page.bar();
    row.cells += 1;
  }
  readNamed(el, { ...seen, around: { ...seen.around, row: null, cell: true } }, page);
}

function readInline(el: Element, seen: Seen, page: Writer): void {
  const apart = !seen.style.display.startsWith('inline') || tagOf(el) === 'br';
  if (apart) page.add(' ');
  readNamed(el, seen, page);
  if (apart) page.add(' ');
}

/** What stands in it, with its address where it leads somewhere. */
function readNamed(el: Element, seen: Seen, page: Writer): void {
  const from = page.spot();
  readInside(el, seen, page);
  if (page.isAt(from)) page.add(unwrittenName(el, seen.style));
  const link = tagOf(el) === 'a' ? addressOf(el) : '';
  if (link !== '') page.link(from, link);
}

function readInside(el: Element, seen: Seen, page: Writer): void {
  const shut = isA(el, 'details') && !el.open;
  for (const child of childrenOf(el)) {
    if (isElement(child)) {
      if (!shut || tagOf(child) === 'summary') read(child, seen.around, page);
    } else if (isText(child) && !shut) readText(child, el, seen, page);
  }
}

function readText(node: Text, el: Element, seen: Seen, page: Writer): void {
  page.read += node.data.length;
  if (node.data.trim() === '') page.add(' ');
  else if (inks(el, seen.style) && textInSight(node, seen.around.sight.flow)) {
    write(node.data, seen, page);
  }
}

function write(data: string, { style, around }: Seen, page: Writer): void {
  const lines = !around.cell && data.includes('\n') && style.whiteSpace.startsWith('pre');
  if (lines) page.keep(data.replace(/^\n|\n$/g, ''));
  else page.add(data);
}

/** The row that begins here: of a table that is more than a means to place things, or one by its role. */
function rowOf(el: Element, seen: Seen): Around['row'] {
  const given = own(el).getAttribute('role');
  if (given === 'row') return { cells: 0 };
  if (given === null && isA(el, 'tr')) return isOfData(el) ? { cells: 0 } : null;
  return seen.style.display === 'contents' ? seen.around.row : null;
}

const tables = new WeakMap<Element, boolean>();

function isOfData(row: HTMLTableRowElement): boolean {
  const table = own(row).closest('table');
  if (!isA(table, 'table')) return false;
  const known = tables.get(table);
  if (known !== undefined) return known;
  const data = holdsData(table);
  tables.set(table, data);
  // A page may fill its table later: what was judged holds for this one reading.
  queueMicrotask(() => tables.delete(table));
  return data;
}

function holdsData(table: HTMLTableElement): boolean {
  if (['presentation', 'none'].includes(table.getAttribute('role') ?? '')) return false;
  if (table.querySelector('table, h1, h2, h3, article, section, main') !== null) return false;
  return table.rows.length > 1 && Array.from(table.rows).some((row) => row.cells.length > 1);
}

function isCell(el: Element, style: CSSStyleDeclaration): boolean {
  if (style.display === 'table-cell') return true;
  const role = own(el).getAttribute('role') ?? '';
  return ['cell', 'gridcell', 'columnheader', 'rowheader'].includes(role);
}

function markOf(el: Element): string {
  const tag = tagOf(el);
  if (/^h[1-6]$/.test(tag)) return `${'#'.repeat(Number(tag.slice(1)))} `;
  return tag === 'li' ? '- ' : '';
}

/** A button or picture that shows no text of its own is read by its name. */
function unwrittenName(el: Element, style: CSSStyleDeclaration): string {
  const role = roleOf(el);
  const named = role === 'button' || role === 'link' || role === 'img';
  if (!named || style.visibility !== 'visible' || own(el).getClientRects().length === 0) return '';
  const name = nameOf(el, role);
  return name === '' || kindOf(el, role) === 'frame' ? '' : ` [${name}] `;
}

/** Where a link leads, as far as that is an address to a reader. */
function addressOf(el: Element): string {
  const href = (own(el).getAttribute('href') ?? '').trim();
  if (/^(mailto|tel):/i.test(href)) return cut(href, LONGEST_LINK);
  const link = linkOf(el) ?? '';
  return link.endsWith(':') ? '' : link;
}
