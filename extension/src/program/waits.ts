import { at } from '../policy/json.ts';
import { Ended, type Span, stopIfOver } from './clock.ts';
import { CallError, Fault, isContextGone, isContextLost } from './failure.ts';
import type { Args, Settled } from './types.ts';
import type { View } from './view.ts';
import type { Place, Worlds } from './world.ts';

/** How long a navigation that the page asked for may take to begin; some never do. */
const REQUEST_GRACE_MS = 1000;

/** Bounds how many documents one settle follows within its time. */
const MAX_FOLLOWED = 16;

/** The pause between two questions of an await. */
const POLL_INTERVAL_MS = 100;

/** The waiting steps of one tab's programs. */
export class Waits {
  readonly #worlds: Worlds;
  readonly #view: View;

  constructor(worlds: Worlds, view: View) {
    this.#worlds = worlds;
    this.#view = view;
  }

  /**
   * Follows the main frame's navigation and waits for a quiet document, again when another navigation began meanwhile.
   * Only the program's own time running out, or a tab that cannot be reached, is an error.
   */
  async settle(span: Span, quietMS: number, maxMS: number): Promise<Settled> {
    const bounded = span.part(maxMS);
    let quiet = false;
    try {
      for (let followed = 0; followed < MAX_FOLLOWED && !quiet; followed += 1) {
        await this.#follow(bounded);
        const { commits } = this.#view.navigation;
        const told = await this.#quiet(bounded, quietMS);
        const isSame =
          this.#view.navigation.commits === commits && this.#view.navigation.phase === 'none';
        if (told === undefined || !isSame) continue;
        quiet = told;
        break;
      }
    } catch (cause) {
      if (!(cause instanceof Ended)) throw cause;
      quiet = false;
    }
    stopIfOver(span);
    return { navigated: this.#view.navigation.commits > 0, quiet };
  }

  /** The first event of a name since the program's start. */
  async event(span: Span, name: string, maxMS: number): Promise<unknown> {
    const bounded = span.part(maxMS);
    await this.#within(span, name, maxMS, () =>
      this.#view.until(bounded, () => this.#view.seen.has(name)),
    );
    return this.#view.seen.get(name);
  }

  /** The first truthy value of a page-script function in the main frame. */
  async condition(span: Span, name: string, args: Args, maxMS: number): Promise<unknown> {
    const bounded = span.part(maxMS);
    return await this.#within(span, name, maxMS, () => this.#poll(bounded, name, args));
  }

  async #poll(span: Span, name: string, args: Args): Promise<unknown> {
    for (;;) {
      try {
        const value = await this.#worlds.call(span, this.#main(), name, args);
        if (value) return value;
      } catch (cause) {
        if (!isContextGone(cause) && !isContextLost(cause)) throw cause;
      }
      await pause(span, POLL_INTERVAL_MS);
    }
  }

  async #within<T>(span: Span, name: string, maxMS: number, wait: () => Promise<T>): Promise<T> {
    try {
      return await wait();
    } catch (cause) {
      stopIfOver(span);
      if (!(cause instanceof Ended)) throw cause;
      throw new Fault('timeout', `${name} did not come about within ${maxMS} ms`);
    }
  }

  /** Waits until no navigation of the main frame is under way. */
  async #follow(span: Span): Promise<void> {
    const view = this.#view;
    for (;;) {
      await view.until(span, () => ['none', 'requested'].includes(view.navigation.phase));
      if (view.navigation.phase === 'none') return;
      try {
        await view.until(span.part(REQUEST_GRACE_MS), () => view.navigation.phase !== 'requested');
      } catch (cause) {
        if (!(cause instanceof Ended) || span.over() !== undefined) throw cause;
        view.navigation.stay();
      }
    }
  }

  /** Asks the page once; undefined when its document refused, as one does that goes away. A page that fails to say is not quiet. */
  async #quiet(span: Span, quietMS: number): Promise<boolean | undefined> {
    const main = this.#main();
    try {
      const world = await this.#worlds.world(span, main);
      const value = { quiet_ms: quietMS, max_ms: Math.max(1, Math.trunc(span.left())) };
      const answer = await this.#worlds.invoke(span, world, '@quiet', { value });
      return at(answer, 'quiet') === true;
    } catch (cause) {
      if (cause instanceof Fault) return false;
      if (!(cause instanceof CallError)) throw cause;
      this.#view.worlds.delete(main.frame);
      return undefined;
    }
  }

  #main(): Place {
    return { frame: this.#view.mainFrame, child: '' };
  }
}

async function pause(span: Span, ms: number): Promise<void> {
  const part = span.part(ms);
  try {
    await part.bound(new Promise<never>(() => undefined));
  } catch (cause) {
    if (!(cause instanceof Ended) || span.over() !== undefined) throw cause;
  }
}
