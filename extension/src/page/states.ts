import { cut } from './bounds.ts';
import { holderOf, isA, isHTML, own, tagOf } from './dom.ts';
import { fold } from './flat.ts';
import { isEditingHost } from './roles.ts';

const LONGEST_VALUE = 200;
const SECRETS = /\b(one-time-code|cc-number|cc-csc|current-password|new-password)\b/;
const once = new WeakSet<Element>();

/** Whether what is typed there is not to be shown: a password field, or one that has been one. */
export function isSecret(el: Element): boolean {
  if (!isA(el, 'input')) return false;
  if (el.type === 'password') once.add(el);
  return once.has(el) || SECRETS.test(own(el).getAttribute('autocomplete') ?? '');
}

/** The element's states, in the order a line shows them. */
export function statesOf(el: Element, role: string): string[] {
  const states = [
    ...typeState(el),
    checkedState(el),
    pressedState(el),
    isDisabled(el) ? 'disabled' : '',
    expandedState(el),
    selectedState(el),
    levelState(el, role),
    isRequired(el) ? 'required' : '',
    isReadOnly(el) ? 'readonly' : '',
    isInvalid(el) ? 'invalid' : '',
    current(el),
    popup(el),
    attributeState(el, 'aria-busy', 'busy'),
    isMultiple(el) ? 'multiple' : '',
    sortState(el),
    rowsState(el, role),
    isA(el, 'dialog') && el.matches(':modal') ? 'modal' : '',
  ];
  return states.filter((state) => state !== '');
}

const PLAIN_TYPES = [
  'text',
  'checkbox',
  'radio',
  'submit',
  'button',
  'reset',
  'image',
  'search',
  'range',
  'number',
];

function typeState(el: Element): string[] {
  if (!isA(el, 'input') || PLAIN_TYPES.includes(el.type)) return [];
  return [el.type];
}

function checkedState(el: Element): string {
  if (isA(el, 'input') && (el.type === 'checkbox' || el.type === 'radio')) {
    if (el.indeterminate) return 'checked=mixed';
    return el.checked ? 'checked' : '';
  }
  const checked = own(el).getAttribute('aria-checked');
  if (checked === 'mixed') return 'checked=mixed';
  return checked === 'true' ? 'checked' : '';
}

function pressedState(el: Element): string {
  const pressed = own(el).getAttribute('aria-pressed');
  if (pressed === 'mixed') return 'pressed=mixed';
  return pressed === 'true' ? 'pressed' : '';
}

export function isDisabled(el: Element): boolean {
  if (own(el).matches(':disabled')) return true;
  return own(el).closest('[aria-disabled]')?.getAttribute('aria-disabled') === 'true';
}

function expandedState(el: Element): string {
  const open = isShown(el);
  if (open !== undefined) return open ? 'expanded' : 'collapsed';
  const value = own(el).getAttribute('aria-expanded');
  if (value === 'true') return 'expanded';
  return value === 'false' ? 'collapsed' : '';
}

/** Whether what the element opens by itself is open; undefined where it opens nothing. */
function isShown(el: Element): boolean | undefined {
  if (tagOf(el) === 'summary') {
    const details = holderOf(el);
    return isA(details, 'details') ? details.open : undefined;
  }
  if (!isA(el, 'button') && !isA(el, 'input')) return undefined;
  const target = el.popoverTargetElement;
  return target ? target.matches(':popover-open') : undefined;
}

function selectedState(el: Element): string {
  if (isA(el, 'option')) return el.selected ? 'selected' : '';
  return own(el).getAttribute('aria-selected') === 'true' ? 'selected' : '';
}

function levelState(el: Element, role: string): string {
  const given = Number(own(el).getAttribute('aria-level'));
  if (Number.isInteger(given) && given > 0) return `level=${given}`;
  if (role !== 'heading') return '';
  const tag = tagOf(el);
  return `level=${/^h[1-6]$/.test(tag) ? tag.slice(1) : '2'}`;
}

function isRequired(el: Element): boolean {
  return own(el).matches(':required') || own(el).getAttribute('aria-required') === 'true';
}

function attributeState(el: Element, attribute: string, state: string): string {
  return own(el).getAttribute(attribute) === 'true' ? state : '';
}

function isMultiple(el: Element): boolean {
  if (isA(el, 'select')) return el.multiple;
  return own(el).getAttribute('aria-multiselectable') === 'true';
}

