/**
 * What may make a page open a window. A page opens one by itself only after an input (Chrome's transient activation);
 * whatever gives it neither input nor script opens none, so that a window that comes then is the person's own.
 */
import type { Book } from './book.ts';
import type { Flight, Hold } from './holds.ts';
import { fields, member, text } from './parse.ts';

/** A window that a page opens so long after a client's doing is the client's session's. */
const opensMS = 5000;

/** As opensMS, where the person does not let agents open tabs: what comes later may be the person's own doing. */
const atOnceMS = 1000;

/** Input that Chrome takes for a person's own. */
const touching: ReadonlySet<string> = new Set([
  'mousePressed',
  'mouseReleased',
  'keyDown',
  'rawKeyDown',
  'keyUp',
  'char',
  'touchStart',
  'touchEnd',
  'drop',
]);

/** Commands that run script of the sender's, or script of the page that waited for an answer. */
const running: ReadonlySet<string> = new Set([
  'Input.insertText',
  'Input.imeSetComposition',
  'Input.synthesizeTapGesture',
  'Page.handleJavaScriptDialog',
  'Page.setDocumentContent',
  'Runtime.callFunctionOn',
  'Runtime.evaluate',
  'Runtime.runScript',
]);

/** The page script's functions that do something in a page; all others only look. */
const looking =
  /^@(state|snapshot|text|find|has_text|quiet|locate|landed|scroll|history|value|toggled|chosen)$/;

/** Whether a command may make a page open a window. */
export function mayOpen(method: string, params: object | undefined): boolean {
  if (running.has(method)) return true;
  return method.startsWith('Input.') && touching.has(text(fields(params), 'type') ?? '');
}

/** Whether a step of a program may make its page open a window. */
export function programMayOpen(program: unknown): boolean {
  const steps = member(fields(program), 'steps');
  return Array.isArray(steps) && steps.some(stepMayOpen);
}

function stepMayOpen(step: unknown): boolean {
  const known = fields(step);
  const method = text(known, 'call');
  if (method !== undefined) return mayOpen(method, fields(member(known, 'params')));
  const name = text(known, 'run');
  if (name !== undefined) return !looking.test(name);
  return member(known, 'eval') !== undefined;
}

/** Knows whether a window that the page of a held tab opens now comes of its clients' doing. */
export class Doings {
  readonly #book: Pick<Book, 'pairing'>;
  readonly #nowMS: () => number;

  constructor(book: Pick<Book, 'pairing'>, nowMS: () => number) {
    this.#book = book;
    this.#nowMS = nowMS;
  }

  /** A command is sent, or answered. */
  note(hold: Hold, { opens }: Flight): void {
    if (opens !== true) return;
    hold.opensUntilMS = this.#nowMS() + (this.#isFree(hold) ? opensMS : atOnceMS);
  }

  areIn(hold: Hold): boolean {
    if (this.#nowMS() < hold.opensUntilMS) return true;
    return this.#isFree(hold) && [...hold.flights.values()].some(({ opens }) => opens === true);
  }

  /** Whether the person lets agents open tabs. */
  #isFree({ key }: Hold): boolean {
    return this.#book.pairing(key)?.mayOpen === true;
  }
}
