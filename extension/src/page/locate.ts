import type { LocateArgs, Located } from './contract.ts';
import { isA, own, tagOf } from './dom.ts';
import { Refusal } from './failure.ts';
import { resolve } from './find.ts';
import { closest, elementAt, elementsOf, within } from './flat.ts';
import { submitsForm } from './form.ts';
import { watchFor } from './landing.ts';
import { nameOf } from './names.ts';
import { doc, numberOf } from './nodes.ts';
import { asksForClicks, kindOf, roleOf } from './roles.ts';
import { isVisible } from './sight.ts';
import { isDisabled } from './states.ts';
import { isInert, labelsOf } from './walk.ts';

const WAIT_MS = 3000;
/** What covers an element is rarely gone by waiting: say so soon. */
export const COVERED_MS = 800;
/** Animation frames stop in hidden tabs; a timer does not. */
const FRAME_MS = 60;

type Point = { x: number; y: number };
type Try = { point: Point } | { refusal: Refusal };

export async function locate(args: LocateArgs): Promise<Located> {
  const el = resolve(args.target, args.expect);
  const point = await settledPoint(el, args.wait_ms ?? WAIT_MS);
  if (args.expect) resolve(args.target, args.expect);
  if (args.read_only === true) refuseForm(el, point);
  watchFor((hit) => counts(hit, el));
  const role = roleOf(el) || 'generic';
  const at = performance.timeOrigin + performance.now();
  return { ...point, node: numberOf(el), doc, role, name: nameOf(el, role), at };
}

/** Waits until the element can be clicked where it stands; refuses with the reason it had last. */
async function settledPoint(el: Element, waitMs: number): Promise<Point> {
  const start = performance.now();
  if (window !== window.top) intoView(el);
  let before = '';
  for (let round = 0; ; round += 1) {
    const tried = attempt(el, round);
    const now = place(el);
    if ('point' in tried && now === before) return tried.point;
    const limit =
      'refusal' in tried && tried.refusal.failure.code === 'covered' ? COVERED_MS : waitMs;
    if (performance.now() - start > Math.min(limit, waitMs)) throw refusalOf(tried);
    before = now;
    await frame();
  }
}

function refusalOf(tried: Try): Refusal {
  return 'refusal' in tried
    ? tried.refusal
    : new Refusal('timeout', 'The element did not stand still.');
}

function place(el: Element): string {
  const surface = surfaceOf(el);
  const box = surface && own(surface).getBoundingClientRect();
  return box ? [box.x, box.y, box.width, box.height].map(Math.round).join(' ') : '';
}

/** The next animation frame, or a moment later where there are none. */
export function frame(): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, FRAME_MS);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      done();
    });
  });
}

function attempt(el: Element, round: number): Try {
  if (!own(el).isConnected) return no('stale_ref', 'The element left the page.');
  if (closest(el, isInert)) {
    return no(
      'not_enabled',
      'The element is inert: the page has switched off this part of itself.',
    );
  }
  if (isDisabled(el)) return no('not_enabled', 'The element is disabled.');
  const surface = surfaceOf(el);
  if (surface === null) return no('not_visible', 'The element is not visible.');
  const point = hittable(surface, el);
  if (point) return { point };
  if (round < 3) intoView(surface);
  return covered(surface, el);
}

function no(code: 'stale_ref' | 'not_enabled' | 'not_visible', message: string): Try {
  return { refusal: new Refusal(code, message) };
}

/** What of the element can be pressed: itself, or the label that stands for a hidden control. */
function surfaceOf(el: Element): Element | null {
  const seen = isVisible(el) || isOverlaid(el) || Array.from(own(el).children).some(isVisible);
  if (seen) return el;
  return labelsOf(el).find(isVisible) ?? null;
}

/** A transparent input that lies over the picture of a control. */
function isOverlaid(el: Element): boolean {
  if (!isA(el, 'input') || !el.checkVisibility({ visibilityProperty: true })) return false;
  const box = el.getBoundingClientRect();
  return box.width > 1 && box.height > 1 && labelsOf(el).length === 0;
}

function intoView(el: Element): void {
  own(el).scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
}

/** A point where the element itself is hit, rather than something else to operate within it. */
function hittable(surface: Element, el: Element): Point | null {
  let second: Point | null = null;
  for (const point of pointsOf(surface)) {
    const hit = elementAt(point.x, point.y);
    if (hit === null || !counts(hit, el)) continue;
    if (nearestControl(hit) === el || !within(hit, el)) return point;
    second ??= point;
  }
  return second;
}

function nearestControl(hit: Element): Element | null {
  return closest(hit, (at) => kindOf(at, roleOf(at)) === 'control' || asksForClicks(at));
}

/** A press on one of these goes to the document in it, not to what it stands in. */
const FRAMES = ['iframe', 'frame', 'fencedframe', 'object', 'embed'];

/** Whether a press on hit is a press on el: hit is within it, or within a label of it. */
function counts(hit: Element, el: Element): boolean {
  if (hit === el) return true;
  if (FRAMES.includes(tagOf(hit))) return false;
  if (within(hit, el)) return true;
  const label = closest(hit, (at) => isA(at, 'label'));
  return isA(label, 'label') && label.control === el;
}

const GRID = [0.5, 0.25, 0.75, 0.1, 0.9];

/** Points to try: the middle of each of its boxes, then of what stands in it, then all over them. */
function* pointsOf(surface: Element): Generator<Point> {
  const inner: Element[] = [];
  for (const el of elementsOf(surface)) if (inner.push(el) >= 20) break;
  const boxes = [surface, ...inner]
    .flatMap((el) => Array.from(own(el).getClientRects()))
    .map(inViewport);
  const real = boxes.filter((box) => box.right - box.left > 0 && box.bottom - box.top > 0);
  for (const box of real) yield at(box, 0.5, 0.5);
  for (const box of real.slice(0, 4))
    for (const down of GRID) for (const across of GRID) yield at(box, across, down);
}

type Edges = { left: number; top: number; right: number; bottom: number };

function inViewport(box: DOMRect): Edges {
  return {
    left: Math.max(0, box.left),
    top: Math.max(0, box.top),
    right: Math.min(window.innerWidth, box.right),
    bottom: Math.min(window.innerHeight, box.bottom),
  };
}

function at(box: Edges, across: number, down: number): Point {
  return {
    x: box.left + (box.right - box.left) * across,
    y: box.top + (box.bottom - box.top) * down,
  };
}

function covered(surface: Element, el: Element): Try {
  const box = inViewport(own(surface).getBoundingClientRect());
  const middle = at(box, 0.5, 0.5);
  const hit = elementAt(middle.x, middle.y);
  if (hit === null || counts(hit, el))
    return no('not_visible', 'The element cannot be brought into view.');
  const by = coverOf(hit);
  return { refusal: new Refusal('covered', 'Something else lies over the element.', { by }) };
}

/** The covering layer as a person would call it: the nearest thing that has a role. */
function coverOf(hit: Element): { role: string; name: string; node: number } {
  const el = closest(hit, (candidate) => kindOf(candidate, roleOf(candidate)) !== 'none') ?? hit;
  const role = roleOf(el) || 'generic';
  return { role, name: nameOf(el, role), node: numberOf(el) };
}

function refuseForm(el: Element, point: Point): void {
  const hit = elementAt(point.x, point.y);
  if (!submitsForm(el) && !(hit && submitsForm(hit))) return;
  throw new Refusal(
    'form_refused',
    'The click would submit a form, which reading does not permit.',
  );
}
