import { cut } from './bounds.ts';
import { fold } from './flat.ts';
import { isEditingHost } from './roles.ts';

const LONGEST_VALUE = 200;
const SECRETS = /\b(one-time-code|cc-number|cc-csc|current-password|new-password)\b/;
const once = new WeakSet<Element>();

/** Whether what is typed there is not to be shown: a password field, or one that has been one. */
export function isSecret(el: Element): boolean {
  if (!(el instanceof HTMLInputElement)) return false;
  if (el.type === 'password') once.add(el);
  return once.has(el) || SECRETS.test(el.getAttribute('autocomplete') ?? '');
}

/** The element's states, in the order a line shows them. */
export function statesOf(el: Element, role: string): string[] {
  const states = [
    ...typeState(el),
    checkedState(el),
    pressedState(el),
    isDisabled(el) ? 'disabled' : '',
    flag(el, 'aria-expanded', 'expanded', 'collapsed'),
    selectedState(el),
    levelState(el, role),
    isRequired(el) ? 'required' : '',
    isReadOnly(el) ? 'readonly' : '',
    isInvalid(el) ? 'invalid' : '',
    current(el),
    popup(el),
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
  if (!(el instanceof HTMLInputElement) || PLAIN_TYPES.includes(el.type)) return [];
  return [el.type];
}

function checkedState(el: Element): string {
  if (el instanceof HTMLInputElement && (el.type === 'checkbox' || el.type === 'radio')) {
    if (el.indeterminate) return 'checked=mixed';
    return el.checked ? 'checked' : '';
  }
  const checked = el.getAttribute('aria-checked');
  if (checked === 'mixed') return 'checked=mixed';
  return checked === 'true' ? 'checked' : '';
}

function pressedState(el: Element): string {
  const pressed = el.getAttribute('aria-pressed');
  if (pressed === 'mixed') return 'pressed=mixed';
  return pressed === 'true' ? 'pressed' : '';
}

export function isDisabled(el: Element): boolean {
  if (el.matches(':disabled')) return true;
  return el.closest('[aria-disabled]')?.getAttribute('aria-disabled') === 'true';
}

function flag(el: Element, attribute: string, yes: string, no: string): string {
  if (el.localName === 'summary' && attribute === 'aria-expanded') {
    return el.parentElement?.hasAttribute('open') ? yes : no;
  }
  const value = el.getAttribute(attribute);
  if (value === 'true') return yes;
  return value === 'false' ? no : '';
}

function selectedState(el: Element): string {
  if (el instanceof HTMLOptionElement) return el.selected ? 'selected' : '';
  return el.getAttribute('aria-selected') === 'true' ? 'selected' : '';
}

function levelState(el: Element, role: string): string {
  const given = Number(el.getAttribute('aria-level'));
  if (Number.isInteger(given) && given > 0) return `level=${given}`;
  if (role !== 'heading') return '';
  return `level=${/^h[1-6]$/.test(el.localName) ? el.localName.slice(1) : '2'}`;
}

function isRequired(el: Element): boolean {
  return el.matches(':required') || el.getAttribute('aria-required') === 'true';
}

function isReadOnly(el: Element): boolean {
  if (el.getAttribute('aria-readonly') === 'true') return true;
  return el.matches('input, textarea') && el.hasAttribute('readonly');
}

function isInvalid(el: Element): boolean {
  const given = el.getAttribute('aria-invalid');
  return given !== null && given !== 'false' && given !== '';
}

function current(el: Element): string {
  const value = el.getAttribute('aria-current');
  if (value === null || value === 'false' || value === '') return '';
  return value === 'true' ? 'current' : `current=${cut(fold(value), 20)}`;
}

function popup(el: Element): string {
  const value = el.getAttribute('aria-haspopup');
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
  if (el instanceof HTMLInputElement) return inputValue(el);
  if (el instanceof HTMLTextAreaElement) return el.value;
  if (el instanceof HTMLSelectElement) {
    return Array.from(el.selectedOptions, (option) => option.label).join(', ');
  }
  if (el instanceof HTMLProgressElement || el instanceof HTMLMeterElement) return String(el.value);
  // biome-ignore lint/performance/useDomNodeTextContent: the lines of an editor are layout, not text nodes
  if (isEditingHost(el) && el instanceof HTMLElement) return el.innerText;
  return el.getAttribute('aria-valuetext') ?? el.getAttribute('aria-valuenow') ?? '';
}

function inputValue(input: HTMLInputElement): string {
  if (input.type === 'file') return Array.from(input.files ?? [], (file) => file.name).join(', ');
  return VALUELESS.includes(input.type) ? '' : input.value;
}

/** A link's address as a line shows it: without the origin where that is the page's own. */
export function linkOf(el: Element): string | undefined {
  const href = hrefOf(el);
  if (href === undefined) return undefined;
  try {
    const url = new URL(href, document.baseURI);
    if (!url.protocol.startsWith('http')) return cut(url.protocol, LONGEST_VALUE);
    const own = url.origin === location.origin;
    return cut(own ? url.pathname + url.search + url.hash : url.href, LONGEST_VALUE);
  } catch {
    return undefined;
  }
}

function hrefOf(el: Element): string | undefined {
  if (el.localName === 'iframe' || el.localName === 'frame')
    return el.getAttribute('src') ?? undefined;
  if (el.localName !== 'a' && el.localName !== 'area') return undefined;
  return el.getAttribute('href') ?? el.getAttribute('xlink:href') ?? undefined;
}
