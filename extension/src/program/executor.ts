import { at, isObject, textAt } from '../policy/json.ts';
import { judgeFilled, type Level } from '../policy/table.ts';
import { check } from './check.ts';
import { type Clock, Ended, Span, stopIfOver, systemClock } from './clock.ts';
import { dialogOpen, isHeldUp, mindDialogs, stopIfHeldUp, stopIfOpenBefore } from './dialogs.ts';
import { evaluate } from './evals.ts';
import { BEFORE_FIRST_STEP, CallError, Fault, failed } from './failure.ts';
import { Hearing, hearsFrom } from './hearing.ts';
import { enable, FRAMES_MS, type Frame, frameTree, Layout } from './layout.ts';
import { navigate } from './navigate.ts';
import { parseProgram } from './parse.ts';
import { pick } from './pick.ts';
import { frameOf, holds, lookUp, resolve } from './ref.ts';
import type { Args, Failure, FrameResult, Program, Result, Step } from './types.ts';
import { isVeiled, unveil } from './veil.ts';
import { View } from './view.ts';
import { Waits } from './waits.ts';
import { type Place, type Target, Worlds } from './world.ts';

export { CallError } from './failure.ts';
export type { Result } from './types.ts';
export type { Target } from './world.ts';

export type Options = {
  /** The source that defines globalThis.chaperone in an isolated world. */
  pageScript: string;
  clock?: Clock;
};

/** JSON-RPC's code for parameters that the browser cannot read. */
const INVALID_PARAMS = -32602;

/** How long attaching to a tab may take; a discarded or crashed one never answers. */
const ATTACH_TIMEOUT_MS = 10_000;

