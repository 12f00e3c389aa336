import type { Context, Contexts, Reach } from './contexts.ts';
import { type Fields, fields, member, number, text } from './parse.ts';
import type { CallFailure } from './wire.ts';

/** The parameter by which a command names a context by its number. */
const naming: ReadonlyMap<string, string> = new Map([
  ['DOM.resolveNode', 'executionContextId'],
  ['Runtime.addBinding', 'executionContextId'],
  ['Runtime.callFunctionOn', 'executionContextId'],
  ['Runtime.compileScript', 'executionContextId'],
  ['Runtime.evaluate', 'contextId'],
  ['Runtime.globalLexicalScopeNames', 'executionContextId'],
]);

/** Script that Chrome would run in whatever document is there; what is to be used instead. */
export const unbound: ReadonlyMap<string, string> = new Map([
  [
    'Page.setDocumentContent',
    'Page.setDocumentContent is not for shared tabs: write the page by Runtime.evaluate instead.',
  ],
  ['Runtime.runScript', 'Runtime.runScript is not for shared tabs: use Runtime.evaluate instead.'],
]);

/** What no page can have otherwise. A binding by such a name ends its process, and with it other tabs of the site. */
const unforgeable: ReadonlySet<string> = new Set(['document', 'location', 'top', 'window']);

/** What is wrong with a binding's name; nothing when empty. */
export function wrongName(method: string, params: object): string {
  const name = text(fields(params), 'name') ?? '';
  const isWrong = method === 'Runtime.addBinding' && unforgeable.has(name);
  return isWrong ? `A binding cannot be called ${name}: no page can have another.` : '';
}

/** What names a frame, and tells or does nothing in it. */
const outside: ReadonlySet<string> = new Set([
  'DOM.getFrameOwner',
  'Page.createIsolatedWorld', // its context is judged as any
  'Page.navigate',
]);

/** Whether a command is for a frame by its name that clients may not be in. */
export function isForFrameAway(
  { contexts, reach }: Place,
  method: string,
  params: object,
): boolean {
  const frame = text(fields(params), 'frameId');
  return frame !== undefined && !outside.has(method) && contexts.isAway(frame, reach);
}

/** Everything else that acts on whatever document is there. */
const acting =
  /^(Input\.|DOM\.(set|remove|copyTo|moveTo|focus)|CSS\.(set|add|create|force)|WebMCP\.invokeTool$|Page\.(captureScreenshot|printToPDF)$)/;

/** Whether a command acts on the document that is there when Chrome comes to it, whichever that is. */
export function isActing(method: string): boolean {
  return acting.test(method);
}

export type Bound =
  | { is: 'bound'; params: object; unique?: string }
  | { is: 'refused'; error: CallFailure }
  /** There is no context yet that it could run in. */
  | { is: 'early' };

/** Where a command comes from, and what clients may reach there. */
export type Place = { contexts: Contexts; session: string; reach: Reach };

/**
 * Binds a command to the context that it is meant for, so that Chrome runs it there or nowhere. `past` is a context that
 * is gone already.
 */
export function bind(place: Place, method: string, params: object, past?: string): Bound {
  const given = fields(params) ?? {};
  if (!objectsOf(given).every((id) => isTheirs(place, id)))
    return { is: 'refused', error: noObject };
  const name = naming.get(method);
  const asked = name === undefined ? undefined : nameIn(given, name);
  if (name === undefined || (asked === undefined && method !== 'Runtime.evaluate')) {
    return { is: 'bound', params };
  }
  const context =
    asked === undefined
      ? place.contexts.main(place.session, place.reach)
      : place.contexts.find(place.session, asked, place.reach);
  if (context === undefined || context.unique === past) {
    return asked === undefined ? { is: 'early' } : { is: 'refused', error: noContext };
  }
  return bound(method, given, name, context);
}

/** Whether Chrome says that the context a command was bound to is no more: then it has not been run. */
export function isGone(problem: string): boolean {
  return problem.includes('uniqueContextId not found') || problem.includes(noContext.message);
}

function bound(method: string, given: Fields, name: string, { unique }: Context): Bound {
  const runs = method === 'Runtime.evaluate' || method === 'Runtime.callFunctionOn';
  if (!runs || member(given, 'objectId') !== undefined) return { is: 'bound', params: given };
  const { [name]: _, ...rest } = given;
  return { is: 'bound', params: { ...rest, uniqueContextId: unique }, unique };
}

/** How a command names its context, where it does. */
function nameIn(given: Fields, name: string): number | string | undefined {
  return text(given, 'uniqueContextId') ?? number(given, name);
}

/** The objects that a command names. */
function objectsOf(given: Fields): string[] {
  const listed = member(given, 'arguments');
  const all = [given, ...(Array.isArray(listed) ? listed.map(fields) : [])];
  return all.flatMap((one) =>
    Object.entries(one ?? {}).flatMap(([name, value]) =>
      /objectId$/i.test(name) && typeof value === 'string' ? [value] : [],
    ),
  );
}

/** Whether an object is of a context that clients may be in: its name has that one's number in the middle, and nothing else. */
export function isTheirs({ contexts, session, reach }: Place, object: string): boolean {
  const context = /^-?\d+\.(\d+)\.\d+$/.exec(object)?.[1];
  return context !== undefined && contexts.find(session, Number(context), reach) !== undefined;
}

// As Chrome says it.

export const noContext: CallFailure = {
  code: -32_000,
  message: 'Cannot find context with specified id',
};
export const noMain: CallFailure = {
  code: -32_000,
  message: 'Cannot find default execution context',
};
export const noObject: CallFailure = {
  code: -32_000,
  message: 'Could not find object with given id',
};
