import { at, textAt } from '../policy/json.ts';
import { Ended } from './clock.ts';
import type { Failure } from './types.ts';

/** The step number of what was refused before the first step. */
export const BEFORE_FIRST_STEP = -1;

/** What ends a program, with one of the contract's codes. */
export class Fault extends Error {
  readonly code: string;
  readonly detail: unknown;

  constructor(code: string, message: string, detail?: unknown) {
    super(message);
    this.code = code;
    this.detail = detail;
  }
}

/** A program of the wrong shape. */
export function refusal(message: string): Fault {
  return new Fault('bad_request', message);
}

/** The browser's own refusal of a CDP command. */
export class CallError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Reads the browser's refusal out of what a target rejected with; chrome.debugger gives it as JSON in a text. */
export function toCallError(cause: unknown): unknown {
  if (!(cause instanceof Error) || cause instanceof CallError) return cause;
  try {
    const told: unknown = JSON.parse(cause.message);
    const code = at(told, 'code');
    if (typeof code === 'number') return new CallError(code, textAt(told, 'message'));
  } catch {
    // Any other text is no refusal of a command.
  }
  return cause;
}

/** Tells what ended a program at a step. */
export function failed(step: number, cause: unknown): Failure {
  if (cause instanceof Fault) {
    const { code, message, detail } = cause;
    return { step, code, message, ...(detail === undefined ? {} : { detail }) };
  }
  if (cause instanceof CallError) return { step, code: 'internal', message: cause.message };
  if (cause instanceof Ended) {
    const message =
      cause.end === 'time' ? "the program's time is up" : 'nobody waits for the program any more';
    return { step, code: 'timeout', message };
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') {
    return { step, code: cause.code, message };
  }
  return { step, code: 'unavailable', message: `the tab cannot be reached: ${message}` };
}

// Chrome tells what became of a context by text alone: every such refusal has the code -32000.
const GONE = ['Cannot find context with specified id', 'Could not find object with given id'];
const LOST = [
  'Execution context was destroyed',
  'Inspected target navigated or closed',
  'Promise was collected',
];

/** The context was not there any more, so nothing ran. */
export function isContextGone(cause: unknown): boolean {
  return cause instanceof CallError && GONE.some((text) => cause.message.startsWith(text));
}

/** The document went away while the function ran. */
export function isContextLost(cause: unknown): boolean {
  return cause instanceof CallError && LOST.some((text) => cause.message.startsWith(text));
}
