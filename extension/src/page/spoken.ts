/**
 * What an element says: the words in it as naming reads them (accname 1.2, step 2), in the flat tree, so with shadow
 * trees, slots and generated content. What a person cannot see is not said, nor what is typed into a secret field.
 */

import { isA, isElement, isHTML, isText, own, tagOf } from './dom.ts';
import { childrenOf, fold, head } from './flat.ts';
import { kindOf, roleOf } from './roles.ts';
import { isSecret } from './states.ts';

type Way = {
  root: Element;
  /** The root is named by reference although it is hidden: then so is all in it. */
  hidden: boolean;
  /** aria-labelledby is followed once. */
  follow: boolean;
  /** Controls within are left out. */
  bare: boolean;
  seen: Set<Element>;
};

/** More is never shown of a name. */
const ENOUGH = 1000;

const SILENT = new Set(
  'script style template noscript head meta link title datalist video audio object embed iframe output rt rp'.split(
    ' ',
  ),
);

/** All that is spoken in the element. */
export function spokenText(el: Element): string {
  return content(el, wayTo(el));
}

/** What is spoken in it apart from the controls in it; all where there is nothing else. */
export function ownText(el: Element): string {
  return content(el, { ...wayTo(el), bare: true }) || spokenText(el);
}

/** Rows, entries and cells are told apart by their text. */
export function listed(role: string): boolean {
  return LISTED.has(role);
}

const LISTED = new Set('row listitem article cell gridcell columnheader rowheader'.split(' '));

/** The text of the elements that aria-labelledby names. */
export function referencedText(el: Element): string {
  const given = own(el).getAttribute('aria-labelledby');
  if (given === null) return '';
  const root = own(el).getRootNode();
  if (!(root instanceof Document || root instanceof ShadowRoot)) return '';
  const ids = given.split(/\s+/).slice(0, 50);
  const parts = ids.map((id) => {
    const label = id === '' ? null : root.getElementById(id);
    return label ? referenced(label, el) : '';
  });
  return fold(parts.join(' '));
}

function referenced(label: Element, from: Element): string {
  const hidden =
    isUnseen(getComputedStyle(label)) || own(label).getAttribute('aria-hidden') === 'true';
  const way: Way = { ...wayTo(label), follow: false, hidden };
  if (label !== from) way.seen.add(from);
  return said(label, way, true);
}

/** The text of the element's labels. */
export function labelText(el: Element): string {
  // The browser looks through the document for an element's labels.
  if (own(el).id === '' && own(el).closest('label') === null) return '';
  const { labels } = el as HTMLInputElement;
  if (!labels || labels.length === 0) return '';
  const all = Array.from(labels);
  return fold(all.map((label) => labelled(label, el)).join(' '));
}

function labelled(label: Element, control: Element): string {
  const way = wayTo(label);
  way.seen.add(control);
  return said(label, way, true);
}

function wayTo(root: Element): Way {
  return { root, hidden: false, follow: true, bare: false, seen: new Set() };
}

/** One element's part; `named` where it is the label itself, whose own aria-label counts. */
function said(el: Element, way: Way, named: boolean): string {
  if (way.seen.has(el) || (!named && SILENT.has(tagOf(el)))) return '';
  way.seen.add(el);
  const style = getComputedStyle(el);
  if (!way.hidden && (own(el).getAttribute('aria-hidden') === 'true' || isUnseen(style))) return '';
  return around(style, withinLimits(el, way, named));
}

function withinLimits(el: Element, way: Way, named: boolean): string {
  if ((way.bare && isControl(el)) || hangsBelow(el, way.root)) return '';
  const name = way.follow ? referencedText(el) : '';
  if (name !== '') return name;
  const value = named ? undefined : embedded(el);
  if (value !== undefined && fold(value) !== '') return value;
  const label = own(el).getAttribute('aria-label') ?? '';
  if (fold(label) !== '') return label;
  return value ?? (alternative(el) || inside(el, way));
}

/** The menu of a menu's entry and the branches of a tree's have names of their own. */
function hangsBelow(el: Element, root: Element): boolean {
  const role = own(el).getAttribute('role');
  if (role !== 'menu' && role !== 'group') return false;
  return /^(menuitem|treeitem)/.test(own(root).getAttribute('role') ?? '');
}

