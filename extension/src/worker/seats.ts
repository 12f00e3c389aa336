import { Executor } from '../program/executor.ts';
import { attachWithPatience, before } from './attach.ts';
import type { Level } from './grants.ts';
import { Refusal } from './wire.ts';

declare const PAGE_SCRIPT: string;

/** The debugger, as far as seats use it. */
export type Port = {
  attach(tab: number): Promise<void>;
  detach(tab: number): Promise<void>;
  send(
    tab: number,
    child: string | undefined,
    method: string,
    params: object | undefined,
  ): Promise<unknown>;
};

/** Whether a command may go to a tab now; it throws where not. */
export type Gate = (tab: number, method: string, params: unknown) => void;

/** Runs a capture of a tab's picture so that it comes even of a page that nobody sees. */
export type Painting = (tab: number, capture: () => Promise<unknown>) => Promise<unknown>;

/** A tab stays attached this long after its last use, so that Chrome's bar is not up for hours. */
const idleMS = 60_000;

/** A crashed page takes a blank one in its place sooner than this, or not at all. */
const reviveMS = 10_000;

type Seat = {
  ready: Promise<void>;
  /** Aborted once the tab is let go. */
  gone: AbortController;
  users: number;
  idle?: ReturnType<typeof setTimeout>;
  work?: Work;
  crash?: Crash;
};
type Work = { executor: Executor; level: Level; ready: Promise<void> };
/** A page's process is gone: no command is answered until another page is loaded, which ends it. */
type Crash = { over: Promise<void>; end: () => void };

export type Options = {
  port: Port;
  gate: Gate;
  painting: Painting;
  /** Told of each tab that is let go. */
  left(tab: number): void;
};

/** Attached tabs: attached when first used, shared by all who use them, let go when nobody has for a minute. */
export class Seats {
  readonly #port: Port;
  readonly #gate: Gate;
  readonly #painting: Painting;
  readonly #left: (tab: number) => void;
  readonly #seats = new Map<number, Seat>();
  /** Detaching, where it is not done yet: a tab is attached anew only after it. */
  readonly #leaving = new Map<number, Promise<void>>();

  constructor({ port, gate, painting, left }: Options) {
    this.#port = port;
    this.#gate = gate;
    this.#painting = painting;
    this.#left = left;
  }

  /** Takes over an attachment that an earlier life of the worker left: it is let go like any other. */
  adopt(tab: number): void {
    this.#rest(tab, this.#seat(tab));
  }

  /**
   * Uses a tab until the returned function is called. It rejects where the tab cannot be attached, and once the signal
   * says that nobody waits any more.
   */
  async take(tab: number, signal?: AbortSignal): Promise<() => void> {
    const seat = this.#seat(tab);
    clearTimeout(seat.idle);
    seat.users += 1;
    try {
      await before([seat.gone.signal, signal], seat.ready);
    } catch (cause) {
      this.#leave(tab, seat);
      throw cause;
    }
    return () => this.#leave(tab, seat);
  }

  /** The executor of a tab in use, at a level. One that could not attach is made anew the next time. */
  async executor(tab: number, level: Level, signal?: AbortSignal): Promise<Executor> {
    const seat = this.#seats.get(tab);
    if (seat === undefined) throw letGo();
    if (seat.work?.level !== level) seat.work = this.#work(tab, seat, level);
    const { work } = seat;
    await before([seat.gone.signal, signal], work.ready);
    return work.executor;
  }

  /** The page of a tab has crashed: commands to it are refused until it is revived. */
  crashed(tab: number): void {
    const seat = this.#seats.get(tab);
    if (seat === undefined || seat.crash !== undefined) return;
    delete seat.work; // what it knew of the page is gone with it
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    seat.crash = { over, end };
  }

  /** The tab has a page again. */
  reloaded(tab: number): void {
    const seat = this.#seats.get(tab);
    seat?.crash?.end();
    delete seat?.crash;
  }

  /** Puts a blank page in the place of a crashed one, for whoever is about to load another anyway. */
  async revive(tab: number, signal: AbortSignal): Promise<void> {
    const seat = this.#seats.get(tab);
    if (seat?.crash === undefined) return;
    const blank = { url: 'about:blank' };
    this.#gate(tab, 'Page.navigate', blank);
    void this.#port.send(tab, undefined, 'Page.navigate', blank).catch(() => undefined);
    await before([seat.gone.signal, signal, AbortSignal.timeout(reviveMS)], seat.crash.over);
  }

  /** Sends one command for a tab in use. */
  async send(
    tab: number,
    child: string | undefined,
    method: string,
    params?: object,
  ): Promise<unknown> {
    this.#gate(tab, method, params);
    if (this.#seats.get(tab)?.crash !== undefined) throw crashRefusal();
    const result = await this.#port.send(tab, child, method, params);
    this.#gate(tab, method, params); // what a page answered that may not be seen any more stays here
    return result;
  }

  deliver(tab: number, child: string | undefined, method: string, params: unknown): void {
    this.#seats.get(tab)?.work?.executor.deliver(child ?? '', method, params);
  }

  /** Lets a tab go at once, whoever uses it. */
  release(tab: number): void {
    const seat = this.#seats.get(tab);
    if (seat === undefined) return;
    clearTimeout(seat.idle);
    this.#seats.delete(tab);
    seat.gone.abort(letGo());
    const left = seat.ready.catch(() => undefined).then(() => this.#port.detach(tab));
    this.#leaving.set(tab, left);
    void left.then(() => {
      if (this.#leaving.get(tab) === left) this.#leaving.delete(tab);
    });
    this.#left(tab);
  }

  #seat(tab: number): Seat {
    const present = this.#seats.get(tab);
    if (present !== undefined) return present;
    const gone = new AbortController();
    const ready = this.#attach(tab, gone.signal);
    const seat: Seat = { ready, gone, users: 0 };
    ready.catch(() => {
      if (this.#seats.get(tab) !== seat) return;
      clearTimeout(seat.idle);
      this.#seats.delete(tab);
    });
    this.#seats.set(tab, seat);
    return seat;
  }

  async #attach(tab: number, gone: AbortSignal): Promise<void> {
    await this.#leaving.get(tab);
    await attachWithPatience(this.#port, tab, gone);
    // Chrome answers with the event of a crash where there was one before.
    await this.#port.send(tab, undefined, 'Inspector.enable', undefined).catch(() => undefined);
  }

  #leave(tab: number, seat: Seat): void {
    seat.users -= 1;
    if (seat.users === 0 && this.#seats.get(tab) === seat) this.#rest(tab, seat);
  }

  #rest(tab: number, seat: Seat): void {
    seat.idle = setTimeout(() => this.release(tab), idleMS);
  }

  #work(tab: number, seat: Seat, level: Level): Work {
    const call = (child: string, method: string, params: object): Promise<unknown> => {
      const send = () => this.send(tab, child || undefined, method, params);
      return method === 'Page.captureScreenshot' ? this.#painting(tab, send) : send();
    };
    const executor = new Executor({ call }, { pageScript: PAGE_SCRIPT, level });
    const work = { executor, level, ready: executor.attach() };
    work.ready.catch(() => {
      if (seat.work === work) delete seat.work;
    });
    return work;
  }
}

function letGo(): Error {
  return new Error('the tab was let go.');
}

/** Why nothing runs in a tab whose page has crashed. */
export function crashRefusal(): Refusal {
  return new Refusal('tab_closed', 'The page has crashed; opening one in this tab loads it anew.');
}
