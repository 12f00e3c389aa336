import methods from '../../../relay/cdp/methods.json' with { type: 'json' };
import { isTooDeep, MAX_DEPTH, refuseClip } from './bounds.ts';
import { at, isObject } from './json.ts';
import { byText, isList, type Kind, type RawKind, refuseRaw, shown } from './kinds.ts';
import { refuseTogether } from './paste.ts';

/** What a grant or a policy permits. */
export type Level = 'read' | 'act';

export { byText };

/**
 * The table's answer. `reason` is empty when the call is allowed. `located` are the steps that the call's located
 * parameters take their value from: the caller holds them against the program, which the table does not see.
 */
export type Verdict = { reason: string; located: number[] };

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
export function judgeRaw(level: string, method: string, given: unknown = {}): Verdict {
  const rules: readonly RawRule[] = [...(RAW.get(method) ?? []), ...(METHODS.get(method) ?? [])];
  if (rules.length === 0) return denyNever(method);
  if (!isObject(given) || isTooDeep(given)) return deny(`${method}: ${wrongParams(given)}`);
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

/**
 * Judges the parameters of a program's permitted call once its references are filled in: those whose values have bounds
 * must keep to them. `located` is always empty.
 */
export function judgeFilled(method: string, params: object): Verdict {
  const reasons = (METHODS.get(method) ?? []).map((rule) => refuseFilled(rule, { ...params }));
  const reason = reasons.includes('') ? '' : (reasons[0] ?? '');
  return deny(reason === '' ? '' : `${method}: ${reason}`);
}

/**
 * What of a permitted command's params goes to Chrome: all but the parameters of kind dropped, and of those of kind emptied
 * an empty object or list.
 */
export function toSend(method: string, params: object): object {
  const drops = DROPS.get(method);
  if (drops === undefined) return params;
  const kept = Object.entries(params).filter(([name]) => drops.get(name) !== 'dropped');
  return Object.fromEntries(
    kept.map(([name, value]) => [name, drops.has(name) ? emptied(value) : value]),
  );
}

function emptied(value: unknown): unknown {
  return Array.isArray(value) ? [] : {};
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

function wrongParams(given: unknown): string {
  if (isTooDeep(given)) return `params are nested more than ${MAX_DEPTH} levels deep`;
  return 'params are not one plain JSON object';
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

function refuseFilled(rule: Rule, given: Record<string, unknown>): string {
  for (const name of Object.keys(given).sort(byText)) {
    const kind = rule.params.get(name);
    const hasBounds = kind === 'clip' || (typeof kind === 'object' && !isList(kind));
    const wrong = kind !== undefined && hasBounds ? refuseRaw(kind, given[name]) : '';
    if (wrong !== '') return `${name} ${wrong}`;
  }
  return refuseTogether(rule.not, given);
}

/** What is wrong with a value; nothing when empty. One of a list, or a page's address, is never filled in later. */
function refuse(kind: Kind, value: unknown): string {
  const isFixed = typeof kind === 'string' ? kind === 'page_url' : isList(kind);
  if (!isFixed && isReference(value)) return '';
  return kind === 'clip' ? refuseClip(value, isReference) : refuseRaw(kind, value);
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
): ReadonlyMap<string, ReadonlyMap<string, RawKind>> {
  const drops = new Map<string, ReadonlyMap<string, RawKind>>();
  for (const [method, rules] of methods) {
    const params = rules.flatMap((rule) => [...rule.params]);
    const kinds = params.filter(([, kind]) => kind === 'dropped' || kind === 'emptied');
    if (kinds.length > 0) drops.set(method, new Map(kinds));
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
