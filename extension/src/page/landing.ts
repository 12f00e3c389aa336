import type { Landed, LandedArgs, Purpose } from './contract.ts';
import { isElement } from './dom.ts';
import { doc } from './nodes.ts';

/** Where a trusted event is waited for, and whether it has come. */
type Meant = (hit: Element, event: Event) => boolean;
type Watch = { isMeant: Meant; landed: boolean; missed: boolean; clicked: boolean };
/** What the last `@locate` of each purpose waits for. */
const watches = new Map<Purpose, Watch>();

/** No script of the page was there before our listeners: no other listener can keep a click from them. */
let isFirst = false;

/** What tells that something landed. Of a drop the page is told where it takes it, and of a button wherever it comes up. */
const EVENTS: Record<Purpose, readonly string[]> = {
  click: ['mousedown', 'click'],
  hover: ['mouseover', 'mousemove'],
  drag: ['mousedown'],
  drop: ['drop', 'dragend', 'mouseup', 'pointerup'],
};

const ALL = [...new Set(Object.values(EVENTS).flat())];

export function watchFor(purpose: Purpose, isMeant: Meant): void {
  watches.clear();
  watchToo(purpose, isMeant);
}

/** Waits for one more, beside what is waited for already. */
export function watchToo(purpose: Purpose, isMeant: Meant): void {
  listen(EVENTS[purpose]);
  watches.set(purpose, { isMeant, landed: false, missed: false, clicked: false });
}

/** Called once a document, as early as the edge can. */
export function watchClicks(): void {
  isFirst = document.head === null && document.body === null;
  listen(EVENTS.click);
  window.addEventListener('contextmenu', keepMenuAway);
  new MutationObserver(replaced).observe(document, { childList: true });
}

function listen(types: readonly string[], at: EventTarget = window): void {
  for (const type of types) at.addEventListener(type, note, { capture: true, passive: true });
}

/** Listens in a closed shadow tree too: outside of it, what happens within seems to happen to its host. */
export function watchRoot(root: ShadowRoot): void {
  listen(ALL, root);
}

/** `document.open()` takes all listeners away, ours too; others may have come before the new ones. */
function replaced(changes: MutationRecord[]): void {
  if (!changes.some((change) => Array.from(change.removedNodes).some(isElement))) return;
  isFirst = false;
  listen(ALL);
  window.addEventListener('contextmenu', keepMenuAway);
}

/** Whether the browser's own menu is to be kept away from the next right click. */
let menuDue = false;

export function withoutMenu(isDue: boolean): void {
  menuDue = isDue;
}

/** Heard last, when the page has done with it what it would. */
function keepMenuAway(event: Event): void {
  if (menuDue && event.isTrusted) event.preventDefault();
  menuDue = false;
}

function note(event: Event): void {
  if (!event.isTrusted) return;
  const hit = event.composedPath()[0];
  for (const [purpose, watch] of watches) {
    if (!EVENTS[purpose].includes(event.type)) continue;
    if (isElement(hit) && watch.isMeant(hit, event)) {
      watch.landed = true;
      watch.clicked ||= event.type === 'click';
    } else watch.missed = true;
  }
}

export function landed({ doc: of, at, purpose = 'click' }: LandedArgs): Landed {
  if (of !== doc) return { landed: performance.timeOrigin >= at, gone: true };
  const watch = watches.get(purpose);
  const isHalf = purpose === 'click' && watch?.landed === true && !watch.clicked;
  const answer: Landed = {
    landed: watch?.landed ?? false,
    gone: false,
    ...(isHalf ? { half: true as const } : {}),
  };
  const isSure = (isFirst && purpose === 'click') || watch?.landed || watch?.missed;
  return isSure ? answer : { ...answer, unsure: true };
}
