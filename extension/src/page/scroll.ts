import type { ScrollArgs, Scrolled } from './contract.ts';
import { own } from './dom.ts';
import { Refusal } from './failure.ts';
import { closest, elementAt } from './flat.ts';
import { frame } from './locate.ts';
import { elementOf } from './nodes.ts';
import { roleOf } from './roles.ts';
import { isScrollArea } from './walk.ts';

/** Most of a screen, so that a line or two stays in view. */
const PART = 0.8;

export async function scroll(args: ScrollArgs): Promise<Scrolled> {
  const target = args.node ? elementOf(args.node) : null;
  const el = paneOf(target, args.to);
  const pane = own(el);
  const before = pane.scrollTop;
  if (args.to === 'node') intoView(target);
  else pane.scrollBy({ top: distance(pane, args), behavior: 'instant' });
  await frame();
  await frame();
  return {
    pane: isPage(el) ? 'page' : roleOf(el) || 'pane',
    moved: Math.round(pane.scrollTop - before),
    x: Math.round(window.scrollX),
    y: Math.round(window.scrollY),
    more_above: Math.round(pane.scrollTop),
    more_below: Math.max(0, Math.round(pane.scrollHeight - pane.clientHeight - pane.scrollTop)),
  };
}

function intoView(target: Element | null): void {
  if (target === null)
    throw new Refusal('bad_request', 'Scrolling to an element needs the element.');
  own(target).scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
}

function distance(pane: Element, args: ScrollArgs): number {
  const amount = args.amount && args.amount > 0 ? args.amount : pane.clientHeight * PART;
  switch (args.to) {
    case 'up':
      return -amount;
    case 'top':
      return -pane.scrollTop;
    case 'bottom':
      return pane.scrollHeight;
    default:
      return amount;
  }
}

/** What is to scroll: the pane around the element, else the page, else the pane in the middle of the window. */
function paneOf(target: Element | null, to: ScrollArgs['to']): Element {
  const page = document.scrollingElement ?? document.documentElement;
  const from = to === 'node' ? target && own(target).parentElement : target;
  const around = closest(from, scrollsDown);
  if (around) return around;
  if (target || canScroll(page)) return page;
  const middle = elementAt(window.innerWidth / 2, window.innerHeight / 2);
  return closest(middle, scrollsDown) ?? largestPane() ?? page;
}

function scrollsDown(el: Element): boolean {
  return own(el).scrollHeight > own(el).clientHeight + 1 && isScrollArea(el, getComputedStyle(el));
}

function canScroll(page: Element): boolean {
  const locked = [document.documentElement, document.body].some(
    (el) => el !== null && getComputedStyle(el).overflowY === 'hidden',
  );
  return !locked && page.scrollHeight > window.innerHeight + 1;
}

function isPage(el: Element): boolean {
  return el === document.scrollingElement || el === document.documentElement;
}

function largestPane(): Element | null {
  const panes = Array.from(document.querySelectorAll('*')).filter(scrollsDown);
  const size = (el: Element) => own(el).clientHeight * own(el).clientWidth;
  panes.sort((a, b) => size(b) - size(a));
  return panes[0] ?? null;
}
