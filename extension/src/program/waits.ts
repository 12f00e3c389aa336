import { at } from '../policy/json.ts';
import { Ended, type Span, stopIfOver } from './clock.ts';
import { CallError, Fault, isContextGone, isContextLost } from './failure.ts';
import type { Hearing } from './hearing.ts';
import { FRAMES_MS, Layout } from './layout.ts';
import type { Args, Settled } from './types.ts';
import type { View } from './view.ts';
import type { Place, Worlds } from './world.ts';

/** How long a navigation that the page asked for may take to begin; some never do. */
const REQUEST_GRACE_MS = 1000;

/** Bounds how many documents, and answers, one settle follows within its time. */
const MAX_FOLLOWED = 16;

/** How long a document that can be read already is waited for: pictures come later. */
const LOAD_PATIENCE_MS = 2000;

/** How long all requests that a program began may take to be answered. */
const ANSWER_PATIENCE_MS = 3000;

/** The pause between two questions of an await. */
const POLL_INTERVAL_MS = 100;

/** How long a step that asks the page waits for a document that is on its way. */
const DOCUMENT_PATIENCE_MS = 10_000;

/** What an await step waits for. */
type Condition = { name: string; args: Args; eachFrame: boolean; maxMS: number };

/** What a settle step waits for. */
type Wish = { quietMS: number; maxMS: number; begun: boolean };

/** The waiting steps of one tab's programs. */
export class Waits {
  readonly #worlds: Worlds;
  readonly #view: View;
  readonly #hearing: Hearing;

  constructor(worlds: Worlds, view: View, hearing: Hearing) {
    this.#worlds = worlds;
    this.#view = view;
    this.#hearing = hearing;
  }

  /**
   * Follows the main frame's navigation and waits for a quiet document, again when another navigation began meanwhile or an
   * answer came. Only the program's own time running out, or a tab that cannot be reached, is an error.
   */
  async settle(span: Span, wish: Wish): Promise<Settled> {
    const bounded = span.part(wish.maxMS);
    let quiet = false;
    try {
      quiet = await this.#settle(bounded, wish);
    } catch (cause) {
      if (!(cause instanceof Ended)) throw cause;
    }
    stopIfOver(span);
    if (wish.begun) await this.#hearing.stop(span);
    return this.#settled(wish, quiet);
  }

  async #settle(span: Span, wish: Wish): Promise<boolean> {
    const patient = span.part(ANSWER_PATIENCE_MS);
    const left = { commits: 0 };
    let moves = 0;
    for (let followed = 0; followed < MAX_FOLLOWED; followed += 1) {
      await this.#follow(span, wish.begun, left);
      const { navigation } = this.#view;
      const { commits } = navigation;
      const isMoved = navigation.moves > moves;
      moves = navigation.moves;
      const told = await this.#quiet(span, wish, isMoved);
      const isSame = navigation.commits === commits && !navigation.isUnderWay(wish.begun);
      if (told === undefined || !isSame) continue;
      if (!wish.begun || !(await this.#answered(patient, span))) return told;
    }
    return false;
  }

  #settled(wish: Wish, quiet: boolean): Settled {
    const { navigation, requests } = this.#view;
    const navigated = navigation.commits > 0;
    if (!wish.begun) return { navigated, quiet };
    const isLoading = !['none', 'requested'].includes(navigation.phase);
    const { answer, underWay } = requests;
    return {
      navigated,
      quiet: quiet && underWay === 0 && !isLoading,
      waiting: navigation.phase === 'started',
      ...(navigation.moves > 0 && { moved: true as const }),
      ...(isLoading && { loading: true as const }),
      ...(underWay > 0 && { under_way: underWay }),
      ...(answer !== undefined && { answer: { ...answer } }),
    };
  }

