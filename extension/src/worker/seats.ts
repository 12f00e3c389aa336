import { Executor } from '../program/executor.ts';
import { attachWithPatience, before, within } from './attach.ts';
import { type Child, Children } from './children.ts';
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
  /** Sends a command; `done` is called in the order in which Chrome answers and tells events. */
  command(
    tab: number,
    child: string | undefined,
    method: string,
    params: object,
    done: Answered,
  ): void;
};

/** Takes a command's result or, as Chrome words it, why there is none. */
export type Answered = (result: unknown, problem?: string) => void;

/** Whether a command may go to a tab now; it throws where not. */
export type Gate = (tab: number, method: string, params: unknown) => void;

/** Runs a capture of a tab's picture so that it comes even of a page that nobody sees. */
export type Painting = (tab: number, capture: () => Promise<unknown>) => Promise<unknown>;

/** A tab stays attached this long after its last use, so that Chrome's bar is not up for hours. */
const idleMS = 60_000;

/** A page that does not answer sooner hangs, and is attached all the same. */
const tellsMS = 500;

/** A crashed page takes a blank one in its place sooner than this, or not at all. */
const reviveMS = 10_000;

type Seat = {
  ready: Promise<void>;
  /** Aborted once the tab is let go. */
  gone: AbortController;
  users: number;
  /** Of the users, those who only watch. */
  watchers: number;
  idle?: ReturnType<typeof setTimeout>;
  children: Children;
  executor?: Executor;
  /** Set once the executor knows the tab. */
  prepared?: Promise<void>;
  crash?: Crash;
  /** Programs with input that ran just now in a read-only tab. */
  passing: number;
  /** Clients have left it as they liked: it is let go before anybody else finds it so. */
  isSpoilt: boolean;
};
/** A page's process is gone: no command is answered until another page is loaded, which ends it. */
type Crash = { over: Promise<void>; end: () => void };

export type Options = {
  port: Port;
  gate: Gate;
  painting: Painting;
  /** Told of each tab that is let go. */
  left(tab: number): void;
  /** Told of each tab that was let go only to withdraw what clients did there: whoever watches it goes on. */
  freed(tab: number): void;
};

/** Attached tabs: attached when first used, shared by all who use them, let go when nobody has for a minute. */
export class Seats {
  readonly #port: Port;
  readonly #gate: Gate;
  readonly #painting: Painting;
  readonly #left: (tab: number) => void;
  readonly #freed: (tab: number) => void;
  readonly #seats = new Map<number, Seat>();
  /** Detaching, where it is not done yet: a tab is attached anew only after it. */
  readonly #leaving = new Map<number, Promise<void>>();

  constructor({ port, gate, painting, left, freed }: Options) {
    this.#port = port;
    this.#gate = gate;
    this.#painting = painting;
    this.#left = left;
    this.#freed = freed;
  }

  /**
   * Uses a tab until the returned function is called. It rejects where the tab cannot be attached, and once the signal
   * says that nobody waits any more.
   */
  async take(tab: number, signal?: AbortSignal): Promise<() => void> {
    return await this.#take(tab, 0, signal);
  }

  /** As take, for who only looks: it does not keep what clients did in the tab. */
  async watch(tab: number): Promise<() => void> {
    return await this.#take(tab, 1);
  }

  /** As take, for clients: what earlier ones did in the tab is withdrawn first. */
  async takeFresh(tab: number, signal: AbortSignal): Promise<() => void> {
    for (let seat = this.#seats.get(tab); seat?.isSpoilt; seat = this.#seats.get(tab)) {
      await before([signal], ended(seat.gone.signal));
    }
    return await this.#take(tab, 0, signal);
  }

