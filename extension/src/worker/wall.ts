import type { Guard } from './guard.ts';
import { openingRule, type Rule, tabRule } from './rules.ts';
import type { Standing } from './standing.ts';
import { all } from './tabs.ts';

/** How long after a program its page may still open a window that its input asked for. */
const afterInputMS = 5000;

/** Where the wall reads what counts now. */
export type Standings = { readonly standings: readonly Standing[] };

/** Keeps read-only tabs read-only in the browser, whatever their scripts do. */
export class Wall {
  readonly #guard: Guard;
  readonly #book: Standings;
  /** Rules for new windows, by the name of the tab an agent works in, with how many programs hold them. */
  readonly #openings = new Map<string, { rule: Rule; holders: number }>();

  constructor(guard: Guard, book: Standings) {
    this.#guard = guard;
    this.#book = book;
  }

  /** Makes the browser's rules follow the grants. */
  sync(): Promise<void> {
    return this.#guard.install(this.#rules());
  }

  /**
   * Holds a read-only tab and the windows it opens until a while after release is called. It rejects when Chrome
   * does not take the rules: then nothing may run.
   */
  async hold(standing: Standing): Promise<() => void> {
    if (standing.level !== 'read') return () => undefined;
    const { name } = standing.grant;
    const present = (await all()).flatMap(({ id }) => id ?? []);
    const holders = (this.#openings.get(name)?.holders ?? 0) + 1;
    this.#openings.set(name, { rule: openingRule(standing.grant, present), holders });
    try {
      await this.sync();
    } catch (cause) {
      this.#release(name);
      throw cause;
    }
    return () => void setTimeout(() => this.#release(name), afterInputMS);
  }

  #release(name: string): void {
    const opening = this.#openings.get(name);
    if (opening === undefined) return;
    opening.holders -= 1;
    if (opening.holders === 0) this.#openings.delete(name);
    void this.sync().catch(() => undefined); // a rule too many is no danger, and the next change tries again
  }

  #rules(): Rule[] {
    const held = this.#book.standings.filter((standing) => standing.level === 'read');
    return [
      ...held.map((standing) => tabRule(standing.grant)),
      ...[...this.#openings.values()].map((opening) => opening.rule),
    ];
  }
}
