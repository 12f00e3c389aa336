import { whereabouts } from './bounds.ts';
import type { Text as Passage, TextArgs } from './contract.ts';
import { isA, isElement, isText, own, tagOf } from './dom.ts';
import { childrenOf, fold } from './flat.ts';
import { nameOf } from './names.ts';
import { elementOf } from './nodes.ts';
import { kindOf, roleOf } from './roles.ts';
import type { Sight } from './sight.ts';
import { enter, inks, sightOf, textInSight } from './sight.ts';
import { SKIPPED } from './walk.ts';

/** Readable text: what a person can see, a line a block, table rows with bars between their cells. */
export function text(args: TextArgs): Passage {
  const all = readable(args.scope ? elementOf(args.scope) : null);
  const from = Math.min(args.from ?? 0, all.length);
  const part = all.slice(from, from + args.limit);
  const more = all.length - from - part.length;
  return { ...whereabouts(), text: part, more };
}

export function readable(scope: Element | null): string {
  const root = scope ?? document.body ?? document.documentElement;
  const sight = root && sightOf(root);
  if (!sight) return '';
  const page = new Writer();
  read(root, sight, page);
  return page.toString();
}

/** Lines under way: blocks break them, and nothing leaves more than one empty line. */
class Writer {
  readonly #lines: string[] = [];
  #line = '';

  add(text: string): void {
    this.#line += text;
  }

  /** What the current line holds so far. */
  get pending(): string {
    return fold(this.#line);
  }

  end(): void {
    const line = fold(this.#line);
    if (line !== '') this.#lines.push(line);
    this.#line = '';
  }

  keep(block: string): void {
    this.end();
    this.#lines.push(...block.split('\n').map((line) => line.trimEnd()));
  }

  toString(): string {
    this.end();
    return this.#lines.join('\n');
  }
}

function read(el: Element, around: Sight, page: Writer): void {
  const tag = tagOf(el);
  if (SKIPPED.has(tag) || tag === 'select') return;
  const style = getComputedStyle(el);
  const sight = enter(el, style, around);
  if (sight === null) return;
  const cell = style.display === 'table-cell';
  const block = !cell && style.display !== 'contents' && !style.display.startsWith('inline');
  if (block || tag === 'br') page.end();
  if (cell && page.pending !== '') page.add(' | ');
  page.add(markOf(el));
  const before = page.pending;
  readInside(el, { style, sight }, page);
  if (page.pending === before) page.add(unwrittenName(el, style));
  if (block) page.end();
}

type Seen = { style: CSSStyleDeclaration; sight: Sight };

function readInside(el: Element, seen: Seen, page: Writer): void {
  const shut = isA(el, 'details') && !el.open;
  for (const child of childrenOf(el)) {
    if (isElement(child)) {
      if (!shut || tagOf(child) === 'summary') read(child, seen.sight, page);
    } else if (isText(child) && !shut) readText(child, el, seen, page);
  }
}

function readText(node: Text, el: Element, seen: Seen, page: Writer): void {
  if (node.data.trim() === '') page.add(' ');
  else if (inks(el, seen.style) && textInSight(node, seen.sight.flow)) {
    write(node.data, seen.style, page);
  }
}

function write(data: string, style: CSSStyleDeclaration, page: Writer): void {
  if (style.whiteSpace.startsWith('pre') && data.includes('\n'))
    page.keep(data.replace(/^\n|\n$/g, ''));
  else page.add(data);
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
