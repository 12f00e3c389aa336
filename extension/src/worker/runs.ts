import type { Result } from '../program/executor.ts';
import { fields, json, text } from './parse.ts';
import type { Standing } from './standing.ts';
import { type Header, maxFrameBytes, Refusal, type Tab } from './wire.ts';

/** The name of a tab that is yet to be made (relay/program: NewTab). */
const newTab = 'new';

const mostUnderWay = 64;

/** One program on its way from the server to a tab. */
export type Order = { key: string; id: number; session: string; body: string };

/** Where a program finds its tab, and runs in it. Each throws a Refusal where it may not. */
export type Host = {
  /** The tab the session may use by this name; it becomes the session's. */
  claim(order: Order, tab: string): Standing;
  /** A new tab for the session, to run the program in. */
  make(order: Order, program: unknown): Promise<Standing>;
  /** Closes a tab that was made for nobody. */
  discard(made: Standing): void;
  perform(standing: Standing, program: unknown, signal: AbortSignal): Promise<Result>;
};

export type Send = (key: string, header: Header, body?: string) => void;

type Run = Order & { abort: AbortController; tab?: number; opened: Tab[]; stopped?: Refusal };

/** The programs under way: those of one session one after the other, those of different sessions side by side. */
export class Runs {
  readonly #host: Host;
  readonly #send: Send;
  readonly #runs = new Map<string, Run>();
  readonly #queues = new Map<string, Promise<void>>();

  constructor(host: Host, send: Send) {
    this.#host = host;
    this.#send = send;
  }

  start(order: Order): void {
    const mine = [...this.#runs.values()].filter((run) => run.key === order.key);
    if (mine.length >= mostUnderWay || mine.some((run) => run.id === order.id)) {
      this.refuse(
        order.key,
        order.id,
        new Refusal('bad_request', 'Too many programs are under way.'),
      );
      return;
    }
    const run: Run = { ...order, abort: new AbortController(), opened: [] };
    this.#runs.set(`${order.key} ${order.id}`, run);
    this.#enqueue(run);
  }

  cancel(key: string, id: number): void {
    this.#runs.get(`${key} ${id}`)?.abort.abort();
  }

  /** Stops what runs in a tab; the answer says why. */
  stopTab(tab: number, why: Refusal): void {
    this.#stopWhere((run) => run.tab === tab, why);
  }

  stopSession(key: string, session: string): void {
    const why = new Refusal('tab_closed', 'The session has ended.');
    this.#stopWhere((run) => run.key === key && run.session === session, why);
  }

  stopAll(key: string): void {
    this.#stopWhere(
      (run) => run.key === key,
      new Refusal('tab_closed', 'The connection has ended.'),
    );
  }

  /** The session whose program runs in a tab now: tabs that the tab opens are its own. */
  sessionIn(tab: number): string | undefined {
    return this.#in(tab)?.session;
  }

  /** Tells the program that runs in a tab of a tab that was adopted for it. */
  adopted(opener: number, tab: Tab): void {
    this.#in(opener)?.opened.push(tab);
  }

  /** Tells the server that its request could not be run at all. */
  refuse(key: string, id: number, cause: unknown): void {
    const refusal = cause instanceof Refusal ? cause : new Refusal('tab_suspended', words(cause));
    this.#send(key, { t: 'error', id, code: refusal.code, message: refusal.message });
  }

  #in(tab: number): Run | undefined {
    return [...this.#runs.values()].find((run) => run.tab === tab);
  }

  #stopWhere(ends: (run: Run) => boolean, why: Refusal): void {
    for (const run of this.#runs.values()) {
      if (!ends(run)) continue;
      run.stopped ??= why;
      run.abort.abort();
    }
  }

  #enqueue(run: Run): void {
    const queue = `${run.key} ${run.session}`;
    const next = (this.#queues.get(queue) ?? Promise.resolve()).then(() => this.#answer(run));
    this.#queues.set(queue, next);
    void next.then(() => {
      if (this.#queues.get(queue) === next) this.#queues.delete(queue);
    });
  }

  async #answer(run: Run): Promise<void> {
    try {
      const result = await this.#run(run);
      const body = JSON.stringify(result);
      if (new TextEncoder().encode(body).length > maxFrameBytes - 1024) {
        throw new Refusal('too_large', 'The answer is larger than the link carries.');
      }
      this.#send(run.key, { t: 'result', id: run.id }, body);
    } catch (cause) {
      this.refuse(run.key, run.id, cause);
    } finally {
      this.#runs.delete(`${run.key} ${run.id}`);
    }
  }

  async #run(run: Run): Promise<Result> {
    const program = json(run.body);
    const tab = text(fields(program), 'tab');
    if (tab === undefined) throw new Refusal('bad_request', 'The program names no tab.');
    if (run.stopped !== undefined) throw run.stopped;
    if (run.abort.signal.aborted) throw new Refusal('bad_request', 'The program was cancelled.');
    const standing =
      tab === newTab ? await this.#host.make(run, program) : this.#host.claim(run, tab);
    if (run.stopped !== undefined) {
      if (tab === newTab) this.#host.discard(standing);
      throw run.stopped;
    }
    run.tab = standing.grant.tab;
    const result = await this.#host.perform(standing, program, run.abort.signal);
    if (run.stopped !== undefined) throw run.stopped;
    return {
      ...result,
      tab: standing.grant.name,
      ...(run.opened.length > 0 ? { opened: run.opened } : {}),
    };
  }
}

function words(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
