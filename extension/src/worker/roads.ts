/** A tab as far as its way is concerned. */
export type Traveller = {
  id?: number | undefined;
  url?: string | undefined;
  pendingUrl?: string | undefined;
  status?: string | undefined;
};

/** Which tabs are on their way to another page: their addresses say where they are, not where they will be. */
export class Roads {
  readonly #find: (tab: number) => Promise<Traveller | undefined>;
  /** How many navigations of a tab's main frame have begun and not ended. */
  readonly #begun = new Map<number, number>();
  /** Tabs that are on their way to where they may not be worked in. */
  readonly #leaving = new Set<number>();

  constructor(find: (tab: number) => Promise<Traveller | undefined>) {
    this.#find = find;
  }

  began(tab: number): void {
    this.#begun.set(tab, (this.#begun.get(tab) ?? 0) + 1);
  }

  /** A navigation ended, in a page or in nothing; whether the tab was leaving by one. */
  ended(tab: number): boolean {
    const left = (this.#begun.get(tab) ?? 0) - 1;
    if (left > 0) this.#begun.set(tab, left);
    else this.#begun.delete(tab);
    return this.#leaving.delete(tab);
  }

  leave(tab: number): void {
    this.#leaving.add(tab);
  }

  /** Whether a tab as Chrome tells it is about to be elsewhere than it says, where it may not be worked in. */
  isLeaving(tab: Traveller): boolean {
    if (tab.id === undefined || !this.#leaving.has(tab.id)) return false;
    if (isStill(tab)) this.#leaving.delete(tab.id);
    return this.#leaving.has(tab.id);
  }

  forget(tab: number): void {
    this.#begun.delete(tab);
    this.#leaving.delete(tab);
  }

  /** Where a tab is; `undefined` while it is on its way, or closed. */
  async at(tab: number): Promise<string | undefined> {
    const found = await this.#find(tab);
    if (found === undefined || found.pendingUrl !== undefined) return undefined;
    return this.#begun.has(tab) && !isStill(found) ? undefined : (found.url ?? '');
  }
}

/** A tab whose page is complete goes nowhere. */
function isStill({ status, pendingUrl }: Traveller): boolean {
  return status === 'complete' && pendingUrl === undefined;
}
