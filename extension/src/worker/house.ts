import { check } from '../program/check.ts';
import type { Result } from '../program/executor.ts';
import { Fault } from '../program/failure.ts';
import { parseProgram } from '../program/parse.ts';
import type { Book } from './book.ts';
import { add, drop, type Level, maxGrants, update } from './grants.ts';
import { fields, member } from './parse.ts';
import type { Order } from './runs.ts';
import type { Seats } from './seats.ts';
import type { Standing } from './standing.ts';
import { addressOf, bringToFront, close, find, openBlank, wake } from './tabs.ts';
import type { Wall } from './wall.ts';
import { Refusal } from './wire.ts';

/** Where a program meets its tab: who may use which, and what must stand before it runs. */
export class House {
  readonly #book: Book;
  readonly #wall: Wall;
  readonly #seats: Seats;

  constructor(book: Book, wall: Wall, seats: Seats) {
    this.#book = book;
    this.#wall = wall;
    this.#seats = seats;
  }

  /** Shares a tab, because the person says so; the answer is why it was not done. */
  async share(key: string, id: number, level: Level): Promise<string | undefined> {
    const tab = await find(id);
    if (tab === undefined) return 'This tab is closed.';
    const url = addressOf(tab);
    const problem = this.#book.unusable(url);
    if (problem !== undefined) return problem;
    if (this.#book.pairing(key) === undefined) return 'This project is not connected.';
    if (this.#book.grants.length >= maxGrants)
      return `No more than ${maxGrants} tabs can be shared.`;
    const name = await this.#book.takeName();
    const grant = { name, tab: id, pairing: key, level, url, title: tab.title ?? '' };
    this.#book.writeGrants(add(this.#book.grants, grant));
    return undefined;
  }

  /** The tab that the session may use by this name; the first session to use a tab owns it. */
  claim({ key, session }: Order, name: string): Standing {
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
  async make({ key, session }: Order, program: unknown): Promise<Standing> {
    const pairing = this.#book.pairing(key);
    if (!pairing?.mayOpen) {
      throw new Refusal('forbidden', 'The person does not let agents open tabs in this browser.');
    }
    permit(program, pairing.ceiling);
    if (this.#book.grants.length >= maxGrants) {
      throw new Refusal('forbidden', `No more than ${maxGrants} tabs can be shared.`);
    }
    const name = await this.#book.takeName();
    const tab = (await openBlank())?.id;
    if (tab === undefined) throw new Refusal('forbidden', 'No browser window is open.');
    const grant = {
      name,
      tab,
      pairing: key,
      level: pairing.ceiling,
      url: 'about:blank',
      title: '',
    };
    this.#book.writeGrants(add(this.#book.grants, { ...grant, session, made: true }));
    return this.usable(key, session, name);
  }

  /** Closes a tab whose session ended while it was made. */
  discard({ grant }: Standing): void {
    this.#book.writeGrants(drop(this.#book.grants, grant.tab));
    void close(grant.tab);
  }

  /** Adopts a tab that the page of another opened for the session. */
  async adopt(
    opener: Standing,
    session: string,
    tab: chrome.tabs.Tab,
  ): Promise<Standing | undefined> {
    if (tab.id === undefined || this.#book.grants.length >= maxGrants) return undefined;
    const { pairing, level, name } = opener.grant;
    const grant = { name: await this.#book.takeName(), tab: tab.id, pairing, level };
    const seen = { url: addressOf(tab), title: tab.title ?? '' };
    this.#book.writeGrants(
      add(this.#book.grants, { ...grant, ...seen, session, made: true, opener: name }),
    );
    return this.#book.ofTab(tab.id);
  }

  /** Runs a program in a tab, behind the wall and attached meanwhile. */
  async perform(standing: Standing, program: unknown, signal: AbortSignal): Promise<Result> {
    const lift = await this.#raise(standing);
    try {
      await this.#prepare(standing.grant.tab, member(fields(program), 'active') === true);
      return await this.#execute(standing, program, signal);
    } finally {
      lift();
    }
  }

  async #raise(standing: Standing): Promise<() => void> {
    try {
      return await this.#wall.hold(standing);
    } catch {
      throw new Refusal(
        'forbidden',
        'The browser did not take the rules that keep this tab read-only.',
      );
    }
  }

  async #prepare(id: number, isActive: boolean): Promise<void> {
    const tab = await find(id);
    if (tab === undefined) throw new Refusal('tab_closed', 'The tab is closed.');
    await wake(tab);
    if (isActive) await bringToFront(tab);
  }

  async #execute(standing: Standing, program: unknown, signal: AbortSignal): Promise<Result> {
    const { tab } = standing.grant;
    const leave = await this.#seats.take(tab).catch((cause: unknown) => {
      throw new Refusal('tab_suspended', `Chrome does not let the tab be driven: ${words(cause)}`);
    });
    try {
      const executor = await this.#seats.executor(tab, standing.level);
      return await executor.run(program, signal);
    } finally {
      leave();
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

function words(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