  /**
   * Waits for the answers to requests that the program began. It says whether any came, or a navigation: the page may be
   * another one by that.
   */
  async #answered(patient: Span, span: Span): Promise<boolean> {
    const view = this.#view;
    view.requests.counts = false;
    if (view.requests.underWay === 0) return false;
    const holds = () => view.requests.underWay === 0 || view.navigation.isUnderWay(true);
    return await this.#comes(patient, span, holds);
  }

  /** Does something come about within a part of the time? */
  async #comes(part: Span, span: Span, holds: () => boolean): Promise<boolean> {
    try {
      await this.#view.until(part, holds);
      return true;
    } catch (cause) {
      if (!(cause instanceof Ended)) throw cause;
      stopIfOver(span);
      return false;
    }
  }

  /** Waits until no document is on its way: the page answers nothing before. It leaves a tenth of the program's time. */
  async document(span: Span): Promise<void> {
    const isThere = () => this.#view.navigation.phase !== 'started';
    const patient = span.part(Math.min(DOCUMENT_PATIENCE_MS, (span.left() * 9) / 10));
    if (await this.#comes(patient, span, isThere)) return;
    throw new Fault('timeout', 'the page waits for its server');
  }

  /** The first event of a name since the program's start. */
  async event(span: Span, name: string, maxMS: number): Promise<unknown> {
    const bounded = span.part(maxMS);
    await this.#within(span, name, maxMS, () =>
      this.#view.until(bounded, () => this.#view.seen.has(name)),
    );
    return this.#view.seen.get(name);
  }

  /** The first truthy value of a page-script function. */
  async condition(span: Span, wish: Condition): Promise<unknown> {
    const { name, maxMS } = wish;
    const bounded = span.part(maxMS);
    return await this.#within(span, name, maxMS, () => this.#poll(bounded, wish));
  }

  async #poll(span: Span, wish: Condition): Promise<unknown> {
    for (;;) {
      const value = (await this.#inMain(span, wish)) || (await this.#inOthers(span, wish));
      if (value) return value;
      await pause(span, POLL_INTERVAL_MS);
    }
  }

  async #inMain(span: Span, { name, args }: Condition): Promise<unknown> {
    try {
      return await this.#worlds.call(span, this.#main(), name, args);
    } catch (cause) {
      if (isContextGone(cause) || isContextLost(cause)) return undefined;
      throw cause;
    }
  }

  /** What the first of the other frames says that does not say no. Those that fail are asked again. */
  async #inOthers(span: Span, { name, args, eachFrame }: Condition): Promise<unknown> {
    if (!eachFrame) return undefined;
    const part = span.part(FRAMES_MS.read);
    try {
      const { order } = await Layout.of(this.#worlds, this.#view, span);
      for (const frame of order.slice(1)) {
        const value = await this.#worlds.call(part, frame, name, args).catch(() => undefined);
        if (value) return value;
      }
    } catch (cause) {
      if (cause instanceof Ended && span.over() !== undefined) throw cause;
    }
    return undefined;
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

  /**
   * Waits until no navigation of the main frame is under way. With `readable`, a document that is all there but for its
   * pictures is waited for no longer than LOAD_PATIENCE_MS; `left` has the number of the last that was left loading.
   */
  async #follow(span: Span, readable: boolean, left: { commits: number }): Promise<void> {
    const view = this.#view;
    for (;;) {
      await view.until(span, () => {
        const { phase, isReadable } = view.navigation;
        return ['none', 'requested'].includes(phase) || (readable && isReadable);
      });
      const { phase, commits } = view.navigation;
      if (phase === 'none') return;
      if (phase === 'requested') {
        await this.#followRequest(span);
        continue;
      }
      const isLeft = left.commits === commits;
      const patient = span.part(LOAD_PATIENCE_MS);
      if (isLeft || !(await this.#comes(patient, span, () => !view.navigation.isReadable))) {
        left.commits = commits;
        return;
      }
    }
  }

  async #followRequest(span: Span): Promise<void> {
    const { navigation } = this.#view;
    const hasBegun = () => navigation.phase !== 'requested';
    if (!(await this.#comes(span.part(REQUEST_GRACE_MS), span, hasBegun))) navigation.stay();
  }

  /**
   * Asks the frame that the program acted in, and then the page; undefined when the page's document refused, as one does
   * that goes away. A page that fails to say is not quiet.
   */
  async #quiet(span: Span, wish: Wish, isMoved: boolean): Promise<boolean | undefined> {
    let inner: boolean = true;
    const { acted } = this.#view;
    // A frame that is gone is quiet.
    if (wish.begun && acted) inner = (await this.#quietIn(span, acted, wish, isMoved)) ?? true;
    const outer = await this.#quietIn(span, this.#main(), wish, isMoved);
    return outer === undefined ? undefined : inner && outer;
  }

  async #quietIn(
    span: Span,
    place: Place,
    wish: Wish,
    isMoved: boolean,
  ): Promise<boolean | undefined> {
    try {
      const world = await this.#worlds.world(span, place);
      const value = {
        quiet_ms: wish.quietMS,
        max_ms: Math.max(1, Math.trunc(span.left())),
        ...(wish.begun && { begun: true, moved: isMoved }),
      };
      const answer = await this.#worlds.invoke(span, world, '@quiet', { value });
      return at(answer, 'quiet') === true;
    } catch (cause) {
      if (cause instanceof Fault) return false;
      if (!(cause instanceof CallError)) throw cause;
      this.#view.worlds.delete(place.frame);
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
