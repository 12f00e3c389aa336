/**
 * Which windows shared tabs opened, as a plain value and functions from one value to the next. Chrome's openerTabId does
 * not tell: for a page in the background it names the tab in front.
 */

/**
 * A window that a shared tab opened, or that such a window opened in turn. Without `by` it is held until it closes,
 * because the tab that opened it closed as a read-only one.
 */
export type Opening = Readonly<{ tab: number; by?: number }>;

export type Openings = readonly Opening[];

/** The tabs that count as read-only: those that are, and whatever they opened. */
export function held(openings: Openings, readOnly: Iterable<number>): ReadonlySet<number> {
  const found = new Set(readOnly);
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const { tab, by } of openings) if (by === undefined || found.has(by)) found.add(tab);
  }
  return found;
}

/** Adds a window; one that is known keeps its opener. */
export function add(openings: Openings, opening: Opening): Openings {
  return has(openings, opening.tab) ? openings : [...openings, opening];
}

export function has(openings: Openings, tab: number): boolean {
  return openings.some((opening) => opening.tab === tab);
}

/** Holds a tab that is about to be closed until it is. */
export function keep(openings: Openings, tab: number): Openings {
  return [...openings.filter((opening) => opening.tab !== tab), { tab }];
}

/** A tab closed. What it opened stays held where it was held itself, and is nobody's otherwise. */
export function close(openings: Openings, tab: number, wasHeld: ReadonlySet<number>): Openings {
  const left = openings.filter((opening) => opening.tab !== tab);
  if (!wasHeld.has(tab)) return left.filter((opening) => opening.by !== tab);
  return left.map((opening) => (opening.by === tab ? { tab: opening.tab } : opening));
}

/** Chrome gave a tab another id. */
export function replace(openings: Openings, from: number, to: number): Openings {
  const renamed = (tab: number) => (tab === from ? to : tab);
  return openings.map(({ tab, by }) =>
    by === undefined ? { tab: renamed(tab) } : { tab: renamed(tab), by: renamed(by) },
  );
}
