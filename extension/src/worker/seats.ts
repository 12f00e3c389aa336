import { Executor } from '../program/executor.ts';
import type { Level } from './grants.ts';

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

/** After a detach by Chrome the page may be attachable again at these times. */
const retryMS = [0, 250, 500, 1000];

type Seat = {
  ready: Promise<void>;
  users: number;
  idle?: ReturnType<typeof setTimeout>;
  work?: Work;
};
type Work = { executor: Executor; level: Level; ready: Promise<void> };

/** Attached tabs: attached when first used, shared by all who use them, let go when nobody has for a minute. */
export class Seats {
  readonly #port: Port;
  readonly #gate: Gate;
  readonly #painting: Painting;
  readonly #seats = new Map<number, Seat>();

  constructor(port: Port, gate: Gate, painting: Painting) {
    this.#port = port;
    this.#gate = gate;
    this.#painting = painting;
  }

  /** Takes over an attachment that an earlier life of the worker left: it is let go like any other. */
  adopt(tab: number): void {
    this.#rest(tab, this.#seat(tab));
  }

  /** Uses a tab until the returned function is called. It rejects where the tab cannot be attached. */
  async take(tab: number): Promise<() => void> {
    const seat = this.#seat(tab);
    clearTimeout(seat.idle);
    seat.users += 1;
    const leave = () => this.#leave(tab, seat);
    try {
      await seat.ready;
    } catch (cause) {
      leave();
      if (this.#seats.get(tab) === seat) this.#seats.delete(tab);
      throw cause;
    }
    return leave;
  }

  /** The executor of a tab in use, at a level. One that could not attach is made anew the next time. */
  async executor(tab: number, level: Level): Promise<Executor> {
    const seat = this.#seat(tab);
    if (seat.work?.level !== level) seat.work = this.#work(tab, level);
    const { work } = seat;
    try {
      await work.ready;
    } catch (cause) {
      if (seat.work === work) delete seat.work;
      throw cause;
    }
    return work.executor;
  }

  /** Sends one command for a tab in use. */
  async send(
    tab: number,
    child: string | undefined,
    method: string,
    params?: object,
  ): Promise<unknown> {
    this.#gate(tab, method, params);
    const result = await this.#port.send(tab, child, method, params);
    this.#gate(tab, method, params); // what a page answered that may not be seen any more stays here
    return result;
  }

  deliver(tab: number, child: string | undefined, method: string, params: unknown): void {
    this.#seats.get(tab)?.work?.executor.deliver(child ?? '', method, params);
  }

  /** Lets a tab go at once, whoever uses it. */
  release(tab: number): void {
    if (!this.#forget(tab)) return;
    void this.#port.detach(tab);
  }

  /** Chrome let the tab go by itself. */
  lost(tab: number): void {
    this.#forget(tab);
  }

  #forget(tab: number): boolean {
    clearTimeout(this.#seats.get(tab)?.idle);
    return this.#seats.delete(tab);
  }

  #seat(tab: number): Seat {
    const present = this.#seats.get(tab);
    if (present !== undefined) return present;
    const seat: Seat = { ready: attachWithPatience(this.#port, tab), users: 0 };
    seat.ready.catch(() => undefined);
    this.#seats.set(tab, seat);
    return seat;
  }

  #leave(tab: number, seat: Seat): void {
    seat.users -= 1;
    if (seat.users === 0 && this.#seats.get(tab) === seat) this.#rest(tab, seat);
  }

  #rest(tab: number, seat: Seat): void {
    seat.idle = setTimeout(() => this.release(tab), idleMS);
  }

  #work(tab: number, level: Level): Work {
    const call = (child: string, method: string, params: object): Promise<unknown> => {
      const send = () => this.send(tab, child || undefined, method, params);
      return method === 'Page.captureScreenshot' ? this.#painting(tab, send) : send();
    };
    const executor = new Executor({ call }, { pageScript: PAGE_SCRIPT, level });
    return { executor, level, ready: executor.attach() };
  }
}

async function attachWithPatience(port: Port, tab: number): Promise<void> {
  let problem: unknown;
  for (const wait of retryMS) {
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    try {
      await port.attach(tab);
      return;
    } catch (cause) {
      problem = cause;
    }
  }
  throw problem;
}
