import { actOn } from './acted.ts';
import { pictureOf } from './areas.ts';
import { address, site } from './bounds.ts';
import type { Described, Expected, FindArgs, Found, Target, Wanted } from './contract.ts';
import { tagOf } from './dom.ts';
import { isOfEditor } from './editors.ts';
import { Refusal } from './failure.ts';
import { elementsOf, fold } from './flat.ts';
import { isOff } from './inert.ts';
import { nameOf } from './names.ts';
import { doc, elementOf, numberOf } from './nodes.ts';
import { kindOf, roleOf } from './roles.ts';
import { boxInSight, isVisible, sightOf, standsIn } from './sight.ts';
import type { Item } from './walk.ts';
import { labelsOf, walk } from './walk.ts';

const MOST_MATCHES = 20;

type Match = { el: Element; role: string; name: string };

export function find(args: FindArgs): Found {
  const matches = matching({ role: args.role ?? '', name: args.name ?? '' });
  const shown = matches.slice(0, args.limit ?? MOST_MATCHES);
  return {
    doc,
    url: address(),
    site: site(),
    total: matches.length,
    matches: shown.map(({ el, role, name }) => ({ node: numberOf(el), role, name })),
  };
}

/** The one element that is meant. */
export function resolve(target: Target, expect?: Expected): Element {
  if (!('node' in target)) return actOn(described(target));
  const el = elementOf(target);
  if (expect) checkStillIs(el, expect);
  return actOn(el);
}

/** A page may put another text into the same element; a ref must not follow it there. */
function checkStillIs(el: Element, expect: Expected): void {
  // A clickable box and a scroll area have no role of their own; the snapshot gave them one.
  const role = roleOf(el) || expect.role;
  const name = nameOf(el, role);
  if (role === expect.role && name === expect.name) return;
  throw new Refusal(
    'stale_ref',
    'The element has become another one since it was given this ref.',
    {
      was: expect,
      is: { role, name },
    },
  );
}

function described(target: Described): Element {
  const matches = matching(target);
  const el = matches[target.nth ?? 0]?.el;
  if (el === undefined)
    throw new Refusal('not_found', 'Nothing on the page fits this role and name.');
  if (target.nth === undefined && matches.length > 1) {
    throw new Refusal('ambiguous', `${matches.length} elements fit this role and name.`);
  }
  return el;
}

/** Elements of the role whose name is the one given; where none is, those whose name contains it. */
function matching(wanted: { role: string; name: string }): Match[] {
  const role = wanted.role.toLowerCase();
  const name = fold(wanted.name);
  const all = withRole(role).map((el) => ({ el, role, name: nameOf(el, role) }));
  const exact = all.filter((match) => match.name === name && isListed(match.el));
  if (exact.length > 0) return exact;
  const loose = name.toLowerCase();
  return all.filter((match) => match.name.toLowerCase().includes(loose) && isListed(match.el));
}

/**
 * Elements of the role whose name contains the name, or exactly is it; without a role all that a snapshot has lines for.
 * Whether they show is not asked: that costs most.
 */
export function fitting(wanted: Wanted & { exact?: boolean }): Element[] {
  const said = fold(wanted.name ?? '');
  const loose = said.toLowerCase();
  return withRole((wanted.role ?? '').toLowerCase()).filter((el) => {
    if (said === '') return true;
    const name = nameOf(el, roleOf(el) || 'generic');
    return wanted.exact ? name === said : name.toLowerCase().includes(loose);
  });
}

function withRole(role: string): Element[] {
  const root = document.body ?? document.documentElement;
  if (root === null) return [];
  if (role === 'generic') return clickable();
  const found: Element[] = [];
  for (const el of elementsOf(root)) {
    const is = roleOf(el);
    if (role === '' ? kindOf(el, is) !== 'none' : is === role) found.push(el);
  }
  return found;
}

/** Boxes that only their style makes something to click are told by the walk alone. */
function clickable(): Element[] {
  const tally = { left: Number.POSITIVE_INFINITY, more: 0 };
  return [...flatten(walk(null, tally).items)].flatMap((it) =>
    it.role === 'generic' && it.el ? [it.el] : [],
  );
}

function* flatten(items: Item[]): Generator<Item> {
  for (const it of items) {
    yield it;
    yield* flatten(it.children);
  }
}

/** Whether a snapshot without end would list it. */
export function isListed(el: Element): boolean {
  if (isOff(el)) return false;
  if (labelsOf(el).some(isVisible) || isOfEditor(el)) return true;
  const picture = pictureOf(el);
  if (picture) return isListed(picture);
  const sight = sightOf(el);
  const style = getComputedStyle(el);
  if (sight === null || style.visibility !== 'visible') return false;
  if (style.opacity === '0' && tagOf(el) !== 'input') return false;
  return boxInSight(el, standsIn(style, sight));
}
