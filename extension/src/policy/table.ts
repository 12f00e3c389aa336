import methods from '../../../relay/cdp/methods.json' with { type: 'json' };
import { at, isObject } from './json.ts';
import { byText, type RawKind, refuseRaw, shown } from './kinds.ts';
import { refuseTogether } from './paste.ts';
import { isPageURL } from './url.ts';

/** What a grant or a policy permits. */
export type Level = 'read' | 'act';

export { byText };

/**
 * The table's answer. `reason` is empty when the call is allowed. `located` are the steps that the call's located
 * parameters take their value from: the caller holds them against the program, which the table does not see.
 */
export type Verdict = { reason: string; located: number[] };

type Kind = string | readonly unknown[];
type Rule = { level: string; not: string; params: ReadonlyMap<string, Kind> };
type RawRule = { level: string; not: string; params: ReadonlyMap<string, RawKind> };
type Permission = { level: string; retry: boolean };

const METHODS = readMethods<Kind>(methods.methods);
const RAW = readMethods<RawKind>(methods.raw);
const DROPS = readDrops(RAW);
const NEVER = new Map(Object.entries(methods.never));
const TOLD = readTold(methods.told);
const FUNCTIONS = readPermissions(methods.functions);
const EVENTS = readPermissions(methods.events);

/**
 * Judges one CDP command; `$` references stand in `params` unresolved. Of two rules that permit it, the one that asks
 * nothing of the program counts.
 */
export function judgeCall(level: string, method: string, params: unknown): Verdict {
  const rules = METHODS.get(method);
  if (rules === undefined) return deny(`${method} is not permitted at any level`);
  const given = params === undefined ? {} : params;
  if (!isObject(given)) return deny(`${method}: params are not one plain JSON object`);
  let best: Verdict | undefined;
  for (const rule of rules.filter((rule) => reaches(level, rule.level))) {
    const verdict = judgeRule(rule, method, given);
    if (verdict.reason === '' && verdict.located.length === 0) return verdict;
    if (best === undefined || (verdict.reason === '' && best.reason !== '')) best = verdict;
  }
  return best ?? deny(`${method} is not permitted at level ${level}`);
}

/**
 * Judges a command of a raw CDP client. The rules are those of judgeCall and the ones that are for raw clients alone, but
 * nothing is filled in later: a `$` reference is an object like any other, and what may only come from @locate never may.
 * Of rules that refuse, the first one of the highest level says why; `located` is always empty.
 */
export function judgeRaw(level: string, method: string, params: unknown): Verdict {
  const rules: readonly RawRule[] = [...(RAW.get(method) ?? []), ...(METHODS.get(method) ?? [])];
  if (rules.length === 0) return denyNever(method);
  const given = params === undefined ? {} : params;
  if (!isObject(given)) return deny(`${method}: params are not one plain JSON object`);
  let refused = '';
  let by = '';
  for (const rule of rules.filter((rule) => reaches(level, rule.level))) {
    const reason = judgeRawRule(rule, given);
    if (reason === '') return deny('');
    if (refused === '' || !reaches(by, rule.level)) {
      refused = reason;
      by = rule.level;
    }
  }
  if (refused !== '') return deny(`${method}: ${refused}`);
  return deny(`${method} is not permitted at level ${shown(level)}`);
}

/** What of a permitted command's params goes to Chrome: all but the parameters of kind dropped. */
export function toSend(method: string, params: object): object {
  const drops = DROPS.get(method);
  if (drops === undefined) return params;
  return Object.fromEntries(Object.entries(params).filter(([name]) => !drops.has(name)));
}

/** May a raw client of a grant at this level see the event? What it holds must go through strip all the same. */
export function eventTold(level: string, name: string): boolean {
  const needs = TOLD.get(name);
  return needs !== undefined && reaches(level, needs);
}

/** Judges a run or a condition by the name of the page script's function ("@locate"). */
export function judgeFunction(level: string, name: string): Verdict {
  return permit(FUNCTIONS, level, name);
}

/** Judges whether a program may wait for the CDP event and read its params. */
export function judgeEvent(level: string, name: string): Verdict {
  return permit(EVENTS, level, name);
}

/** May the function run again when its document went away while it ran? */
export function canRetry(name: string): boolean {
  return FUNCTIONS.get(name)?.retry ?? false;
}

/** Does `has` permit what needs `needs`? An unknown level permits nothing. */
export function reaches(has: string, needs: string): boolean {
  if (needs === 'read') return has === 'read' || has === 'act';
  return needs === 'act' && has === 'act';
}

function permit(named: ReadonlyMap<string, Permission>, level: string, name: string): Verdict {
  const permission = named.get(name);
  if (permission === undefined) return deny(`${name} is not permitted at any level`);
  if (!reaches(level, permission.level)) return deny(`${name} is not permitted at level ${level}`);
  return { reason: '', located: [] };
}

