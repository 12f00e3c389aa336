import methods from '../../../relay/cdp/methods.json' with { type: 'json' };
import { at, isObject } from './json.ts';
import { isPageURL } from './url.ts';

/** What a grant or a policy permits. */
export type Level = 'read' | 'act';

/**
 * The table's answer. `reason` is empty when the call is allowed. `located` are the steps that the call's located
 * parameters take their value from: the caller holds them against the program, which the table does not see.
 */
export type Verdict = { reason: string; located: number[] };

type Kind = string | readonly unknown[];
type Rule = { level: string; params: ReadonlyMap<string, Kind> };
type Permission = { level: string; retry: boolean };

const METHODS = readMethods(methods.methods);
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

/** By code units, wherever it runs. */
export function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
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
  return { reason: '', located };
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

function readMethods(
  listed: Record<string, { level: string; params: Record<string, Kind | undefined> }[]>,
): ReadonlyMap<string, readonly Rule[]> {
  const read = new Map<string, readonly Rule[]>();
  for (const [method, rules] of Object.entries(listed)) {
    read.set(
      method,
      rules.map(({ level, params }) => ({ level, params: readKinds(params) })),
    );
  }
  return read;
}

function readKinds(params: Record<string, Kind | undefined>): ReadonlyMap<string, Kind> {
  const kinds = new Map<string, Kind>();
  for (const [name, kind] of Object.entries(params)) {
    if (kind !== undefined) kinds.set(name, kind);
  }
  return kinds;
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
