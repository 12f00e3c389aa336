import { getRole } from 'dom-accessibility-api';
import { LONGEST_ROLE } from './bounds.ts';
import { holderOf, isA, isHTML, own, tagOf } from './dom.ts';
import { closest } from './flat.ts';

const CONTROLS = new Set([
  'button',
  'checkbox',
  'combobox',
  'link',
  'listbox',
  'menuitem',
  'menuitemcheckbox',
  'menuitemradio',
  'option',
  'radio',
  'searchbox',
  'slider',
  'spinbutton',
  'switch',
  'tab',
  'textbox',
  'treeitem',
]);

const LANDMARKS = new Set([
  'alertdialog',
  'banner',
  'complementary',
  'contentinfo',
  'dialog',
  'form',
  'main',
  'navigation',
  'region',
  'search',
]);

const SETS = new Set(['menu', 'menubar', 'radiogroup', 'tablist', 'toolbar', 'tree', 'grid']);
const ENTRIES = new Set(['row', 'listitem', 'article']);
const LIVE = new Set(['alert', 'log', 'status', 'timer', 'progressbar', 'meter', 'tooltip']);
const NAMED_BY_CONTENT = new Set(
  'button checkbox heading link menuitem menuitemcheckbox menuitemradio option radio switch tab treeitem'.split(
    ' ',
  ),
);

/** What an element is to a snapshot. */
export type Kind = 'control' | 'heading' | 'landmark' | 'set' | 'entry' | 'live' | 'frame' | 'none';

/** The element's role by HTML-AAM, corrected where the role depends on type or context; empty for none. */
export function roleOf(el: Element): string {
  const given = givenRole(el);
  if (given !== '' && !(NO_ROLE.has(given) && keepsRole(el)))
    return NO_ROLE.has(given) ? '' : given;
  if (isA(el, 'input')) return inputRole(el);
  const tag = tagOf(el);
  if (tag === 'iframe' || tag === 'frame') return 'iframe';
  if (isEditingHost(el)) return 'textbox';
  if (tag === 'a' && own(el).hasAttribute('xlink:href')) return 'link';
  return inContext(el, implicitRole(el));
}

const NO_ROLE = new Set(['none', 'presentation']);

/** ARIA's roles that a page can give, apart from those that only name a part of text. */
const ROLES = new Set(
  `alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox
  complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell group
  heading img image insertion link list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox
  menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup
  rowheader scrollbar search searchbox separator slider spinbutton status strong subscript suggestion superscript switch tab
  table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem`.split(
    /\s+/,
  ),
);

/** The first role of the attribute that there is. */
function givenRole(el: Element): string {
  const attribute = own(el).getAttribute('role');
  if (attribute === null) return '';
  const known = attribute
    .slice(0, 400)
    .toLowerCase()
    .split(/\s+/)
    .find((role) => ROLES.has(role) || /^(doc|graphics)-[a-z]+$/.test(role));
  return known === 'image' ? 'img' : (known ?? '').slice(0, LONGEST_ROLE);
}

/** An element that takes the keyboard, or says something of itself by ARIA, cannot give its role up. */
function keepsRole(el: Element): boolean {
  return takesFocus(el) || STATED.some((name) => own(el).hasAttribute(name));
}

const STATED = ['aria-label', 'aria-labelledby', 'aria-describedby', 'aria-live', 'aria-current'];

function takesFocus(el: Element): boolean {
  return isHTML(el) && own(el).tabIndex >= 0 && !own(el).matches(':disabled');
}

function implicitRole(el: Element): string {
  if (!isHTML(el) && tagOf(el) !== 'a') return '';
  return getRole(own(el).hasAttribute('role') ? withoutRole(el) : own(el)) ?? '';
}

/** The element as dom-accessibility-api reads it, which would take the attribute's word for its role. */
function withoutRole(el: Element): Element {
  const { type, size } = el as HTMLInputElement;
  const seen = {
    localName: tagOf(el),
    type,
    size,
    getAttribute: (name: string) => (name === 'role' ? null : own(el).getAttribute(name)),
    hasAttribute: (name: string) => name !== 'role' && own(el).hasAttribute(name),
  };
  return seen as unknown as Element;
}

function inputRole(input: HTMLInputElement): string {
  if (input.type === 'hidden') return '';
  if (input.type === 'file' || input.type === 'color') return 'button';
  return implicitRole(input) || 'textbox';
}

function inContext(el: Element, role: string): string {
  const tag = tagOf(el);
  if (tag === 'th') return own(el).getAttribute('scope') === 'row' ? 'rowheader' : role;
  if (tag === 'td') return closest(el, isGrid) ? 'gridcell' : role;
  const holds = CONTEXTS.get(tag);
  return holds === undefined || holds(el) ? role : '';
}

/** Where the elements have the role that they have by their tag. */
const CONTEXTS = new Map<string, (el: Element) => boolean>([
  ['header', isOfPage],
  ['footer', isOfPage],
  ['section', hasGivenName],
  ['form', hasGivenName],
  ['option', (el) => closest(el, (at) => isA(at, 'select')) !== null],
  ['summary', isSummary],
]);

function isOfPage(el: Element): boolean {
  return closest(own(el).parentElement, isSection) === null;
}

/** Whether it is what its details open by. */
function isSummary(el: Element): boolean {
  const details = holderOf(el);
  if (!isA(details, 'details')) return false;
  return Array.from(details.children).find((child) => tagOf(child) === 'summary') === el;
}

function isGrid(el: Element): boolean {
  const role = own(el).getAttribute('role');
  return role === 'grid' || role === 'treegrid';
}

function isSection(el: Element): boolean {
  return ['article', 'aside', 'main', 'nav', 'section'].includes(tagOf(el));
}

function hasGivenName(el: Element): boolean {
  return ['aria-label', 'aria-labelledby', 'title'].some((name) => own(el).hasAttribute(name));
}

function isEditable(el: Element): boolean {
  return isHTML(el) && own(el).isContentEditable;
}

/** Where editing begins: the outermost editable element. */
export function isEditingHost(el: Element): boolean {
  if (!isEditable(el)) return false;
  const parent = holderOf(el);
  return !(parent && isEditable(parent));
}

export function kindOf(el: Element, role: string): Kind {
  if (role === 'iframe') return 'frame';
  if (CONTROLS.has(role)) return 'control';
  if (role === 'heading') return 'heading';
  if (LANDMARKS.has(role)) return 'landmark';
  if (SETS.has(role)) return 'set';
  if (ENTRIES.has(role)) return 'entry';
  if (LIVE.has(role)) return 'live';
  if (role === 'group' && (hasGivenName(el) || tagOf(el) === 'fieldset')) return 'set';
  return 'none';
}

/** Whether the role takes its name from what stands in it, so that its text is not said twice. */
export function isNamedByContent(role: string): boolean {
  return NAMED_BY_CONTENT.has(role);
}

/** Whether a press on it does something, by its own word: a handler attribute, a place in the tab order. */
export function asksForClicks(el: Element): boolean {
  if (el === document.body || el === document.documentElement) return false;
  return own(el).hasAttribute('onclick') || own(el).getAttribute('tabindex') === '0';
}
