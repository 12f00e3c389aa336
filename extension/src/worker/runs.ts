import type { Result } from '../program/executor.ts';
import { cut, isLonger, maxSentBytes, maxSentence } from './bounds.ts';
import { programMayOpen } from './doings.ts';
import { fields, json, text } from './parse.ts';
import type { Standing } from './standing.ts';
import { type Header, Refusal, type Tab } from './wire.ts';

/** The name of a tab that is yet to be made (relay/program: NewTab). */
const newTab = 'new';

const mostUnderWay = 64;

/** Where an answer goes; its requests are numbered for it alone. */
export type Asker = { send(header: Header, body?: string): void };

/** One program on its way from the server to a tab. `key` is its pairing. */
export type Order = { key: string; line: Asker; id: number; session: string; body: string };

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

type Run = Order & {
  abort: AbortController;
  tab?: number;
  /** Its page may open windows for it. */
  opens?: boolean;
  opened: Tab[];
  stopped?: Refusal;
};

/** The programs under way: those of one session one after the other, those of different sessions side by side. */
export class Runs {
  readonly #host: Host;
  readonly #runs = new Set<Run>();
  readonly #queues = new Map<string, Promise<void>>();

  constructor(host: Host) {
    this.#host = host;
  }

  start(order: Order): void {
    const mine = [...this.#runs].filter((run) => run.line === order.line);
    if (mine.length >= mostUnderWay || mine.some((run) => run.id === order.id)) {
      const why = new Refusal('bad_request', 'Too many programs are under way.');
      this.refuse(order.line, order.id, why);
      return;
    }
    const run: Run = { ...order, abort: new AbortController(), opened: [] };
    this.#runs.add(run);
    this.#enqueue(run);
  }

  cancel(line: Asker, id: number): void {
    [...this.#runs].find((run) => run.line === line && run.id === id)?.abort.abort();
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

  /** The session whose program runs in a tab now, and may make its page open tabs: they are its own. */
  sessionIn(tab: number): string | undefined {
    const run = this.#in(tab);
    return run?.opens === true ? run.session : undefined;
  }

  /** Tells the program that runs in a tab of a tab that was adopted for it. */
  adopted(opener: number, tab: Tab): void {
    this.#in(opener)?.opened.push(tab);
  }

  /** Tells the server that its request could not be run at all. */
  refuse(line: Asker, id: number, cause: unknown): void {
    const refusal = cause instanceof Refusal ? cause : new Refusal('tab_suspended', words(cause));
    const message = cut(refusal.message, maxSentence);
    line.send({ t: 'error', id, code: refusal.code, message });
  }

  #in(tab: number): Run | undefined {
    return [...this.#runs].find((run) => run.tab === tab);
  }

  #stopWhere(ends: (run: Run) => boolean, why: Refusal): void {
    for (const run of this.#runs) {
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
      if (isLonger(body, maxSentBytes - 1024)) {
        throw new Refusal('too_large', 'The answer is larger than the link carries.');
      }
      run.line.send({ t: 'result', id: run.id }, body);
    } catch (cause) {
      this.refuse(run.line, run.id, run.stopped ?? cause);
    } finally {
      this.#runs.delete(run);
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
    run.opens = programMayOpen(program);
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
