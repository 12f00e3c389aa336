import { isA, isHTML, own } from './dom.ts';
import { Refusal } from './failure.ts';
import { closest, elementsOf, rootOf, within } from './flat.ts';
import { offReason } from './inert.ts';
import { frame } from './locate.ts';
import { nameOf } from './names.ts';
import { numberOf } from './nodes.ts';
import { isEditingHost, roleOf } from './roles.ts';
import { isVisible } from './sight.ts';
import { isDisabled } from './states.ts';

/** A field that the page is about to switch on is worth waiting for. */
const WAIT_MS = 3000;

/** The element that keys go to, through shadow roots; null where that is the document itself. */
export function focusedElement(): Element | null {
  let at = document.activeElement;
  for (let root = at && rootOf(at); root?.activeElement; root = rootOf(at)) {
    at = root.activeElement;
    if (at === null) return null;
  }
  return at === document.body || at === document.documentElement ? null : at;
}

/** Gives the element the keyboard, once it can have it, and answers what in it has it now. */
export async function giveKeyboard(el: Element, waitMs: number = WAIT_MS): Promise<Element> {
  await ready(el, waitMs);
  if (!isInView(el)) {
    own(el).scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
  }
  for (const part of partsOf(el)) {
    if ('focus' in own(part)) own(part as HTMLElement).focus({ preventScroll: true });
    const now = focusedElement();
    if (now !== null && within(now, part)) return now;
    if (now !== null && part === el && canHaveFocus(el)) throw movedTo(now);
  }
  throw notAField();
}

/** The element itself, and the one field in it, where it is only what a field stands in. */
function* partsOf(el: Element): Generator<Element> {
  yield el;
  const inner = innerFields(el);
  if (inner[0] !== undefined && inner.length === 1) yield inner[0];
}

function innerFields(el: Element): Element[] {
  const fields: Element[] = [];
  for (const inner of elementsOf(el)) if (isField(inner) && isRendered(inner)) fields.push(inner);
  return fields;
}

/** Whether it is something that text is entered into. */
export function isField(el: Element): boolean {
  return isA(el, 'input') || isA(el, 'textarea') || isEditingHost(el) || contextOf(el) !== null;
}

type EditContext = { text: string };

/** What holds the text of an element that is typed into and draws it itself. */
export function contextOf(el: Element): EditContext | null {
  const { editContext } = own(el) as { editContext?: EditContext | null };
  return editContext ?? null;
}

/** Whether an editor takes keys there and shows its text elsewhere. */
export function isStandIn(field: Element): boolean {
  if (contextOf(field) !== null) return true;
  if (!isA(field, 'textarea')) return false;
  return !isVisible(field) || field.clientHeight < 4 || isShut(field.parentElement);
}

function isShut(holder: Element | null): boolean {
  if (holder === null) return false;
  return own(holder).clientHeight < 4 && getComputedStyle(holder).overflow === 'hidden';
}

function canHaveFocus(el: Element): boolean {
  return isField(el) || (isHTML(el) && own(el).tabIndex >= 0);
}

export function notAField(): Refusal {
  return new Refusal('not_enabled', 'The element is not a field that text can be entered into.');
}

/** What is entered now would go elsewhere: the page has the last word on who has the keyboard. */
function movedTo(now: Element): Refusal {
  const role = roleOf(now) || 'generic';
  const by = { role, name: nameOf(now, role), node: numberOf(now) };
  return new Refusal('not_landed', 'The page gives the keyboard to another element at once.', {
    by,
  });
}

/** Waits until the element can have the keyboard; refuses with the reason it had last. */
export async function ready(el: Element, waitMs: number = WAIT_MS): Promise<void> {
  const start = performance.now();
  for (let why = unfit(el); why !== null; why = unfit(el)) {
    if (performance.now() - start > waitMs) throw why;
    await frame();
  }
}

function unfit(el: Element): Refusal | null {
  if (!own(el).isConnected) return new Refusal('stale_ref', 'The element left the page.');
  if (offReason(el) !== '') {
    return new Refusal('not_enabled', 'The page has switched this part of itself off.');
  }
  if (isDisabled(el)) return new Refusal('not_enabled', 'The element is disabled.');
  if (!isRendered(el)) return new Refusal('not_visible', 'The element is not visible.');
  return null;
}

function isRendered(el: Element): boolean {
  if (getComputedStyle(el).display === 'contents') return true;
  return own(el).checkVisibility({ visibilityProperty: true });
}

function isInView(el: Element): boolean {
  const box = own(el).getBoundingClientRect();
  const across = box.left >= 0 && box.right <= window.innerWidth;
  return across && box.top >= 0 && box.bottom <= window.innerHeight;
}

/** Selects all that the field holds, so that what is entered replaces it. */
export function selectAll(field: Element): void {
  if (isA(field, 'input') || isA(field, 'textarea')) field.select();
  else selectionAt(field)?.selectAllChildren(field);
}

/** Puts the caret where a person would go on typing: at the end. */
export function toEnd(field: Element): void {
  if (isA(field, 'textarea') || isA(field, 'input')) {
    try {
      field.setSelectionRange(field.value.length, field.value.length);
    } catch {
      // Some kinds of input have a caret but do not tell of it.
    }
  } else if (isHTML(field) && own(field).isContentEditable) {
    const selection = selectionAt(field);
    selection?.selectAllChildren(field);
    selection?.collapseToEnd();
  }
}

type Selecting = { getSelection?: () => Selection | null };

/** The selection of the tree the field stands in: the document's does not reach into shadow trees. */
function selectionAt(field: Element): Selection | null {
  const root = own(field).getRootNode() as Selecting;
  return root.getSelection?.() ?? getSelection();
}

/** The field that something stands in, or the one that stands in it; else the element itself. */
export function fieldOf(el: Element): Element {
  const around = closest(el, isField);
  if (around !== null) return around;
  const inner = innerFields(el);
  return inner.length === 1 && inner[0] !== undefined ? inner[0] : el;
}
