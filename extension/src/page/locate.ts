import { areaBox, pictureOf } from './areas.ts';
import type { Hit, LocateArgs, Located, Purpose, Side } from './contract.ts';
import { isA, isElement, isHTML, own, tagOf } from './dom.ts';
import { Refusal } from './failure.ts';
import { resolve } from './find.ts';
import { closest, elementAt, elementsOf, rootOf, within } from './flat.ts';
import { submitsForm } from './form.ts';
import { modalDialog, offReason } from './inert.ts';
import { watchFor, watchToo, withoutMenu } from './landing.ts';
import { nameOf } from './names.ts';
import { doc, numberOf } from './nodes.ts';
import { asksForClicks, kindOf, roleOf } from './roles.ts';
import { isVisible } from './sight.ts';
import { isDisabled } from './states.ts';
import { labelsOf } from './walk.ts';

const WAIT_MS = 3000;
/** What covers an element is rarely gone by waiting: say so soon. */
export const COVERED_MS = 800;
/** Animation frames stop in hidden tabs; a timer does not. */
const FRAME_MS = 60;
/** What was seen longer ago says nothing of whether it stands still. */
const GLANCE_MS = 1000;

type Point = { x: number; y: number };
type Try = { point: Point } | { refusal: Refusal };

/** What the last locate chose, for whoever looks beneath it. */
let chosen: { el: Element; readOnly: boolean } | null = null;

/** Where an element stood when it was last glanced at, and the frame after that. */
let glanced: { el: Element; place: string; at: number; passed: Promise<void> } | null = null;

export async function locate(args: LocateArgs): Promise<Located> {
  const el = resolve(args.target, args.expect);
  const aim = { purpose: args.purpose ?? 'click', side: args.side, stay: args.stay === true };
  const seen = args.glance === true ? glance(el, aim) : null;
  const point = seen ?? (await settledPoint(el, aim, args.wait_ms ?? WAIT_MS));
  if (args.expect) resolve(args.target, args.expect);
  const readOnly = args.read_only === true;
  const hit = elementAt(point.x, point.y);
  if (readOnly) refuseForm(el, hit);
  chosen = { el, readOnly };
  watch(aim.purpose, el, point);
  withoutMenu(args.menu === true);
  const role = roleOf(el) || 'generic';
  const at = performance.timeOrigin + performance.now();
  const veiled = hit !== null && mayVeil(hit) ? { veiled: true as const } : {};
  return { ...point, node: numberOf(el), doc, role, name: nameOf(el, role), at, ...veiled };
}

function watch(purpose: Purpose, el: Element, point: Point): void {
  const isMeant = (hit: Element, event: Event) =>
    purpose === 'drop' && event.type !== 'drop' ? endsAt(event, point) : counts(hit, el);
  if (purpose === 'drop') watchToo(purpose, isMeant);
  else watchFor(purpose, isMeant);
}

/** Whether the button came up where it was to: what is dragged may lie there, or have the pointer's events to itself. */
function endsAt(event: Event, point: Point): boolean {
  if (event.type === 'dragend' || !(event instanceof MouseEvent)) return false;
  return Math.abs(event.clientX - point.x) < 2 && Math.abs(event.clientY - point.y) < 2;
}

/** Elements, besides those with a dash in their name, that can hold a shadow tree. */
const HOSTS =
  'article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span'.split(
    ' ',
  );

/** Whether a closed shadow tree, which nobody but the browser sees into, may stand here. */
function mayVeil(hit: Element): boolean {
  const tag = tagOf(hit);
  return isHTML(hit) && rootOf(hit) === null && (tag.includes('-') || HOSTS.includes(tag));
}

/** What the browser hits where locate led, closed shadow trees looked through: is that what was chosen? */
export function hit(node: unknown): Hit {
  if (!isElement(node) || chosen === null) return {};
  const { el, readOnly } = chosen;
  if (!counts(node, el)) {
    throw new Refusal('covered', 'Something else lies over the element.', { by: coverOf(node) });
  }
  if (readOnly) refuseForm(el, node);
  return {};
}

type Aim = { purpose: Purpose; side: Side | undefined; stay: boolean };

/** Where the element can be clicked as it stands, if it can. */
function glance(el: Element, aim: Aim): Point | null {
  if (window !== window.top && !aim.stay) intoView(el);
  const tried = attempt(el, aim, 0);
  if (!('point' in tried)) return null;
  glanced = { el, place: place(el), at: performance.now(), passed: frame() };
  return tried.point;
}

