import type { Away } from './away.ts';
import type { Contexts } from './contexts.ts';
import type { Rules } from './guarded.ts';
import type { Meter } from './meter.ts';
import type { Asker } from './runs.ts';
import type { Command } from './wire.ts';

/** Where a tab's events and replies go, and how much of them waits there. */
export type Way = Asker & { readonly backlog: number };

/** A command that Chrome has not answered yet; it is answered once, by whoever takes it. */
export type Flight = {
  id: number;
  method: string;
  /** The page may open a window for it. */
  opens?: boolean;
  lift: () => void;
};

/** A command of a CDP client on its way. */
export type Order = Command & { key: string; line: Way };

/** A command that waits for something that the tab is about to tell. */
export type Waiting = { flight: Flight; isReady: () => boolean; goOn: () => void };

/**
 * One tab that a session's CDP clients use. `coming`: it is being attached for the first time; `asleep`: it is not
 * attached for now.
 */
export type Hold = {
  readonly key: string;
  readonly session: string;
  readonly name: string;
  readonly line: Way;
  /** Aborted when it is over. */
  readonly gone: AbortController;
  readonly flights: Map<number, Flight>;
  readonly meter: Meter;
  /** The names of the scripts that clients added, by target session. */
  readonly scripts: Set<string>;
  /** The JavaScript contexts of the page and its children. */
  readonly contexts: Contexts;
  /** The children that clients were told of. */
  readonly introduced: Set<string>;
  /** The children that are asked where they are, because clients may not be told of them yet. */
  readonly watched: Set<string>;
  /** Commands that wait, in the order in which they came. */
  readonly waiting: Waiting[];
  /** Where the page is going that its clients may not know. */
  readonly away: Away;
  tab: number;
  /** Where clients' scripts may run in documents to come. */
  rules: Rules;
  /** Its page goes to a document that nobody has judged yet. */
  isCrossing: boolean;
  /** The CDP target id of the page; empty until it is attached. */
  target: string;
  /** The id of the page's own frame, mostly the target's; see Root. */
  frame: string;
  state: 'coming' | 'held' | 'asleep';
  /** Why it is asleep. */
  why: string;
  /** Gives the tab back. */
  leave?: () => void;
  /** Ends the wait until it is attached anew; there only while it is waited. */
  nudge?: () => void;
  isJoining: boolean;
  /** Something happened since the last try. */
  isNudged: boolean;
  /** Until then it is not tried. */
  restsUntilMS: number;
  /** How long it rested the last time. */
  restMS: number;
  /** Until then a window that the page opens is the session's. */
  opensUntilMS: number;
  /** Commands to a read-only tab wait, one after the other, for what must stand before them. */
  turn: Promise<void>;
};

/** The tabs that are held, by the name that the server knows them by. */
export class Holds {
  readonly #holds = new Map<string, Hold>();

  add(hold: Hold): void {
    this.#holds.set(`${hold.key} ${hold.name}`, hold);
  }

  /** Whether it counts still. */
  has(hold: Hold): boolean {
    return this.find(hold.key, hold.name) === hold;
  }

  find(key: string, name: string): Hold | undefined {
    return this.#holds.get(`${key} ${name}`);
  }

  ofTab(tab: number): Hold | undefined {
    for (const hold of this.#holds.values()) if (hold.tab === tab) return hold;
    return undefined;
  }

  where(fits: (hold: Hold) => boolean): Hold[] {
    return [...this.#holds.values()].filter(fits);
  }

  remove(hold: Hold): void {
    if (this.has(hold)) this.#holds.delete(`${hold.key} ${hold.name}`);
  }

  /** How many commands of a line are under way. */
  underWay(line: Way): number {
    let sum = 0;
    for (const hold of this.#holds.values()) if (hold.line === line) sum += hold.flights.size;
    return sum;
  }
}
