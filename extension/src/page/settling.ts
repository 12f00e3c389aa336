import { actedOn, actOn } from './acted.ts';
import type { Quiet, QuietArgs } from './contract.ts';
import { isA, isElement, own } from './dom.ts';
import { closest, rootOf } from './flat.ts';
import { isParsing } from './parsing.ts';
import { isDisabled } from './states.ts';

/** Animation frames stop in hidden tabs; a timer does not. */
const FRAME_MS = 25;
/** How long a page is asked whether it is idle before it is looked at again. */
const IDLE_MS = 50;
/** A page that changes without end is waited for no longer, unless something else is under way. */
const RESTLESS_MS = 1000;
/** How long an element that was acted on may say that it is busy, and how long it may be switched off, which may be for good. */
const BUSY_MS = 3000;
const DISABLED_MS = 400;
/** Longer animations are decoration. */
const ANIMATION_MS = 700;

/** Where the document stood when its latest action was over, or when it came. */
let stood = location.href;

/** When somebody last pressed something: what moves since before that is the pointer's doing. */
let pressed = 0;
for (const type of ['mousedown', 'keydown']) {
  const note = (event: Event): void => {
    if (event.isTrusted) pressed = performance.now();
  };
  window.addEventListener(type, note, { capture: true, passive: true });
}

/** What went on changing when a wait gave it up: that is not what an action began. */
const restless = new WeakSet<Node>();

/**
 * What an action began is over when nothing has changed for two animation frames and the page is idle; once something has
 * changed, when nothing has for `quiet_ms`. A page on whose address the action has set out elsewhere within the document, an
 * element that says it is busy, and what comes in or goes out of sight by an animation are given time.
 */
export async function over(args: QuietArgs): Promise<Quiet> {
  const changes = new Changes();
  try {
    return { quiet: await isOver(args, changes) };
  } finally {
    changes.stop();
    actOn(null);
    stood = location.href;
  }
}

async function isOver(args: QuietArgs, changes: Changes): Promise<boolean> {
  const start = performance.now();
  await nextFrame();
  let isShown = await nextFrame();
  for (;;) {
    const waited = performance.now() - start;
    if (waited >= args.max_ms) return false;
    const calm = calmFor(args, changes, waited);
    if (calm === 'restless') return false;
    const isUnseen = !isShown || waited > RESTLESS_MS; // a page that does not show is never asked to be idle
    if (calm === 'calm' && (isUnseen || (await isIdle(changes)))) return true;
    isShown = await nextFrame();
  }
}

function calmFor(
  args: QuietArgs,
  changes: Changes,
  waited: number,
): 'calm' | 'changing' | 'restless' {
  if (isParsing() || isBusy(waited)) return 'changing';
  const since = performance.now() - changes.latest;
  if (changes.latest > 0 && since < args.quiet_ms) {
    if (waited < RESTLESS_MS) return 'changing';
    changes.giveUp(args.quiet_ms);
    return 'restless';
  }
  if (changes.latest === 0 && isAwaited(args, waited)) return 'changing';
  return waited < ANIMATION_MS && isAnimated() ? 'changing' : 'calm';
}

/** Is a page given time to begin anything at all: one that has just come, or whose address has just changed? */
function isAwaited(args: QuietArgs, waited: number): boolean {
  const age = performance.now() - loadedAt();
  if (age < args.quiet_ms) return true;
  const isMoved = args.moved === true || location.href !== stood;
  const isRouted = location.hash !== '' && age < 2 * args.quiet_ms;
  return (isRouted || (isMoved && waited < 2 * args.quiet_ms)) && !isAnchor();
}

function loadedAt(): number {
  const [entry] = performance.getEntriesByType('navigation');
  if (!(entry instanceof PerformanceNavigationTiming)) return 0;
  return entry.loadEventEnd || entry.domContentLoadedEventEnd;
}

/** Work that is done in pieces keeps a page from being idle. */
async function isIdle(changes: Changes): Promise<boolean> {
  const before = changes.latest;
  const isIdle = await new Promise<boolean>((done) => {
    requestIdleCallback(({ didTimeout }) => done(!didTimeout), { timeout: IDLE_MS });
  });
  return isIdle && changes.latest === before;
}

/** The address leads to a place in this document, as links within a text do. */
function isAnchor(): boolean {
  const name = decoded(location.hash.slice(1));
  return (
    name !== '' &&
    (document.getElementById(name) ?? document.getElementsByName(name)[0]) !== undefined
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Does the element that was acted on say that it is at work? It was not disabled when it was pressed. */
function isBusy(waited: number): boolean {
  const el = actedOn();
  if (el === undefined || waited > BUSY_MS || !own(el).isConnected) return false;
  if (closest(el, (at) => own(at).getAttribute('aria-busy') === 'true') !== null) return true;
  return waited < DISABLED_MS && isA(el, 'button') && isDisabled(el);
}

/** What comes in or goes out of sight, or grows, for a short while; what the pointer does to what it is over is nothing of the kind. */
function isAnimated(): boolean {
  return document.getAnimations().some((animation) => {
    const { effect, playState, startTime } = animation;
    if (playState !== 'running' || Number(startTime ?? pressed) < pressed) return false;
    if (!(effect instanceof KeyframeEffect)) return false;
    const end = Number(effect.getComputedTiming().endTime);
    if (!(end <= ANIMATION_MS)) return false;
    const { target } = effect;
    if (!isElement(target) || target === actedOn()) return false;
    return effect.getKeyframes().some(changesSight);
  });
}

const SIGHT = ['opacity', 'visibility', 'display', 'height', 'maxHeight', 'width', 'transform'];
const PLACE = ['translate', 'scale', 'top', 'left', 'right', 'bottom', 'clipPath'];

function changesSight(frame: ComputedKeyframe): boolean {
  return [...SIGHT, ...PLACE].some((property) => property in frame);
}

/** The next animation frame, or a moment later where there are none, which it answers. */
function nextFrame(): Promise<boolean> {
  return new Promise((done) => {
    const timer = setTimeout(done, FRAME_MS, false);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      done(true);
    });
  });
}

/** The changes of the document, and of the shadow trees around what was acted on. */
class Changes {
  /** When something changed last; 0 for never. */
  latest = 0;
  readonly #at = new Map<Node, number>();
  readonly #observer: MutationObserver;

  constructor() {
    this.#observer = new MutationObserver((records) => this.#note(records));
    for (const root of [document, ...treesAround(actedOn() ?? document.activeElement)]) {
      this.#observer.observe(root, {
        subtree: true,
        childList: true,
        attributes: true,
        characterData: true,
      });
    }
  }

  stop(): void {
    this.#observer.disconnect();
  }

  /** What has changed of late is not waited for any more, in this wait and later ones. */
  giveUp(ms: number): void {
    const now = performance.now();
    for (const [node, at] of this.#at) if (now - at < 3 * ms) restless.add(node);
  }

  #note(records: readonly MutationRecord[]): void {
    for (const { target } of records) {
      if (restless.has(target)) continue;
      this.latest = performance.now();
      this.#at.set(target, this.latest);
    }
  }
}

/** The shadow trees that an element stands in, and its own. */
function treesAround(el: Element | null): Node[] {
  const trees: Node[] = [];
  closest(el, (at) => {
    const root = rootOf(at);
    if (root !== null) trees.push(root);
    return false;
  });
  return trees;
}
