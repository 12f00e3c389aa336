import { check } from '../program/check.ts';
import type { Result } from '../program/executor.ts';
import { Fault } from '../program/failure.ts';
import { parseProgram } from '../program/parse.ts';
import type { Book } from './book.ts';
import type { Closing } from './closing.ts';
import { add, drop, type Grant, type Level, maxGrants, type Share, update } from './grants.ts';
import { fields, member, text } from './parse.ts';
import type { Order } from './runs.ts';
import type { Seats } from './seats.ts';
import { siteOf } from './site.ts';
import type { Standing } from './standing.ts';
import { addressOf, bringToFront, close as closeTab, find, openBlank, wake } from './tabs.ts';
import { afterInputMS, type Wall } from './wall.ts';
import { Refusal } from './wire.ts';

/** A session of a pairing's project. */
export type Owner = { key: string; session: string };

const tooMany = `No more than ${maxGrants} tabs can be shared.`;

/** How long a tab that was brought to the front is not brought there again. */
const frontMS = 1000;

/** Where a program meets its tab: who may use which, and what must stand before it runs. */
export class House {
  readonly #book: Book;
  readonly #wall: Wall;
  readonly #seats: Seats;
  readonly #closing: Closing;
  /** Tabs that are about to be shared. */
  #coming = 0;
  /** When tabs were last brought to the front. */
  readonly #fronted = new Map<number, number>();

  constructor(book: Book, wall: Wall, seats: Seats, closing: Closing) {
    this.#book = book;
    this.#wall = wall;
    this.#seats = seats;
    this.#closing = closing;
  }

  /** Shares a tab, because the person says so; the answer is why it was not done. */
  async share(key: string, id: number, share: Share): Promise<string | undefined> {
    const tab = await find(id);
    if (tab === undefined) return 'This tab is closed.';
    const url = addressOf(tab);
    const problem = this.#book.unusable(url);
    if (problem !== undefined) return problem;
    if (this.#book.pairing(key) === undefined) return 'This project is not connected.';
    if (this.#isFull()) return tooMany;
    const stays = share.stays ? siteOf(url) : undefined;
    if (share.stays && stays === undefined) return 'Only a tab on a web page can stay on its site.';
    const choice = { level: share.level, ...(stays === undefined ? {} : { stays }) };
    return await this.#placing(async () => {
      const name = await this.#book.takeName();
      const grant = { name, tab: id, pairing: key, ...choice, url, title: tab.title ?? '' };
      this.#book.writeGrants(add(this.#book.grants, grant));
      return undefined;
    });
  }

  /** Opens a blank tab in front and shares it, because the person says so; the answer is why it was not done. */
  async shareNew(key: string, share: Share): Promise<string | undefined> {
    if (this.#book.pairing(key) === undefined) return 'This project is not connected.';
    if (this.#isFull()) return tooMany;
    const tab = (await openBlank({ active: true }))?.id;
    return tab === undefined ? 'No browser window is open.' : await this.share(key, tab, share);
  }

  /** The tab that the session may use by this name; the first session to use a tab owns it. */
  claim({ key, session }: Owner, name: string): Standing {
    const standing = this.usable(key, session, name);
    this.#book.writeGrants(update(this.#book.grants, standing.grant.tab, { session }));
    return this.#book.ofName(key, name) ?? standing;
  }

  /** The tab of this name, where the session may use it. */
  usable(key: string, session: string, name: string): Standing {
    const standing = this.#book.ofName(key, name);
    if (standing === undefined) throw new Refusal('tab_closed', `Tab ${name} is not shared.`);
    if ((standing.grant.session ?? session) !== session) {
      throw new Refusal('forbidden', `Tab ${name} belongs to another session.`);
    }
    if (standing.suspended !== undefined) throw new Refusal('tab_suspended', standing.suspended);
    return standing;
  }

  /** Makes a blank tab for the session, at the policy's level, behind the person's own. */
  async make(order: Order, program: unknown): Promise<Standing> {
    permit(program, this.#levelOfNew(order.key));
    return await this.makeBlank(order);
  }

  /** As make, with nothing to run in it yet. */
  async makeBlank(owner: Owner): Promise<Standing> {
    this.#levelOfNew(owner.key);
    if (this.#isFull()) throw new Refusal('forbidden', tooMany);
    return await this.#placing(() => this.#open(owner));
  }

  async #open({ key, session }: Owner): Promise<Standing> {
    const name = await this.#book.takeName();
    const tab = (await openBlank())?.id;
    if (tab === undefined) throw new Refusal('forbidden', 'No browser window is open.');
    try {
      const level = this.#levelOfNew(key); // asked again: the person may have disconnected meanwhile
      const grant = { name, tab, pairing: key, level, url: 'about:blank', title: '' };
      this.#book.writeGrants(add(this.#book.grants, { ...grant, session, made: true }));
      return this.usable(key, session, name);
    } catch (cause) {
      await closeTab(tab);
      throw cause;
    }
  }

  /** The level of tabs that agents open; it throws where they may not. */
  #levelOfNew(key: string): Level {
    const pairing = this.#book.pairing(key);
    if (pairing?.mayOpen) return pairing.ceiling;
    throw new Refusal('forbidden', 'The person does not let agents open tabs in this browser.');
  }

  #isFull(): boolean {
    return this.#book.grants.length + this.#coming >= maxGrants;
  }

  /** Does what ends in one more shared tab, and keeps its place meanwhile. */
  async #placing<T>(share: () => Promise<T>): Promise<T> {
    this.#coming += 1;
    try {
      return await share();
    } finally {
      this.#coming -= 1;
    }
  }

