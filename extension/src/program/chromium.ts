import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { at, textAt } from '../policy/json.ts';
import { CallError } from './failure.ts';
import type { Target } from './world.ts';

/** The pages of the scenarios, served. */
export type Site = {
  /** Fills in the addresses that {A}, {B} and {C} stand for. */
  place(text: string): string;
  close(): void;
};

type Page = {
  html?: string;
  status?: number;
  headers?: Record<string, string>;
  silent?: boolean;
};

export async function serve(text: string): Promise<Site> {
  const pages = new Map<string, Page>();
  const server = createServer((request, response) => {
    const page = pages.get(new URL(request.url ?? '/', 'http://a.test').pathname);
    if (page?.silent === true) return;
    const headers = { 'Content-Type': 'text/html', ...page?.headers };
    response.writeHead(page === undefined ? 404 : (page.status ?? 200), headers);
    response.end(page?.html);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const place = (text: string) =>
    text.replace(/\{([ABC])\}/g, (_, name: string) => `http://${name.toLowerCase()}.test:${port}`);
  const placed: Record<string, Page> = JSON.parse(place(text));
  for (const [path, page] of Object.entries(placed)) pages.set(path, page);
  return {
    place,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

type Waiting = { resolve(result: unknown): void; reject(cause: unknown): void };

/** A headless Chromium, spoken to over its debugging pipe. */
export class Chromium {
  readonly #folder = mkdtempSync(join(tmpdir(), 'chaperone-test-'));
  readonly #process: ChildProcess;
  readonly #to: Writable;
  readonly #from: Readable;
  readonly #waiting = new Map<number, Waiting>();
  readonly #tabs = new Map<string, Tab>();
  #last = 0;
  #rest = '';

  constructor() {
    const flags = [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--site-per-process',
      '--remote-debugging-pipe',
      `--user-data-dir=${this.#folder}`,
      '--host-resolver-rules=MAP *.test 127.0.0.1',
    ];
    this.#process = spawn('chromium-headless-shell', flags, {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    const [, , , to, from] = this.#process.stdio;
    if (!(to instanceof Writable) || !(from instanceof Readable)) throw new Error('no pipe');
    this.#to = to;
    this.#from = from;
    from.setEncoding('utf8');
    from.on('data', (part: string) => this.#read(part));
  }

  async open(): Promise<Tab> {
    const target = await this.send('', 'Target.createTarget', { url: 'about:blank' });
    const targetId = textAt(target, 'targetId');
    const attached = await this.send('', 'Target.attachToTarget', { targetId, flatten: true });
    const tab = new Tab(this, targetId, textAt(attached, 'sessionId'));
    this.#tabs.set(tab.session, tab);
    return tab;
  }

  send(sessionId: string, method: string, params: object): Promise<unknown> {
    this.#last += 1;
    const id = this.#last;
    const message = { id, method, params, ...(sessionId === '' ? {} : { sessionId }) };
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#to.write(`${JSON.stringify(message)}\0`);
    });
  }

  async close(): Promise<void> {
    const exited = once(this.#process, 'exit');
    await this.send('', 'Browser.close', {});
    await exited;
    this.#to.destroy();
    this.#from.destroy();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }

  #read(part: string): void {
    const messages = `${this.#rest}${part}`.split('\0');
    this.#rest = messages.pop() ?? '';
    for (const message of messages) this.#take(JSON.parse(message));
  }

  #take(message: unknown): void {
    const id = at(message, 'id');
    if (typeof id !== 'number') {
      this.#deliver(textAt(message, 'sessionId'), textAt(message, 'method'), at(message, 'params'));
      return;
    }
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    const error = at(message, 'error');
    if (error === undefined) waiting?.resolve(at(message, 'result'));
    else waiting?.reject(new CallError(Number(at(error, 'code')), textAt(error, 'message')));
  }

  #deliver(session: string, method: string, params: unknown): void {
    const tab = this.#tabs.get(session);
    if (tab === undefined) return;
    if (method === 'Target.attachedToTarget') this.#tabs.set(textAt(params, 'sessionId'), tab);
    tab.events?.deliver(session === tab.session ? '' : session, method, params);
  }
}

/** One tab's page target. */
export class Tab implements Target {
  events: { deliver(child: string, method: string, params: unknown): void } | undefined;
  readonly session: string;
  readonly #chromium: Chromium;
  readonly #targetId: string;

  constructor(chromium: Chromium, targetId: string, session: string) {
    this.#chromium = chromium;
    this.#targetId = targetId;
    this.session = session;
  }

  call(child: string, method: string, params: object): Promise<unknown> {
    return this.#chromium.send(child === '' ? this.session : child, method, params);
  }

  async close(): Promise<void> {
    await this.#chromium.send('', 'Target.closeTarget', { targetId: this.#targetId });
  }
}
