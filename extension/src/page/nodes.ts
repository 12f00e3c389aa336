import type { NodeRef } from './contract.ts';
import { own } from './dom.ts';
import { Refusal } from './failure.ts';

// getRandomValues, not randomUUID: plain http pages have no randomUUID.
const bytes = crypto.getRandomValues(new Uint8Array(12));

/** This document's id. Another document, also of the same frame, has another. */
export const doc: string = Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');

const numbers = new WeakMap<Element, number>();
const elements = new Map<number, WeakRef<Element>>();
let last = 0;

/** The element's number, for as long as the document lives; never another element's. */
export function numberOf(el: Element): number {
  const known = numbers.get(el);
  if (known !== undefined) return known;
  last += 1;
  numbers.set(el, last);
  elements.set(last, new WeakRef(el));
  return last;
}

/** The element of a number that was given out here. */
export function elementNumbered(node: number): Element {
  const el = elements.get(node)?.deref();
  if (el === undefined || !own(el).isConnected) {
    throw new Refusal('stale_ref', 'The element is no longer on the page.');
  }
  return el;
}

/** The element of a ref, or `stale_ref` when it is gone from the document or the document is another. */
export function elementOf(ref: NodeRef): Element {
  if (ref.doc !== doc) throw new Refusal('stale_ref', 'The page has been replaced since.');
  return elementNumbered(ref.node);
}