  /** Closes a tab that the session made. */
  async shut({ key, session }: Owner, name: string): Promise<void> {
    const grant = this.#book.ofName(key, name)?.grant;
    if (grant === undefined) throw new Refusal('tab_closed', `Tab ${name} is not shared.`);
    if (grant.session !== session || grant.made !== true) {
      throw new Refusal('forbidden', 'Only a tab that the session made is closed.');
    }
    this.#wall.keep(grant.tab);
    this.#book.writeGrants(drop(this.#book.grants, grant.tab));
    await this.close(grant);
  }

  /**
   * Closes a tab that the session made, whatever its page does, and one that a page of it opened as long as that does
   * not mind: a person may have worked there.
   */
  async close({ tab, opener }: Grant): Promise<void> {
    await this.#seats.released(tab);
    if (opener === undefined) await this.#closing.close(tab);
    else await this.#closing.ask(tab);
  }

  /** Closes a tab whose session ended while it was made. */
  discard({ grant }: Standing): void {
    this.#book.writeGrants(drop(this.#book.grants, grant.tab));
    void closeTab(grant.tab);
  }

  /** Adopts a tab that the page of another opened while a program of the session runs there. */
  async adopt(by: number, session: string, id: number): Promise<Standing | undefined> {
    const opener = this.#book.ofTab(by)?.grant;
    if (opener === undefined || this.#isFull()) return undefined;
    const { pairing, level } = opener;
    return await this.#placing(async () => {
      const name = await this.#book.takeName();
      const tab = await find(id);
      const now = this.#book.ofName(pairing, opener.name);
      if (tab === undefined || now === undefined || now.suspended !== undefined) return undefined;
      if (now.grant.level !== level || now.grant.session !== session) return undefined;
      const grant = { name, tab: id, pairing, level, url: addressOf(tab), title: tab.title ?? '' };
      const origin = { session, made: true, opener: opener.name } as const;
      const home = opener.stays === undefined ? {} : { stays: opener.stays };
      this.#book.writeGrants(add(this.#book.grants, { ...grant, ...origin, ...home }));
      return this.#book.ofTab(id);
    });
  }

  /** Runs a program in a tab, behind the wall and attached meanwhile. */
  async perform(standing: Standing, program: unknown, signal: AbortSignal): Promise<Result> {
    const lift = await this.raise(standing, hasInput(program));
    try {
      await this.prepare(standing.grant.tab, member(fields(program), 'active') === true);
      return await this.#execute(standing, program, signal);
    } finally {
      lift();
    }
  }

  /** Stands the wall around a tab, where it is read-only, until the returned function is called. */
  async raise(standing: Standing, hasInput: boolean): Promise<() => void> {
    if (standing.level !== 'read') return () => undefined;
    try {
      if (hasInput) return await this.#wall.hold();
      await this.#wall.sync();
      return () => undefined;
    } catch {
      throw new Refusal(
        'forbidden',
        'The browser did not take the rules that keep this tab read-only.',
      );
    }
  }

  /** Makes a tab answer, and brings it to the front where that is asked. */
  async prepare(id: number, isActive: boolean): Promise<void> {
    const tab = await find(id);
    if (tab === undefined) throw new Refusal('tab_closed', 'The tab is closed.');
    await wake(tab);
    if (isActive && this.#mayFront(id)) await bringToFront(tab);
  }

  /** A server takes the person's eyes with a tab at most once a second. */
  #mayFront(tab: number): boolean {
    const now = Date.now();
    for (const [other, at] of this.#fronted) if (now - at >= frontMS) this.#fronted.delete(other);
    if (this.#fronted.has(tab)) return false;
    this.#fronted.set(tab, now);
    return true;
  }

  async #execute(standing: Standing, program: unknown, signal: AbortSignal): Promise<Result> {
    const { tab } = standing.grant;
    const leave = await this.#seats.take(tab, signal).catch((cause: unknown) => {
      throw new Refusal('tab_suspended', `Chrome does not let the tab be driven: ${words(cause)}`);
    });
    const isRead = standing.level === 'read' && hasInput(program);
    const meet = isRead ? this.#seats.passWorkers(tab) : () => undefined;
    try {
      if (opensPage(program)) await this.#seats.revive(tab, signal);
      const executor = await this.#seats.executor(tab, signal);
      return await executor.run(program, standing.level, signal);
    } finally {
      leave();
      setTimeout(meet, afterInputMS);
    }
  }
}

/** Refuses a program before a tab is made for it; the executor holds every program against the same table again. */
function permit(program: unknown, level: Level): void {
  try {
    check(parseProgram(program), level);
  } catch (cause) {
    const isForbidden = cause instanceof Fault && cause.code === 'forbidden';
    throw new Refusal(isForbidden ? 'forbidden' : 'bad_request', words(cause));
  }
}

/** Whether a program begins by loading a page, which a crashed one does not stand in the way of. */
function opensPage(program: unknown): boolean {
  return calls(program)[0] === 'Page.navigate';
}

/** Whether a program gives its page input, for which Chrome lets it open windows. */
function hasInput(program: unknown): boolean {
  return calls(program).some((method) => method?.startsWith('Input.'));
}

/** The methods of a program's steps, `undefined` for a step that is no call. */
function calls(program: unknown): (string | undefined)[] {
  const steps = member(fields(program), 'steps');
  return Array.isArray(steps) ? steps.map((step: unknown) => text(fields(step), 'call')) : [];
}

function words(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
