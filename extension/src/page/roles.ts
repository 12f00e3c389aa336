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
const NAMED_BY_TEXT = new Set(
  'button checkbox heading link menuitem menuitemcheckbox menuitemradio option radio switch tab treeitem'.split(
    ' ',
  ),
);

/** What an element is to a snapshot. */
export type Kind = 'control' | 'heading' | 'landmark' | 'set' | 'entry' | 'live' | 'frame' | 'none';

/** The element's role by HTML-AAM, corrected where the role depends on type or context; empty for none. */
export function roleOf(el: Element): string {
  if (isA(el, 'input') && !el.hasAttribute('role')) return inputRole(el);
  const tag = tagOf(el);
  if (tag === 'iframe' || tag === 'frame') return 'iframe';
  if (isEditingHost(el) && !own(el).hasAttribute('role')) return 'textbox';
  const role = (getRole(own(el)) ?? '').slice(0, LONGEST_ROLE);
  if (own(el).hasAttribute('role')) return role;
  return inContext(el, role);
}

function inputRole(input: HTMLInputElement): string {
  if (input.type === 'hidden') return '';
  if (input.type === 'file' || input.type === 'color') return 'button';
  return getRole(input) ?? 'textbox';
}

function inContext(el: Element, role: string): string {
  switch (tagOf(el)) {
    case 'header':
    case 'footer':
      return closest(own(el).parentElement, isSection) ? '' : role;
    case 'section':
    case 'form':
      return hasGivenName(el) ? role : '';
    case 'th':
      return own(el).getAttribute('scope') === 'row' ? 'rowheader' : role;
    case 'a':
      return own(el).hasAttribute('xlink:href') ? 'link' : role;
    default:
      return role;
  }
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
export function isNamedByText(role: string): boolean {
  return NAMED_BY_TEXT.has(role);
}

/** Whether a press on it does something, by its own word: a handler attribute, a place in the tab order. */
export function asksForClicks(el: Element): boolean {
  if (el === document.body || el === document.documentElement) return false;
  return own(el).hasAttribute('onclick') || own(el).getAttribute('tabindex') === '0';
}
