import { cut, cutAddress, held, maxTitle } from './bounds.ts';
import { type Grant, type Grants, isOwn, ofTab, unusable, update } from './grants.ts';
import { Paced } from './paced.ts';
import type { Pairing } from './pairings.ts';
import {
  type Differences,
  differences,
  hasLeft,
  hostsOf,
  problemAt,
  type Standing,
  standings,
} from './standing.ts';
import {
  forgetGrants,
  forgetPairings,
  type Stored,
  saveGrants,
  saveNextTab,
  savePairings,
} from './store.ts';

/** What pages say of themselves is written and told this often at most: they may say it thousands of times a second. */
const notingMS = 250;

/** Where a tab is and what its page is called. */
export type Seen = Partial<Pick<Grant, 'url' | 'title'>>;

/**
 * The worker's memory: pairings and grants, written to storage as they change. It tells its one reader what there is
 * to do after each change.
 */
export class Book {
  readonly install: string;
  readonly #changed: (differences: Differences) => void;
  #nextTab: number;
  #pairings: readonly Pairing[];
  #ownHosts: readonly string[];
  #grants: Grants;
  #standings: readonly Standing[];
  #trouble: string | undefined;
  /** What was seen of shared tabs and is not in their grants yet. */
  readonly #seen = new Map<number, Seen>();
  readonly #noting = new Paced(notingMS, () => this.#note());

  constructor(stored: Stored, changed: (differences: Differences) => void) {
    this.install = stored.install;
    this.#nextTab = stored.nextTab;
    this.#pairings = stored.pairings;
    this.#ownHosts = hostsOf(stored.pairings);
    this.#grants = stored.grants;
    this.#standings = standings(this.#grants, this.#pairings);
    this.#changed = changed;
  }

  get grants(): Grants {
    return this.#grants;
  }

  get pairings(): readonly Pairing[] {
    return this.#pairings;
  }

  get standings(): readonly Standing[] {
    return this.#standings;
  }

  /** What went wrong with keeping all this, in words for the person. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  pairing(key: string): Pairing | undefined {
    return this.#pairings.find((pairing) => pairing.key === key);
  }

  ofTab(tab: number): Standing | undefined {
    return this.#standings.find((standing) => standing.grant.tab === tab);
  }

  /** Whether a tab is shared, and at a page that may be worked in. */
  isUsable(tab: number): boolean {
    const standing = this.ofTab(tab);
    return standing !== undefined && standing.suspended === undefined;
  }

  ofName(pairing: string, name: string): Standing | undefined {
    return this.#standings.find(({ grant }) => grant.pairing === pairing && grant.name === name);
  }

  /** Why nothing can run in a page, in words; `undefined` where it can. */
  unusable(url: string): string | undefined {
    return unusable(url, this.ownHosts);
  }

  /** Why nothing can run in a shared tab at an address, in words; `undefined` where it can. */
  problemAt(grant: Grant, url: string): string | undefined {
    return problemAt(grant, url, this.ownHosts);
  }

  /** Whether an address is one that nobody learns from a shared tab: of where it may not be, or of Chaperone itself. */
  isAway(grant: Grant, url: string): boolean {
    return hasLeft(grant, url) || this.isOwn(url);
  }

  /** Whether an address is one of Chaperone's own servers'. */
  isOwn(url: string): boolean {
    return isOwn(url, this.ownHosts);
  }

  /** Where Chaperone's own servers are. */
  get ownHosts(): readonly string[] {
    return this.#ownHosts;
  }

  /** Takes a name for a tab; it is on disk before it is used, so that no name is ever given twice. */
  async takeName(): Promise<string> {
    const name = `t${this.#nextTab}`;
    this.#nextTab += 1;
    await saveNextTab(this.#nextTab);
    return name;
  }

  /**
   * Takes what was seen of a tab: at once where it decides whether anything may run there, soon where it is only to be
   * shown.
   */
  see(tab: number, seen: Seen): void {
    const standing = this.ofTab(tab);
    if (standing === undefined) return;
    const { grant, suspended } = standing;
    this.#seen.set(tab, { ...this.#seen.get(tab), ...seen });
    if (this.problemAt(grant, seen.url ?? grant.url) === suspended) this.#noting.ask();
    else this.#note();
  }

  writeGrants(grants: Grants): void {
    if (grants === this.#grants) return;
    this.#grants = held(grants);
    for (const tab of this.#seen.keys()) if (!ofTab(this.#grants, tab)) this.#seen.delete(tab);
    void this.#keep(saveGrants(this.#grants), forgetGrants);
    this.#restand();
  }

  writePairings(pairings: readonly Pairing[]): void {
    this.#note(); // what was harmless to wait with may be another thing for other servers
    this.#pairings = pairings;
    this.#ownHosts = hostsOf(pairings);
    void this.#keep(savePairings(pairings), forgetPairings);
    this.#restand();
  }

  changePairing(key: string, change: Partial<Pairing>): void {
    this.writePairings(
      this.#pairings.map((pairing) => (pairing.key === key ? { ...pairing, ...change } : pairing)),
    );
  }

  #note(): void {
    let grants = this.#grants;
    for (const [tab, seen] of this.#seen) grants = update(grants, tab, cutSeen(seen));
    this.#seen.clear();
    this.writeGrants(grants);
  }

  /**
   * Waits for a write. Where it fails, what was there before would come back with the worker's next life, be it against
   * the person's will: so it is removed, and all sharing ends now.
   */
  async #keep(write: Promise<void>, forget: () => Promise<void>): Promise<void> {
    try {
      await write;
      if (this.#grants.length > 0) this.#trouble = undefined;
    } catch {
      this.#trouble = unkept;
      this.#grants = [];
      this.#restand();
      await Promise.allSettled([forget(), forgetGrants()]);
    }
  }

  #restand(): void {
    const before = this.#standings;
    this.#standings = standings(this.#grants, this.#pairings);
    this.#changed(differences(before, this.#standings));
  }
}

function cutSeen({ url, title }: Seen): Seen {
  return {
    ...(url === undefined ? {} : { url: cutAddress(url) }),
    ...(title === undefined ? {} : { title: cut(title, maxTitle) }),
  };
}

const unkept =
  'Chrome could not store what is shared, so nothing is shared any more. Restart Chrome if this comes back.';