function deny(reason: string): Verdict {
  return { reason, located: [] };
}

function denyNever(method: string): Verdict {
  const domain = method.split('.', 1)[0] ?? '';
  const why = NEVER.get(method) ?? NEVER.get(domain);
  const reason = `${shown(method)} is not permitted at any level`;
  return deny(why === undefined ? reason : `${reason}: ${why}`);
}

/** What is wrong with the parameters, in the order of their names; nothing when empty. */
function judgeRawRule(rule: RawRule, given: Record<string, unknown>): string {
  for (const name of Object.keys(given).sort(byText)) {
    const kind = rule.params.get(name);
    if (kind === undefined) return `parameter ${shown(name)} is not permitted`;
    const wrong = refuseRaw(kind, given[name]);
    if (wrong !== '') return `${name} ${wrong}`;
  }
  return refuseTogether(rule.not, given);
}

/** In the order of the parameters' names, so that the reason is always the same. */
function judgeRule(rule: Rule, method: string, given: Record<string, unknown>): Verdict {
  const located: number[] = [];
  for (const name of Object.keys(given).sort(byText)) {
    const kind = rule.params.get(name);
    if (kind === undefined) return deny(`${method}: parameter ${name} is not permitted`);
    if (kind === 'located') {
      const step = locatedBy(name, given[name]);
      if (step === undefined) {
        return deny(`${method}: ${name} must be a reference to a step that ran @locate`);
      }
      located.push(step);
      continue;
    }
    const wrong = refuse(kind, given[name]);
    if (wrong !== '') return deny(`${method}: ${name} ${wrong}`);
  }
  const wrong = refuseTogether(rule.not, given);
  return wrong === '' ? { reason: '', located } : deny(`${method}: ${wrong}`);
}

/** What is wrong with a value; nothing when empty. */
function refuse(kind: Kind, value: unknown): string {
  if (typeof kind !== 'string') {
    return kind.includes(value) ? '' : 'is not one of the permitted values';
  }
  if (kind === 'page_url') {
    const isPage = typeof value === 'string' && isPageURL(value);
    return isPage ? '' : 'is not an http, https or about:blank address';
  }
  return holds(kind, value) || isReference(value) ? '' : `is not of kind ${kind}`;
}

function holds(kind: string, value: unknown): boolean {
  switch (kind) {
    case 'any':
      return true;
    case 'integer':
      return Number.isInteger(value);
    case 'object':
      return isObject(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === kind;
    default:
      return false;
  }
}

function isReference(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 1 && typeof at(value, '$') === 'string';
}

/** The step's number of `{"$":"N.x"}` for the parameter x. */
function locatedBy(name: string, value: unknown): number | undefined {
  if (!isObject(value) || Object.keys(value).length !== 1) return undefined;
  const path = at(value, '$');
  const found = typeof path === 'string' ? /^(0|[1-9][0-9]{0,2})\.([a-z]+)$/.exec(path) : null;
  return found?.[2] === name ? Number(found[1]) : undefined;
}

function readMethods<K>(
  listed: Record<string, { level: string; not?: string; params: Record<string, K | undefined> }[]>,
): ReadonlyMap<string, readonly { level: string; not: string; params: ReadonlyMap<string, K> }[]> {
  const read = new Map<string, { level: string; not: string; params: ReadonlyMap<string, K> }[]>();
  for (const [method, rules] of Object.entries(listed)) {
    read.set(
      method,
      rules.map(({ level, not = '', params }) => ({ level, not, params: readKinds(params) })),
    );
  }
  return read;
}

function readKinds<K>(params: Record<string, K | undefined>): ReadonlyMap<string, K> {
  const kinds = new Map<string, K>();
  for (const [name, kind] of Object.entries(params)) {
    if (kind !== undefined) kinds.set(name, kind);
  }
  return kinds;
}

function readDrops(
  methods: ReadonlyMap<string, readonly RawRule[]>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const drops = new Map<string, ReadonlySet<string>>();
  for (const [method, rules] of methods) {
    const params = rules.flatMap((rule) => [...rule.params]);
    const names = params.filter(([, kind]) => kind === 'dropped').map(([name]) => name);
    if (names.length > 0) drops.set(method, new Set(names));
  }
  return drops;
}

function readTold(listed: Record<string, string[]>): ReadonlyMap<string, string> {
  const read = new Map<string, string>();
  for (const [level, names] of Object.entries(listed)) {
    for (const name of names) read.set(name, level);
  }
  return read;
}

function readPermissions(
  listed: Record<string, { level: string; retry?: boolean }>,
): ReadonlyMap<string, Permission> {
  const read = new Map<string, Permission>();
  for (const [name, { level, retry }] of Object.entries(listed)) {
    read.set(name, { level, retry: retry === true });
  }
  return read;
}