function isControl(el: Element): boolean {
  return kindOf(el, roleOf(el)) === 'control';
}

/** Blocks stand apart from what is around them. */
function around(style: CSSStyleDeclaration, text: string): string {
  const { display } = style;
  return display === 'inline' || display === 'contents' || text === '' ? text : ` ${text} `;
}

function inside(el: Element, way: Way): string {
  const text = content(el, way);
  return text === '' ? (own(el).getAttribute('title') ?? '') : text;
}

function content(el: Element, way: Way): string {
  way.seen.add(el);
  let text = generated(el, '::before');
  for (const child of childrenOf(el)) {
    if (text.length > ENOUGH) break;
    if (isText(child)) text += head(child.data, ENOUGH);
    else if (isElement(child)) text += tagOf(child) === 'br' ? ' ' : said(child, way, false);
  }
  text += generated(el, '::after');
  return fold(text) === '' ? '' : text;
}

function isUnseen(style: CSSStyleDeclaration): boolean {
  if (style.display === 'none' || style.display === '' || style.visibility !== 'visible')
    return true;
  return style.opacity === '0' || style.fontSize === '0px';
}

/** What a picture or button says instead of text. */
function alternative(el: Element): string {
  const tag = tagOf(el);
  if (tag === 'img' || tag === 'area') return own(el).getAttribute('alt') ?? '';
  return isHTML(el) ? '' : drawnTitle(el);
}

/** The title of a drawing or of a part of one. */
export function drawnTitle(el: Element): string {
  const title = Array.from(own(el).children).find((child) => tagOf(child) === 'title');
  return fold(title?.textContent ?? '');
}

/** The value of a control that stands in a label or in something named by its content; undefined for no control. */
function embedded(el: Element): string | undefined {
  if (isA(el, 'input')) return ofInput(el);
  if (isA(el, 'textarea')) return el.value;
  if (isA(el, 'select')) return Array.from(el.selectedOptions, (option) => option.label).join(' ');
  switch (own(el).getAttribute('role')) {
    case 'slider':
    case 'spinbutton':
    case 'progressbar':
    case 'scrollbar':
      return own(el).getAttribute('aria-valuetext') ?? own(el).getAttribute('aria-valuenow') ?? '';
    case 'listbox':
      return chosen(el);
    default:
      return undefined;
  }
}

const PRESSED = ['submit', 'reset', 'button', 'image'];
const SILENT_TYPES = ['checkbox', 'radio', 'hidden', 'file', 'password'];

function ofInput(input: HTMLInputElement): string {
  if (SILENT_TYPES.includes(input.type) || isSecret(input)) return '';
  return PRESSED.includes(input.type) ? input.value || input.alt : input.value;
}

function chosen(list: Element): string {
  const options = Array.from(own(list).querySelectorAll('[aria-selected="true"]'));
  return options.map((option) => spokenText(option)).join(' ');
}

/** Text that the style puts before or after what stands in the element. */
function generated(el: Element, pseudo: '::before' | '::after'): string {
  const style = getComputedStyle(el, pseudo);
  const { content } = style;
  if (content === 'none' || content === 'normal' || content === '') return '';
  if (style.display === 'none' || style.visibility !== 'visible') return '';
  return around(style, wordsOf(content));
}

/** The strings in a computed `content`: those after its slash, which are said instead, else all. */
function wordsOf(content: string): string {
  const strings = /"((?:[^"\\]|\\.)*)"|(\/)/g;
  let words: string[] = [];
  for (const [, text, slash] of content.replace(/url\("[^"]*"\)/g, '').matchAll(strings)) {
    if (slash !== undefined) words = [];
    else words.push((text ?? '').replace(/\\(.)/g, '$1'));
  }
  return words.join('');
}

/** All text of the flat tree beneath el that is laid out. */
export function textOf(el: Element): string {
  const parts: string[] = [];
  collect(el, parts);
  return fold(parts.join(' '));
}

function collect(el: Element, parts: string[]): void {
  for (const child of childrenOf(el)) {
    if (isText(child)) parts.push(child.data);
    else if (
      isElement(child) &&
      !(isHTML(child) && SILENT.has(tagOf(child))) &&
      own(child).checkVisibility({ visibilityProperty: true, opacityProperty: true })
    ) {
      collect(child, parts);
    }
  }
}
