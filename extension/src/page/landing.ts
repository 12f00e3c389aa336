import type { Landed, LandedArgs } from './contract.ts';
import { isElement } from './dom.ts';
import { doc } from './nodes.ts';

/** What the last `@locate` waits for, and whether it has come. */
type Watch = { isMeant: (hit: Element) => boolean; landed: boolean; missed: boolean };
let watch: Watch | null = null;

/** No script of the page was there before our listeners: no other listener can keep a click from them. */
let isFirst = false;

export function watchFor(isMeant: (hit: Element) => boolean): void {
  listen();
  watch = { isMeant, landed: false, missed: false };
}

/** Called once a document, as early as the edge can. */
export function watchClicks(): void {
  isFirst = document.head === null && document.body === null;
  listen();
  new MutationObserver(replaced).observe(document, { childList: true });
}

function listen(): void {
  for (const type of ['mousedown', 'click']) {
    window.addEventListener(type, note, { capture: true, passive: true });
  }
}

/** `document.open()` takes all listeners away, ours too; others may have come before the new ones. */
function replaced(changes: MutationRecord[]): void {
  if (!changes.some((change) => Array.from(change.removedNodes).some(isElement))) return;
  isFirst = false;
  listen();
}

function note(event: Event): void {
  if (watch === null || !event.isTrusted) return;
  const hit = event.composedPath()[0];
  if (isElement(hit) && watch.isMeant(hit)) watch.landed = true;
  else watch.missed = true;
}

export function landed(args: LandedArgs): Landed {
  if (args.doc !== doc) return { landed: performance.timeOrigin >= args.at, gone: true };
  const answer: Landed = { landed: watch?.landed ?? false, gone: false };
  const isSure = isFirst || watch?.landed || watch?.missed;
  return isSure ? answer : { ...answer, unsure: true };
}
