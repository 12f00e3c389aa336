import * as openings from './openings.ts';
import { openingRule, type Rule, tabRule } from './rules.ts';
import type { Standing } from './standing.ts';

/** A page may open windows for 5 s after an input (Chrome's transient activation); the last of them is met 1 s later. */
export const afterInputMS = 6000;

/** Chrome tells of a new tab and of the page that opened it in one breath: who is not named by then is nobody's. */
const momentMS = 500;

/** Where the wall reads what counts now. */
export type Standings = { readonly standings: readonly Standing[] };

/** Where the rules go; it rejects where they are not taken. */
export type Rulebook = { install(wanted: readonly Rule[]): Promise<void> };

/** What outlives the worker. */
export type Memory = { openings: openings.Openings; save(openings: openings.Openings): void };

/** Keeps read-only tabs, and the windows they open, read-only in the browser, whatever their scripts do. */
export class Wall {
  readonly #rulebook: Rulebook;
  readonly #book: Standings;
  readonly #memory: Memory;
  /** Tabs of which it is known whether a shared tab opened them. */
  readonly #known = new Set<number>();
  /** Programs whose input may still make a page open a window. */
  #fresh = 0;

  constructor(rulebook: Rulebook, book: Standings, memory: Memory) {
    this.#rulebook = rulebook;
    this.#book = book;
    this.#memory = memory;
  }

  /** Begins with the tabs that are open. */
  begin(open: readonly number[]): void {
    for (const tab of open) this.#known.add(tab);
    const gone = this.#memory.openings.filter(({ tab }) => !open.includes(tab));
    for (const { tab } of gone) this.closed(tab);
  }

  /** Makes the browser's rules follow the grants. */
  sync(): Promise<void> {
    return this.#rulebook.install(this.#rules());
  }

  /**
   * Holds whatever window opens, before it is known who opened it, until a while after release is called: an agent's
   * input in a read-only page may open one. It rejects when Chrome does not take the rules: then nothing may run.
   */
  async hold(): Promise<() => void> {
    this.#fresh += 1;
    try {
      await this.sync();
    } catch (cause) {
      this.#release();
      throw cause;
    }
    return () => void setTimeout(() => this.#release(), afterInputMS);
  }

  /** Keeps a tab as it is until it is closed, because its grant goes first. */
  keep(tab: number): void {
    if (this.#held().has(tab)) this.#remember(openings.keep(this.#memory.openings, tab));
  }

  // ---- what happens in Chrome

  /** A tab appeared; nobody knows yet who opened it. */
  appeared(tab: number): void {
    if (openings.has(this.#memory.openings, tab)) return;
    this.#known.delete(tab);
    setTimeout(() => this.met(tab), momentMS);
  }

  /** A tab goes its own way: had a page opened it, Chrome would have said so before. */
  met(tab: number): void {
    if (this.#known.has(tab)) return;
    this.#known.add(tab);
    this.#follow();
  }

  /** A page of one tab opened another. */
  opened(tab: number, by: number): void {
    const isOurs = this.#book.standings.some(({ grant }) => grant.tab === by);
    if (isOurs || openings.has(this.#memory.openings, by)) {
      this.#remember(openings.add(this.#memory.openings, { tab, by }));
    }
    this.met(tab);
  }

  /** To be told before the tab's grant is dropped. */
  closed(tab: number): void {
    this.#known.delete(tab);
    this.#remember(openings.close(this.#memory.openings, tab, this.#held()));
  }

  replaced(from: number, to: number): void {
    if (this.#known.delete(from)) this.#known.add(to);
    this.#remember(openings.replace(this.#memory.openings, from, to));
    this.#follow();
  }

  #release(): void {
    this.#fresh -= 1;
    this.#follow();
  }

  #remember(now: openings.Openings): void {
    if (JSON.stringify(now) === JSON.stringify(this.#memory.openings)) return;
    this.#memory.openings = now;
    this.#memory.save(now);
    this.#follow();
  }

  #follow(): void {
    void this.sync().catch(() => undefined); // each program asks again, and does not run without
  }

  #held(): ReadonlySet<number> {
    const readOnly = this.#book.standings.filter(({ level }) => level === 'read');
    return openings.held(
      this.#memory.openings,
      readOnly.map(({ grant }) => grant.tab),
    );
  }

  #rules(): Rule[] {
    const rules = [tabRule(this.#held()), this.#fresh > 0 ? openingRule(this.#known) : undefined];
    return rules.flatMap((rule) => rule ?? []);
  }
}