/** The way that the column which the control sorts by goes now. */
function sortState(el: Element): string {
  const header = tagOf(el) === 'th' ? el : own(el).closest('th, [role=columnheader]');
  const sort = header ? own(header).getAttribute('aria-sort') : null;
  return sort === 'ascending' || sort === 'descending' ? `sort=${sort}` : '';
}

/** How many rows there are, where the page has only some of them. */
function rowsState(el: Element, role: string): string {
  if (role !== 'grid' && role !== 'table' && role !== 'treegrid') return '';
  const rows = Number(own(el).getAttribute('aria-rowcount'));
  return Number.isInteger(rows) && rows > 0 ? `rows=${rows}` : '';
}

function isReadOnly(el: Element): boolean {
  if (own(el).getAttribute('aria-readonly') === 'true') return true;
  return own(el).matches('input, textarea') && own(el).hasAttribute('readonly');
}

function isInvalid(el: Element): boolean {
  const given = own(el).getAttribute('aria-invalid');
  if (given === null) return own(el).matches(':user-invalid');
  return given !== 'false' && given !== '';
}

function current(el: Element): string {
  const value = own(el).getAttribute('aria-current');
  if (value === null || value === 'false' || value === '') return '';
  return value === 'true' ? 'current' : `current=${cut(fold(value), 20)}`;
}

function popup(el: Element): string {
  const value = own(el).getAttribute('aria-haspopup');
  return value === null || value === 'false' || value === '' ? '' : 'haspopup';
}

/** What a person reads in the field; undefined where there is nothing to read or it is a secret. */
export function heldBy(el: Element): string | undefined {
  if (isSecret(el)) return undefined;
  const value = fold(rawValue(el));
  return value === '' ? undefined : cut(value, LONGEST_VALUE);
}

const VALUELESS = ['checkbox', 'radio', 'submit', 'button', 'reset', 'image', 'hidden', 'password'];

function rawValue(el: Element): string {
  if (isA(el, 'input')) return inputValue(el);
  if (isA(el, 'textarea')) return el.value;
  if (isA(el, 'select')) {
    return Array.from(el.selectedOptions, (option) => option.label).join(', ');
  }
  if (isA(el, 'progress') || isA(el, 'meter')) return String(el.value);
  // biome-ignore lint/performance/useDomNodeTextContent: the lines of an editor are layout, not text nodes
  if (isEditingHost(el) && isHTML(el)) return own(el).innerText;
  const told = own(el).getAttribute('aria-valuetext') ?? own(el).getAttribute('aria-valuenow');
  if (told !== null) return told;
  return own(el).getAttribute('role') === 'combobox' ? chosenText(el) : '';
}

/** What a combobox made of other elements shows as chosen; where it holds a field, that has a line of its own. */
function chosenText(el: Element): string {
  const field = own(el).querySelector('input, textarea');
  // biome-ignore lint/performance/useDomNodeTextContent: what is hidden in it is not chosen
  return field || !isHTML(el) ? '' : own(el).innerText;
}

function inputValue(input: HTMLInputElement): string {
  if (input.type === 'file') return Array.from(input.files ?? [], (file) => file.name).join(', ');
  return VALUELESS.includes(input.type) ? '' : input.value;
}

/** A link's address as a line shows it: without what it has in common with the page's own. */
export function linkOf(el: Element): string | undefined {
  const href = hrefOf(el);
  if (href === undefined || href.trim() === '#') return undefined; // leads nowhere, for a script to heed
  try {
    const url = new URL(href, document.baseURI);
    if (!url.protocol.startsWith('http')) return cut(url.protocol, LONGEST_VALUE);
    return cut(fromHere(url), LONGEST_VALUE);
  } catch {
    return undefined;
  }
}

function fromHere(url: URL): string {
  if (url.origin !== self.origin) return url.href;
  const path = url.pathname + url.search;
  return url.hash !== '' && path === location.pathname + location.search
    ? url.hash
    : path + url.hash;
}

function hrefOf(el: Element): string | undefined {
  const tag = tagOf(el);
  if (tag === 'iframe' || tag === 'frame') return own(el).getAttribute('src') ?? undefined;
  if (tag !== 'a' && tag !== 'area') return undefined;
  return own(el).getAttribute('href') ?? own(el).getAttribute('xlink:href') ?? undefined;
}
