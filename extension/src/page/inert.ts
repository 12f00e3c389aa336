/** Parts of a page that are switched off: by the attribute, by style, or since a modal dialog is open elsewhere. */

import { isA, isHTML, own } from './dom.ts';
import { closest, elementAt, within } from './flat.ts';

/** Whether the element itself switches off what is in it. */
export function isInert(el: Element): boolean {
  return isHTML(el) && own(el).inert;
}

export function isInertByStyle(style: CSSStyleDeclaration): boolean {
  return style.getPropertyValue('interactivity') === 'inert';
}

/** Why nothing in the element answers a person; empty where it does. */
export function offReason(el: Element): '' | 'inert' | 'modal' {
  const modal = modalDialog();
  if (modal && !within(el, modal)) return 'modal';
  // A modal dialog is not switched off by what is around it.
  const inner = closest(el, (at) => at === modal || isInert(at));
  if (inner && (inner !== modal || isInert(inner))) return 'inert';
  return isInertByStyle(getComputedStyle(el)) ? 'inert' : '';
}

export function isOff(el: Element): boolean {
  return offReason(el) !== '';
}

/** The modal dialog of the present piece of work, once it has been looked for. */
let known: Element | null | undefined;

/** Modal dialogs in shadow trees, which no query of the document finds; the walk tells of them. */
const inShadow = new Set<WeakRef<Element>>();
const told = new WeakSet<Element>();

/** Tells of a dialog in a shadow tree; answers whether it was not known of before. */
export function noteDialog(dialog: Element): boolean {
  if (told.has(dialog) || !(own(dialog).getRootNode() instanceof ShadowRoot)) return false;
  told.add(dialog);
  inShadow.add(new WeakRef(dialog));
  known = undefined;
  return isModal(dialog);
}

function isModal(el: Element): boolean {
  return own(el).isConnected && own(el).matches(':modal');
}

/** The modal dialog that all else is switched off for; null where none is open. */
export function modalDialog(): Element | null {
  if (known === undefined) {
    known = openDialog();
    // As long as this piece of work lasts: the page cannot change meanwhile, and it is asked for many elements.
    queueMicrotask(() => {
      known = undefined;
    });
  }
  return known;
}

function openDialog(): Element | null {
  const open = Array.from(document.querySelectorAll('dialog:modal'));
  for (const held of inShadow) {
    const dialog = held.deref();
    if (dialog === undefined) inShadow.delete(held);
    else if (isModal(dialog)) open.push(dialog);
  }
  return open.length < 2 ? (open[0] ?? null) : topmost(open);
}

/** Of several only the topmost can be hit, and dialogs within it: the others are switched off. */
function topmost(open: Element[]): Element | null {
  const hit = open.filter(isHit);
  const innermost = hit.find((one) => !hit.some((other) => other !== one && within(other, one)));
  return innermost ?? open.at(-1) ?? null;
}

function isHit(dialog: Element): boolean {
  const { left, top, width, height } = own(dialog).getBoundingClientRect();
  const hit = elementAt(left + width / 2, top + height / 2);
  return hit !== null && within(hit, dialog);
}

/** Whether the element is a dialog that may be modal. */
export function isDialog(el: Element): boolean {
  return isA(el, 'dialog') && el.open;
}
