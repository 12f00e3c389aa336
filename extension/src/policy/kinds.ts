import methods from '../../../relay/cdp/methods.json' with { type: 'json' };
import { type Bounds, refuseBounded, refuseClip } from './bounds.ts';
import { isObject } from './json.ts';
import { isPageURL } from './url.ts';

/** What a parameter may be in programs too: a kind by name, one of a list of values, or a number with bounds. */
export type Kind = string | readonly unknown[] | Bounds;

/** What a parameter of a raw call may be: an array of listed values, too. */
export type RawKind = Kind | { readonly items: readonly unknown[] };

const MAX_HEADERS = 32;
const MAX_HEADER_VALUE = 4096;
const MAX_FOREIGN_NAME = 200;
const MAX_ITEMS = 64;

/** How the names of the page script's world and door begin; nobody else's may. */
const OWN_NAME = 'chaperone';

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_|~-]{1,64}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NO_HEADER_VALUE = /[\0-\x08\x0a-\x1f\x7f]/;
const OWN_HEADERS = new Set([...methods.strip.headers, ...methods.own_headers.names]);
const OWN_PREFIXES = methods.own_headers.prefixes;

/** What is wrong with a raw parameter's value; nothing when empty. */
export function refuseRaw(kind: RawKind, value: unknown): string {
  if (typeof kind === 'string') return refuseNamed(kind, value);
  if ('items' in kind) {
    const isShort = Array.isArray(value) && value.length <= MAX_ITEMS;
    const isListed = isShort && value.every((item) => kind.items.includes(item));
    return isListed ? '' : 'is not a list of permitted values';
  }
  if (!isList(kind)) return refuseBounded(kind, value);
  return kind.includes(value) ? '' : 'is not one of the permitted values';
}

/** Array.isArray does not know of lists that are never written. */
export function isList(kind: RawKind): kind is readonly unknown[] {
  return Array.isArray(kind);
}

/** A caller's word where it may stand in a sentence: a plain, short one. */
export function shown(word: string): string {
  return /^[A-Za-z0-9_.@-]{0,64}$/.test(word) ? word : '(no such name)';
}

/** By code units, wherever it runs. */
export function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function refuseNamed(kind: string, value: unknown): string {
  switch (kind) {
    case 'page_url':
      if (typeof value === 'string' && isPageURL(value)) return '';
      return 'is not an http, https or about:blank address';
    case 'located':
      return 'may only come from @locate, in a program';
    case 'headers':
      return refuseHeaders(value);
    case 'foreign':
      return isForeign(value) ? '' : "is not a name of the client's own";
    case 'drag':
      return isDragWithoutFiles(value) ? '' : 'is not a drag of items without files';
    case 'clip':
      return refuseClip(value, () => false);
    default:
      return holds(kind, value) ? '' : `is not of kind ${kind}`;
  }
}

function holds(kind: string, value: unknown): boolean {
  switch (kind) {
    case 'any':
      return true;
    case 'integer':
      return Number.isInteger(value);
    case 'number':
    case 'dropped':
      return Number.isFinite(value);
    case 'emptied':
      return typeof value === 'object' && value !== null;
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'string':
    case 'boolean':
      return typeof value === kind;
    default:
      return false;
  }
}

/** Is a world or binding of this name none of the page script's? */
function isForeign(name: unknown): boolean {
  if (typeof name !== 'string' || [...name].length > MAX_FOREIGN_NAME) return false;
  return !name.toLowerCase().startsWith(OWN_NAME);
}

function isDragWithoutFiles(data: unknown): boolean {
  return isObject(data) && Object.entries(data).every(([name, value]) => isOfDrag(name, value));
}

function isOfDrag(name: string, value: unknown): boolean {
  switch (name) {
    case 'items':
      return Array.isArray(value);
    case 'dragOperationsMask':
      return Number.isInteger(value);
    case 'files':
      return Array.isArray(value) && value.length === 0;
    default:
      return false;
  }
}

function refuseHeaders(headers: unknown): string {
  if (!isObject(headers)) return 'is not of kind headers';
  const names = Object.keys(headers).sort(byText);
  if (names.length > MAX_HEADERS) return 'has too many headers';
  for (const name of names) {
    if (!HEADER_NAME.test(name)) return 'has a header whose name is none';
    if (isOwnHeader(name.toLowerCase())) {
      return `has the header ${shown(name)}, which is not the client's to set`;
    }
    if (!isHeaderValue(headers[name])) return 'has a header whose value is none';
  }
  return '';
}

function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.has(name) || OWN_PREFIXES.some((prefix) => name.startsWith(prefix));
}

function isHeaderValue(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    [...value].length <= MAX_HEADER_VALUE &&
    !NO_HEADER_VALUE.test(value)
  );
}