/** Runs programs in one tab, one after the other. `relay/program` has the same in Go; both pass the same vectors. */
export class Executor {
  readonly #clock: Clock;
  readonly #view: View;
  readonly #worlds: Worlds;
  readonly #hearing: Hearing;
  readonly #waits: Waits;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(target: Target, { pageScript, clock = systemClock }: Options) {
    this.#clock = clock;
    this.#view = new View();
    this.#worlds = new Worlds(target, this.#view, pageScript);
    this.#hearing = new Hearing(this.#worlds, this.#view);
    this.#waits = new Waits(this.#worlds, this.#view, this.#hearing);
  }

  /**
   * Makes the tab tell what the executor must know: page events, cross-site frames, and a page that keeps running when
   * nobody looks at it. Events must be delivered from before it is called. It may be called again after the debugger
   * was attached anew.
   */
  attach(): Promise<void> {
    return this.#inTurn(() => this.#attach());
  }

  /** Tells one event of the tab; `child` is the target session it came from, empty for the page itself. */
  deliver(child: string, method: string, params: unknown): void {
    this.#view.apply(child, method, params);
  }

  /** The tab's page is gone, with all that was known of it; another will be loaded. */
  forget(): void {
    this.#view.update(() => this.#view.forget());
  }

  /** The address of the main frame as far as events have told, without asking the browser. */
  get url(): string {
    return this.#view.url;
  }

  /**
   * Runs a program, as it came over the wire, at a level, once its turn has come, and answers how it went: `error` says
   * what ended it early. The signal stops it before its next step. It never rejects.
   */
  async run(program: unknown, level: Level, signal: AbortSignal): Promise<Result> {
    const tab = textAt(program, 'tab');
    try {
      const parsed = parseProgram(program);
      check(parsed, level);
      return await this.#inTurn(() => this.#run(parsed, level, signal));
    } catch (cause) {
      return { tab, steps: [], error: failed(BEFORE_FIRST_STEP, cause), elapsed_ms: 0 };
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async #attach(): Promise<void> {
    const span = new Span(this.#clock, ATTACH_TIMEOUT_MS, new AbortController().signal);
    // Chrome announces a frame once; letting all go first makes it announce those that an earlier executor had.
    const release = { autoAttach: false, waitForDebuggerOnStart: false, flatten: true };
    await this.#worlds.ask(span, '', 'Target.setAutoAttach', release);
    this.#view.forget();
    this.#hearing.forget();
    await enable(this.#worlds, span, '');
    await this.#worlds.ask(span, '', 'Emulation.setFocusEmulationEnabled', { enabled: true });
    const tree = await frameTree(this.#worlds, span, '');
    this.#view.mainFrame = textAt(tree, 'frame', 'id');
    this.#view.url = textAt(tree, 'frame', 'url');
  }

  async #run(program: Program, level: Level, signal: AbortSignal): Promise<Result> {
    if (signal.aborted) throw new Ended('cancelled');
    const start = this.#clock.now();
    const own = new AbortController();
    const ends = AbortSignal.any([signal, own.signal]);
    const span = new Span(this.#clock, program.deadlineMS, ends);
    const view = this.#view;
    view.begin(level, program.keepDialogs);
    const minded = mindDialogs({ worlds: this.#worlds, view }, span, () => own.abort());
    const result = await this.#steps(span, program);
    view.update(() => {
      view.isEnded = true;
    });
    await minded;
    if (view.dialogs.length > 0) result.dialogs = view.recorded();
    result.elapsed_ms = Math.trunc(this.#clock.now() - start);
    return result;
  }

  async #steps(span: Span, program: Program): Promise<Result> {
    const result: Result = { tab: program.tab, steps: [], elapsed_ms: 0 };
    try {
      stopIfOpenBefore(this.#view, program);
    } catch (cause) {
      return { ...result, error: failed(BEFORE_FIRST_STEP, cause) };
    }
    const heardFrom = hearsFrom(program);
    for (const [i, step] of program.steps.entries()) {
      try {
        stopIfHeldUp(this.#view);
        stopIfOver(span);
        if (i === heardFrom) await this.#hearing.start(span);
        const isLast = step.kind === 'stop_if' && Boolean(lookUp(step.path, result.steps));
        result.steps.push(await this.#stepIf(span, step, result.steps));
        if (isLast) return { ...result, stopped: true };
      } catch (cause) {
        return {
          ...result,
          error: this.#late(failed(i, isHeldUp(this.#view) ? dialogOpen() : cause)),
        };
      }
    }
    return result;
  }

  async #stepIf(span: Span, step: Step, results: readonly unknown[]): Promise<unknown> {
    if (step.onlyIf !== null && !holds(step.onlyIf, results)) return null;
    return await this.#step(span, step, results);
  }

  /** Says of a program that ran out of time whether that was for a document on its way. */
  #late(failure: Failure): Failure {
    const isWaiting = this.#view.navigation.phase === 'started';
    if (failure.code !== 'timeout' || failure.detail !== undefined || !isWaiting) return failure;
    return { ...failure, detail: { waiting: true } };
  }

  async #step(span: Span, step: Step, results: readonly unknown[]): Promise<unknown> {
    switch (step.kind) {
      case 'run':
        await this.#waits.document(span);
        return await this.#runStep(span, {
          ...step,
          frame: frameOf(step.frame, results),
          args: resolve(step.args, results),
        });
      case 'call':
        return await this.#callStep(span, step.method, resolve(step.params, results));
      case 'settle':
        return await this.#waits.settle(span, step);
      case 'await_event':
        return await this.#waits.event(span, step.event, step.maxMS);
      case 'await_run': {
        const args = resolve(step.args, results);
        return await this.#waits.condition(span, { ...step, args });
      }
      case 'stop_if':
        return null;
      case 'eval':
        return await evaluate({ worlds: this.#worlds, view: this.#view }, span, {
          ...step,
          frame: frameOf(step.frame, results),
        });
      default:
        throw step satisfies never;
    }
  }

  /** Its reply is the step's result. */
  async #callStep(span: Span, method: string, params: object): Promise<unknown> {
    const { reason } = judgeFilled(method, params);
    if (reason !== '') throw new Fault('forbidden', reason);
    if (method === 'Page.navigate') return await navigate(this.#worlds, this.#view, span, params);
    try {
      return (await this.#worlds.ask(span, '', method, params)) ?? null;
    } catch (cause) {
      if (!(cause instanceof CallError)) throw cause;
      throw cause.code === INVALID_PARAMS ? new Fault('bad_request', cause.message) : cause;
    }
  }

  async #runStep(span: Span, step: Extract<Step, { kind: 'run' }>): Promise<unknown> {
    if (step.eachFrame) {
      const all = await this.#eachFrame(span, step);
      return step.pick === null ? all : pick(all, step.pick);
    }
    if (step.frame === '' || step.frame === this.#view.mainFrame) {
      // What it begins, it begins after it has answered.
      if (step.name === '@history') this.#view.navigation.request();
      return await this.#inMain(span, step);
    }
    return await this.#inFrame(span, step);
  }

  async #inMain(span: Span, { name, args }: Extract<Step, { kind: 'run' }>): Promise<unknown> {
    const main = this.#main();
    const value = await this.#worlds.call(span, main, name, args);
    if (name !== '@locate' || !isVeiled(value)) return value;
    const [x, y] = [at(value, 'x'), at(value, 'y')];
    if (typeof x === 'number' && typeof y === 'number') {
      await unveil(this.#worlds, span, main, { x, y });
    }
    return value;
  }

  /** Runs a function in one frame and moves a point that it answers into the tab's viewport. */
  async #inFrame(span: Span, step: Extract<Step, { kind: 'run' }>): Promise<unknown> {
    const layout = await Layout.of(this.#worlds, this.#view, span);
    const frame = layout.frames.get(step.frame);
    if (frame === undefined) throw new Fault('not_found', 'the frame is gone');
    this.#view.acted = frame;
    const value = await this.#worlds.call(span, frame, step.name, step.args);
    if (step.name === '@locate') return await layout.reach(span, frame, value);
    const { box, problem } = await layout.box(span, frame);
    if (problem !== undefined) throw problem;
    const [x, y] = [at(value, 'x'), at(value, 'y')];
    if (!isObject(value) || typeof x !== 'number' || typeof y !== 'number') return value;
    return { ...value, x: x + box.x, y: y + box.y };
  }

  /**
   * Runs a function in the main frame and then in all others. Only the main frame's failure is one; how many of the
   * others are left out stands in its result.
   */
  async #eachFrame(
    span: Span,
    { name, args }: Extract<Step, { kind: 'run' }>,
  ): Promise<FrameResult[]> {
    const main = this.#main();
    const value = await this.#worlds.call(span, main, name, args);
    const [reading, placing] = [span.part(FRAMES_MS.read), span.part(FRAMES_MS.place)];
    const layout = await Layout.of(this.#worlds, this.#view, span);
    const values = await this.#readFrames(reading, layout.order.slice(1), name, args);
    const results: FrameResult[] = [];
    for (const [frame, value] of values) {
      // Where the parent cannot tell, the frame is still worth reading.
      const { node, x, y } = (await layout.box(placing, frame)).box;
      const owner = node === 0 ? {} : { owner: node };
      results.push({ frame: frame.frame, parent: frame.parent, ...owner, x, y, value });
    }
    stopIfOver(span);
    const left = layout.leftOut + layout.order.length - 1 - results.length;
    return [
      { frame: main.frame, x: 0, y: 0, value, ...(left > 0 && { left_out: left }) },
      ...results,
    ];
  }

  /**
   * What the frames that answered say, in their order: those of one target session are asked one after the other, the
   * sessions side by side.
   */
  async #readFrames(
    span: Span,
    frames: readonly Frame[],
    name: string,
    args: Args,
  ): Promise<[Frame, unknown][]> {
    const values = new Map<Frame, unknown>();
    const read = async (child: string): Promise<void> => {
      for (const frame of frames.filter((frame) => frame.child === child)) {
        if (span.over() !== undefined) return;
        try {
          values.set(frame, await this.#worlds.call(span, frame, name, args));
        } catch {
          // It is left out, and counted.
        }
      }
    };
    await Promise.all(Array.from(new Set(frames.map(({ child }) => child)), read));
    return frames.filter((frame) => values.has(frame)).map((frame) => [frame, values.get(frame)]);
  }

  #main(): Place {
    return { frame: this.#view.mainFrame, child: '' };
  }
}
