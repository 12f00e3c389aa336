import { isElement } from './dom.ts';
import { within } from './flat.ts';

/**
 * Whether what was entered came to its field. The edge sends keys and text to whatever has the keyboard, and a page may
 * have moved that meanwhile: only a trusted event at the field says that it was meant.
 */

/** What is entered, and where; `before` is what the field held. */
export type Entry = {
  field: Element;
  /** What the field is to hold; undefined for keys and text that go to the caret. */
  text: string | undefined;
  before: string;
  reached: boolean;
};

let entry: Entry | null = null;

const EVENTS = ['keydown', 'beforeinput', 'input'];

export function begin(next: Omit<Entry, 'reached'>): void {
  watchEntry();
  entry = { ...next, reached: false };
}

/** The last entry, if it went to the field. */
export function entryAt(field: Element): Entry | null {
  return entry !== null && entry.field === field ? entry : null;
}

export function lastEntry(): Entry | null {
  return entry;
}

/** What was to be entered has been put there. */
export function arrived(): void {
  if (entry !== null) entry.reached = true;
}

/** Called once a document, as early as the edge can, and again before each entry: `document.open()` takes it away. */
export function watchEntry(): void {
  for (const type of EVENTS) window.addEventListener(type, note, { capture: true, passive: true });
}

function note(event: Event): void {
  if (entry === null || entry.reached || !event.isTrusted) return;
  const hit = event.composedPath()[0];
  entry.reached = isElement(hit) && (within(hit, entry.field) || within(entry.field, hit));
}