  async #take(tab: number, watchers: number, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const seat = this.#seat(tab);
    clearTimeout(seat.idle);
    seat.users += 1;
    seat.watchers += watchers;
    const leave = () => {
      seat.users -= 1;
      seat.watchers -= watchers;
      this.#settle(tab, seat);
    };
    try {
      await before([seat.gone.signal, signal], seat.ready);
    } catch (cause) {
      leave();
      throw cause;
    }
    return once(leave);
  }

  /** Lets a tab go as soon as no program runs in it, because clients have changed it. */
  spoil(tab: number): void {
    const seat = this.#seats.get(tab);
    if (seat === undefined) return;
    seat.isSpoilt = true;
    this.#settle(tab, seat);
  }

  /**
   * Has the documents of a tab in use pass its site's service worker by, until the returned function is called: a form
   * that such a worker passes on is the worker's own request, which the rules for the tab do not meet.
   */
  passWorkers(tab: number): () => void {
    const seat = this.#seats.get(tab);
    if (seat === undefined) return () => undefined;
    seat.passing += 1;
    if (seat.passing === 1) this.#passWorkers(tab, true);
    return once(() => {
      seat.passing -= 1;
      if (seat.passing === 0 && this.#seats.get(tab) === seat) this.#passWorkers(tab, false);
    });
  }

  /** Nobody waits for the answers, since a page whose dialog is open gives none; Chrome keeps the order all the same. */
  #passWorkers(tab: number, bypass: boolean): void {
    const tell = (method: string, params: object) =>
      this.#port.send(tab, undefined, method, params).catch(() => undefined);
    if (bypass) void tell('Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0 });
    void tell('Network.setBypassServiceWorker', { bypass });
    const seat = this.#seats.get(tab);
    if (!bypass && seat !== undefined && seat.users === seat.watchers) {
      void tell('Network.disable', {});
    }
  }

  /** The executor of a tab in use. What it could not learn of the tab it learns the next time. */
  async executor(tab: number, signal?: AbortSignal): Promise<Executor> {
    const seat = this.#seats.get(tab);
    if (seat === undefined) throw letGo();
    seat.executor ??= this.#executor(tab, seat);
    seat.prepared ??= this.#prepare(seat, seat.executor);
    await before([seat.gone.signal, signal], seat.prepared);
    return seat.executor;
  }

  /** The children of a tab in use. */
  children(tab: number): Children | undefined {
    return this.#seats.get(tab)?.children;
  }

  isCrashed(tab: number): boolean {
    return this.#seats.get(tab)?.crash !== undefined;
  }

  /** The page of a tab has crashed: commands to it are refused until it is revived. */
  crashed(tab: number): void {
    const seat = this.#seats.get(tab);
    if (seat === undefined || seat.crash !== undefined) return;
    seat.executor?.forget();
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

  /**
   * Puts a blank page in the place of a crashed one of which nothing is known yet, for whoever is about to load another
   * anyway.
   */
  async revive(tab: number, signal: AbortSignal): Promise<void> {
    const seat = this.#seats.get(tab);
    if (seat?.crash === undefined || seat.prepared !== undefined) return;
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
    if (this.isCrashed(tab) && method !== 'Page.navigate') throw crashRefusal();
    const result = await this.#port.send(tab, child, method, params);
    this.#gate(tab, method, params); // what a page answered that may not be seen any more stays here
    return result;
  }

  /** Sends a client's command for a tab in use; what comes back may not be seen any more, which the caller asks the gate. */
  command(
    tab: number,
    child: string | undefined,
    method: string,
    params: object,
    done: Answered,
  ): void {
    this.#gate(tab, method, params);
    const isNeeded = method === 'Network.disable' && (this.#seats.get(tab)?.passing ?? 0) > 0;
    if (isNeeded) queueMicrotask(() => done({}));
    else this.#port.command(tab, child, method, params, done);
  }

  /** Hands an event to whoever knows of the tab; the answer is a child that has come by it. */
  deliver(
    tab: number,
    child: string | undefined,
    method: string,
    params: unknown,
  ): Child | undefined {
    const seat = this.#seats.get(tab);
    const came = seat?.children.apply(child ?? '', method, params);
    seat?.executor?.deliver(child ?? '', method, params);
    return came;
  }

  /** Lets a tab go at once, and resolves once Chrome has. */
  async released(tab: number): Promise<void> {
    this.release(tab);
    await this.#leaving.get(tab);
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
    const seat: Seat = {
      ready,
      gone,
      users: 0,
      watchers: 0,
      children: new Children(),
      passing: 0,
      isSpoilt: false,
    };
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
    const told = this.#port.send(tab, undefined, 'Inspector.enable', undefined);
    await within(
      tellsMS,
      told.catch(() => undefined),
    );
  }

  /** Looks what becomes of a tab that somebody has left. */
  #settle(tab: number, seat: Seat): void {
    if (this.#seats.get(tab) !== seat) return;
    if (seat.isSpoilt && seat.users === seat.watchers) {
      this.release(tab);
      this.#freed(tab);
    } else if (seat.users === 0) {
      clearTimeout(seat.idle);
      seat.idle = setTimeout(() => this.release(tab), idleMS);
    }
  }

  #executor(tab: number, seat: Seat): Executor {
    const call = (child: string, method: string, params: object): Promise<unknown> => {
      if (method === 'Target.setAutoAttach') return this.#attachChildren(tab, seat, child, params);
      // Others hear of requests by the same attachment, or need them told; when they leave, it ends.
      const isShared = seat.users - seat.watchers > 1;
      if (method === 'Network.disable' && (isShared || seat.passing > 0))
        return Promise.resolve({});
      const send = () => this.send(tab, child || undefined, method, params);
      return method === 'Page.captureScreenshot' ? this.#painting(tab, send) : send();
    };
    return new Executor({ call }, { pageScript: PAGE_SCRIPT });
  }

  #prepare(seat: Seat, executor: Executor): Promise<void> {
    const prepared = executor.attach();
    prepared.catch(() => {
      if (seat.prepared === prepared) delete seat.prepared;
    });
    return prepared;
  }

  /** The executor's children are the clients' too: it is told of those that are there, and takes none away. */
  async #attachChildren(tab: number, seat: Seat, child: string, params: object): Promise<unknown> {
    if (!('autoAttach' in params) || params.autoAttach !== true) return {};
    const wanted = seat.children.ask(child);
    if (wanted !== undefined) {
      return await this.send(tab, child || undefined, 'Target.setAutoAttach', wanted);
    }
    for (const known of seat.children.of(child)) {
      seat.executor?.deliver(child, 'Target.attachedToTarget', known.params);
    }
    return {};
  }
}

function once(leave: () => void): () => void {
  let isLeft = false;
  return () => {
    if (!isLeft) leave();
    isLeft = true;
  };
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function letGo(): Error {
  return new Error('the tab was let go.');
}

/** Why nothing runs in a tab whose page has crashed. */
export function crashRefusal(): Refusal {
  return new Refusal('tab_closed', 'The page has crashed; opening one in this tab loads it anew.');
}
