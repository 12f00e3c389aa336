import methods from '../../../relay/cdp/methods.json' with { type: 'json' };
import { at, isObject, textAt } from './json.ts';
import { isPageURL } from './url.ts';

const HEADERS = new Set(methods.strip.headers);
const MEMBERS = new Set(methods.strip.members);
/** Domains and methods that lose nothing. */
const EXEMPT = new Set(methods.strip.exempt);

/** Headers that keep their value; every other's is not known to be harmless. */
const SHOWN = new Set(methods.strip.shown);
const SHOWN_PREFIXES = methods.strip.shown_prefixes;
const HEADER_MEMBERS = new Set(methods.strip.header_members);
const HIDDEN = '[hidden]';
/** User and password of an address, up to the last @ of its host. */
const USER_INFO = /:\/\/[^ \t\n\f\r/?#\\"'<>]*@/g;

/** Deeper than anything that Chrome tells; what is further down is left out. */
const MAX_DEPTH = 256;

/**
 * Takes cookies, credentials and posted forms out of an event's params or a reply's result (by its method), at any depth:
 * members and headers by name, and the elements {name, value} of a list of headers. A member that is a list becomes an
 * empty one, since readers rely on it. Headers that are not known to be harmless keep their name alone, and addresses lose
 * user and password. Entries of the history that are no pages lose address and title. The answer is
 * `told` itself where there is nothing to take; `told` is never changed.
 */
export function strip(method: string, told: unknown): unknown {
  if (method === 'Page.getNavigationHistory') return stripHistory(told);
  const isExempt = EXEMPT.has(method) || EXEMPT.has(method.split('.', 1)[0] ?? '');
  return isExempt ? told : clean(told, 0);
}

function clean(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return withoutUser(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return undefined;
  return Array.isArray(value) ? cleanList(value, depth) : cleanObject(value, depth);
}

function cleanList(list: readonly unknown[], depth: number): unknown {
  const kept = list.filter((item) => !isHeaderPair(item)).map((item) => clean(item, depth + 1));
  const isSame = kept.length === list.length && kept.every((item, i) => item === list[i]);
  return isSame ? list : kept;
}

function cleanObject(value: object, depth: number): unknown {
  const entries: [string, unknown][] = [];
  let isSame = true;
  for (const [name, member] of Object.entries(value)) {
    const isTaken = isTakenName(name);
    if (isTaken && !Array.isArray(member)) {
      isSame = false;
      continue;
    }
    const cleaned = isTaken ? [] : cleanMember(name, member, depth + 1);
    isSame &&= cleaned === member;
    entries.push([name, cleaned]);
  }
  return isSame ? value : Object.fromEntries(entries);
}

function cleanMember(name: string, member: unknown, depth: number): unknown {
  if (!HEADER_MEMBERS.has(name)) return clean(member, depth);
  if (Array.isArray(member)) return member.filter(isOfHeaders).map(cleanPair);
  return isObject(member) ? cleanHeaders(member, depth) : clean(member, depth);
}

function cleanHeaders(headers: Record<string, unknown>, depth: number): Record<string, unknown> {
  const all = Object.entries(headers);
  const kept = all.filter(([name]) => !isTakenName(name));
  const cleaned = kept.map(([name, value]): [string, unknown] => [
    name,
    isShown(name) ? clean(value, depth + 1) : HIDDEN,
  ]);
  const isSame =
    kept.length === all.length && cleaned.every(([, value], i) => value === kept[i]?.[1]);
  return isSame ? headers : Object.fromEntries(cleaned);
}

function isOfHeaders(item: unknown): boolean {
  if (!isObject(item)) return false;
  const isPlain = ['name', 'value'].every((part) =>
    ['string', 'undefined'].includes(typeof at(item, part)),
  );
  return isPlain && !isTakenName(textAt(item, 'name'));
}

/** One of a list of headers, each an object with its name and value. */
function cleanPair(item: unknown): { name: string; value: string } {
  const name = textAt(item, 'name');
  return { name, value: isShown(name) ? withoutUser(textAt(item, 'value')) : HIDDEN };
}

function isTakenName(name: string): boolean {
  return MEMBERS.has(name) || isHeader(name);
}

function isShown(name: string): boolean {
  const plain = name.trim().toLowerCase();
  return SHOWN.has(plain) || SHOWN_PREFIXES.some((prefix) => plain.startsWith(prefix));
}

function withoutUser(words: string): string {
  return words.includes('@') ? words.replace(USER_INFO, '://') : words;
}

function isHeader(name: string): boolean {
  return HEADERS.has(name.trim().toLowerCase());
}

function isHeaderPair(item: unknown): boolean {
  return isObject(item) && Object.hasOwn(item, 'value') && isHeader(textAt(item, 'name'));
}

function stripHistory(result: unknown): unknown {
  const entries = at(result, 'entries');
  if (!isObject(result) || !Array.isArray(entries)) return {};
  return { ...result, entries: entries.filter(isObject).map(stripEntry) };
}

function stripEntry(entry: Record<string, unknown>): Record<string, unknown> {
  if (isPageURL(textAt(entry, 'url'))) return entry;
  return { ...entry, url: 'about:blank', userTypedURL: '', title: '' };
}