/** Where an element stood a frame ago at least, as far as it was glanced at. */
async function placeBefore(el: Element): Promise<string> {
  const last = glanced;
  glanced = null;
  if (last?.el !== el || performance.now() - last.at > GLANCE_MS) return '';
  await last.passed;
  return last.place;
}

/** Waits until the element can be clicked where it stands; refuses with the reason it had last. */
async function settledPoint(el: Element, aim: Aim, waitMs: number): Promise<Point> {
  const start = performance.now();
  if (window !== window.top && !aim.stay) intoView(el);
  let before = await placeBefore(el);
  for (let round = 0; ; round += 1) {
    const tried = attempt(el, aim, round);
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

function attempt(el: Element, aim: Aim, round: number): Try {
  if (!own(el).isConnected) return no('stale_ref', 'The element left the page.');
  const off = switchedOff(el);
  if (off) return { refusal: off };
  const isHeeded = aim.purpose === 'click' || aim.purpose === 'drag';
  if (isHeeded && isDisabled(el)) return no('not_enabled', 'The element is disabled.');
  const surface = surfaceOf(el);
  if (surface === null) return no('not_visible', 'The element is not visible.');
  const point = hittable(surface, el, aim.side);
  if (point) return { point };
  if (round < 3 && !aim.stay) intoView(surface);
  return covered(surface, el);
}

function no(code: 'stale_ref' | 'not_enabled' | 'not_visible', message: string): Try {
  return { refusal: new Refusal(code, message) };
}

/** Why a press on the element would do nothing, where the page has switched off the part of itself that it is in. */
function switchedOff(el: Element): Refusal | null {
  const reason = offReason(el);
  const modal = modalDialog();
  if (reason === 'modal' && modal) {
    const by = coverOf(modal);
    return new Refusal('covered', 'A modal dialog of the page is open: deal with it first.', {
      by,
    });
  }
  if (reason === '') return null;
  return new Refusal(
    'not_enabled',
    'The element is inert: the page has switched off this part of itself.',
  );
}

/** What of the element can be pressed: itself, or the label that stands for a hidden control. */
function surfaceOf(el: Element): Element | null {
  const picture = pictureOf(el);
  if (picture) return isVisible(picture) ? picture : null;
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
function hittable(surface: Element, el: Element, side: Side | undefined): Point | null {
  let second: Point | null = null;
  for (const point of side === undefined ? pointsOf(surface, el) : pointsOn(surface, side)) {
    const hit = elementAt(point.x, point.y);
    if (hit === null || !counts(hit, el)) continue;
    if (nearestControl(hit, el) === el || !within(hit, el)) return point;
    second ??= point;
  }
  return second;
}

function nearestControl(hit: Element, el: Element): Element | null {
  return closest(
    hit,
    (at) => at === el || kindOf(at, roleOf(at)) === 'control' || asksForClicks(at),
  );
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
function* pointsOf(surface: Element, of: Element): Generator<Point> {
  const area = areaBox(of);
  if (area) yield* gridOf(area);
  const inner: Element[] = [];
  for (const el of elementsOf(surface)) if (inner.push(el) >= 20) break;
  const boxes = [surface, ...inner]
    .flatMap((el) => Array.from(own(el).getClientRects()))
    .map(inViewport);
  const real = boxes.filter((box) => box.right - box.left > 0 && box.bottom - box.top > 0);
  for (const box of real) yield at(box, 0.5, 0.5);
  for (const box of real.slice(0, 4)) yield* gridOf(box);
}

function* gridOf(box: Edges): Generator<Point> {
  for (const down of GRID) for (const across of GRID) yield at(box, across, down);
}

/** How far down and across the element's box. */
const SIDES: Record<Side, readonly [number, number]> = {
  center: [0.5, 0.5],
  top: [0.2, 0.5],
  bottom: [0.8, 0.5],
  left: [0.5, 0.2],
  right: [0.5, 0.8],
};

/** One point: what is meant by it depends on where on the element it is. */
function pointsOn(surface: Element, side: Side): Point[] {
  const box = own(surface).getBoundingClientRect();
  const [down, across] = SIDES[side];
  const point = at(box, across, down);
  const isSeen =
    point.x >= 0 && point.y >= 0 && point.x < window.innerWidth && point.y < window.innerHeight;
  return isSeen ? [point] : [];
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

function refuseForm(el: Element, hit: Element | null): void {
  if (!submitsForm(el) && !(hit && submitsForm(hit))) return;
  throw new Refusal(
    'form_refused',
    'The click would submit a form, which reading does not permit.',
  );
}
