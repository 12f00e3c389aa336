import { canRetry } from '../policy/table.ts';
import type { Span } from './clock.ts';
import { CallError } from './failure.ts';
import { Requests } from './requests.ts';
import type { Program } from './types.ts';
import type { View } from './view.ts';
import type { Worlds } from './world.ts';

/**
 * A program that waits for what it begins hears of the page's requests from just before it begins anything until it has
 * settled. A page tells of each request several times over: at all other times nobody listens.
 */
export class Hearing {
  readonly #worlds: Worlds;
  readonly #view: View;
  #isOn: boolean = false;

  constructor(worlds: Worlds, view: View) {
    this.#worlds = worlds;
    this.#view = view;
  }

  /** The tab was attached anew. */
  forget(): void {
    this.#isOn = false;
  }

  /** Asks the page to tell of its requests. One that refuses settles without. */
  async start(span: Span): Promise<void> {
    this.#view.requests = new Requests(true);
    if (this.#isOn) return;
    // Nobody asks for bodies: the page keeps none.
    const params = { maxTotalBufferSize: 0, maxResourceBufferSize: 0 };
    this.#isOn = await this.#ask(span, 'Network.enable', params);
  }

  /** Ends it, unless the program's time is up or the page's server is waited for: the next program does then. */
  async stop(span: Span): Promise<void> {
    const isWaiting = this.#view.navigation.phase === 'started';
    if (!this.#isOn || isWaiting || span.over() !== undefined) return;
    this.#isOn = !(await this.#ask(span, 'Network.disable', {}));
  }

  async #ask(span: Span, method: string, params: object): Promise<boolean> {
    try {
      await this.#worlds.ask(span, '', method, params);
      return true;
    } catch (cause) {
      if (!(cause instanceof CallError)) throw cause;
      return false;
    }
  }
}

/** Calls that end what keeps a page from telling anything. */
const UNHEARD = ['Page.handleJavaScriptDialog', 'Page.stopLoading'];

/**
 * The step before which a program begins to hear of requests: its first that is sent to the page or may not be done twice;
 * a page whose dialog is open, or whose server is waited for, tells nothing before that is over. Programs without such a step, and those that wait for nothing they begin, hear of none: -1.
 */
export function hearsFrom({ steps }: Program): number {
  if (!steps.some((step) => step.kind === 'settle' && step.begun)) return -1;
  return steps.findIndex(
    (step) =>
      (step.kind === 'call' && !UNHEARD.includes(step.method)) ||
      (step.kind === 'run' && !canRetry(step.name)),
  );
}
