import { isDeepStrictEqual } from 'node:util';
import type { Clock } from './clock.ts';
import { CallError } from './failure.ts';
import type { Target } from './world.ts';

export type Event = { child?: string; method: string; params?: unknown };

/** How a command is answered. */
type Answer = {
  before?: Event[];
  reply?: unknown;
  error?: { code: number; message: string };
  hang?: boolean;
  after_ms?: number;
};

/** One entry of a vector's `browser`. */
export type Call = Answer & {
  child?: string;
  call?: string;
  params?: object;
  world?: string;
  context?: number;
  run?: string;
  handle?: string;
  args?: object;
  object?: string;
  value?: unknown;
  failure?: unknown;
  hosts?: true;
};

type Command = { child: string; method: string; params: object; answer: Answer };

/** Plays a vector's calls: each must come in its target session's turn, and is answered as the vector says. */
export class ScriptedBrowser implements Target {
  static readonly pageScript = 'PAGE SCRIPT';
  events: { deliver(child: string, method: string, params: unknown): void } | undefined;
  readonly problems: string[] = [];
  readonly #clock: Clock;
  readonly #commands: Command[];
  #isPlaying: boolean = false;

  constructor(clock: Clock, calls: readonly Call[]) {
    this.#clock = clock;
    this.#commands = calls.flatMap(commandsOf);
  }

  /** Until it is called, commands are those of attaching, which no vector lists. */
  begin(): void {
    this.#isPlaying = true;
  }

  get left(): string[] {
    return this.#commands.map(({ method }) => method);
  }

  async call(child: string, method: string, params: object): Promise<unknown> {
    if (!this.#isPlaying) return attaching(method);
    const sent = { child, method, params };
    const turn = this.#commands.findIndex((due) => due.child === child);
    const [next] = turn < 0 ? [] : this.#commands.splice(turn, 1);
    const due = next && { child: next.child, method: next.method, params: next.params };
    if (next === undefined || !isDeepStrictEqual(sent, due)) {
      this.problems.push(`${JSON.stringify(sent)} came instead of ${JSON.stringify(due)}`);
      throw new CallError(0, 'not in the vector');
    }
    return await this.#answer(next.answer);
  }

  async #answer({ before, reply, error, hang, after_ms }: Answer): Promise<unknown> {
    for (const event of before ?? []) {
      this.events?.deliver(event.child ?? '', event.method, event.params);
    }
    if (hang === true) return await new Promise(() => undefined);
    if (after_ms !== undefined) {
      await new Promise<void>((resolve) => void this.#clock.after(after_ms, resolve));
    }
    if (error !== undefined) throw new Error(JSON.stringify(error)); // as chrome.debugger tells it
    return reply;
  }
}

function attaching(method: string): unknown {
  if (method !== 'Page.getFrameTree') return {};
  return { frameTree: { frame: { id: 'F', url: 'https://page.test/' } } };
}

function commandsOf(call: Call): Command[] {
  const child = call.child ?? '';
  if (call.world !== undefined) return worldOf(call, call.world, child);
  if (call.run !== undefined) return [invocationOf(call, call.run, child)];
  return [{ child, method: call.call ?? '', params: call.params ?? {}, answer: call }];
}

function worldOf(call: Call, frameId: string, child: string): Command[] {
  const contextId = call.context ?? 1;
  const expression = `${ScriptedBrowser.pageScript}\n;globalThis.chaperone`;
  return [
    {
      child,
      method: 'Page.createIsolatedWorld',
      params: { frameId, worldName: 'chaperone' },
      answer: { reply: { executionContextId: contextId } },
    },
    {
      child,
      method: 'Runtime.evaluate',
      params: { expression, contextId },
      answer: { ...call, reply: { result: { type: 'function', objectId: call.handle } } },
    },
  ];
}

function invocationOf(call: Call, name: string, child: string): Command {
  const argument =
    call.object === undefined ? { value: call.args ?? {} } : { objectId: call.object };
  const told = JSON.stringify({
    value: call.value,
    error: call.failure,
    hosts: call.hosts,
  });
  return {
    child,
    method: 'Runtime.callFunctionOn',
    params: {
      objectId: call.handle ?? 'H',
      functionDeclaration: 'function(n,a){return this(n,a)}',
      arguments: [{ value: name }, argument],
      awaitPromise: true,
      returnByValue: true,
    },
    answer: { ...call, reply: { result: { type: 'string', value: told } } },
  };
}
