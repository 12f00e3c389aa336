import { at, isObject, textAt } from '../policy/json.ts';
import { canRetry } from '../policy/table.ts';
import type { Span } from './clock.ts';
import { adoptRoots, CALL_HANDLE } from './closed.ts';
import { Fault, isContextGone, isContextLost, toCallError } from './failure.ts';
import type { Args } from './types.ts';
import type { View } from './view.ts';

/**
 * Sends one CDP command to the tab's page target or, with `child` not empty, to the child target session of that name.
 * Replies and events come in the order in which the browser sent them. It rejects with a CallError (or an Error whose
 * message is that as JSON) when the browser refused.
 */
export type Target = { call(child: string, method: string, params: object): Promise<unknown> };

/** Where a frame's document lives; `child` is empty for the page's own target session. */
export type Place = { frame: string; child: string };

/** The page script, installed in one document of one frame. */
export type World = Place & {
  /** CDP's executionContextId; unique only within one renderer process. */
  context: number;
  /**
   * The page script's entry. Unlike the context's number it cannot come to mean something of another process after a
   * navigation, so calls go through it.
   */
  handle: string;
  /** By frame id: handles of the frames' elements in this document. */
  owners: Map<string, string>;
};

/** What Chrome calls the page script's isolated world; a later attachment finds it as it was left, with its numbers. */
const WORLD_NAME = 'chaperone';

/** Bounds how often one call makes a new world in a frame whose documents keep going away. */
const MAX_WORLDS = 4;

/** Bounds how deep closed shadow trees that are looked into stand in each other. */
const MAX_DEPTHS = 4;

/** The page script in all frames of one tab. */
export class Worlds {
  readonly #target: Target;
  readonly #view: View;
  readonly #pageScript: string;
  /** The target sessions whose documents to come begin with the page script. */
  readonly #preceded = new Set<string>();

  constructor(target: Target, view: View, pageScript: string) {
    this.#target = target;
    this.#view = view;
    this.#pageScript = pageScript;
  }

  /** Sends a command and waits for its reply no longer than the span. */
  async ask(span: Span, child: string, method: string, params: object): Promise<unknown> {
    try {
      return await span.bound(this.#target.call(child, method, params));
    } catch (cause) {
      throw toCallError(cause);
    }
  }

  /** Puts the page script before all scripts of the documents to come: it has to hear of clicks before they do. */
  async precede(span: Span, child: string): Promise<void> {
    if (this.#preceded.has(child)) return;
    await this.ask(span, child, 'Page.addScriptToEvaluateOnNewDocument', {
      source: this.#pageScript,
      worldName: WORLD_NAME,
    });
    this.#preceded.add(child);
  }

  /** The page script's world of a frame, installed where it is missing. */
  async world(span: Span, place: Place): Promise<World> {
    const present = this.#view.worlds.get(place.frame);
    if (present !== undefined && present.handle !== '' && present.child === place.child) {
      return present;
    }
    for (let made = 0; made < MAX_WORLDS; made += 1) {
      try {
        const world = await this.#install(span, place);
        if (this.#view.worlds.get(place.frame) === world) return world;
      } catch (cause) {
        if (!isContextGone(cause) && !isContextLost(cause)) throw cause;
      }
    }
    throw new Fault(
      'internal',
      "the frame's documents go away faster than the page script can be installed",
    );
  }

  /**
   * Calls a page-script function in a frame. A document that went away before it began is replaced by the present one;
   * while it ran, only where the function may run again.
   */
  async call(span: Span, place: Place, name: string, args: Args): Promise<unknown> {
    const value =
      name === '@locate' && this.#view.level === 'read' ? { ...args, read_only: true } : args;
    let last: unknown;
    for (let tried = 0; tried < MAX_WORLDS; tried += 1) {
      const world = await this.world(span, place);
      try {
        return await this.#open(span, world, name, value);
      } catch (cause) {
        if (!isContextGone(cause) && !(isContextLost(cause) && canRetry(name))) throw cause;
        this.#view.worlds.delete(place.frame);
        last = cause;
      }
    }
    throw last;
  }

  /** Runs a function until all closed shadow trees that it comes by, where it only reads, are open to it. */
  async #open(span: Span, world: World, name: string, value: Args): Promise<unknown> {
    let said = await this.#converse(span, world, name, { value });
    for (let depth = 0; depth < MAX_DEPTHS; depth += 1) {
      if (!said.hosts || !canRetry(name)) break;
      if ((await adoptRoots(this, span, world)) === 0) break;
      said = await this.#converse(span, world, name, { value });
    }
    return said.value;
  }

  /** Calls the page script's entry with a name and one CDP call argument. */
  async invoke(span: Span, world: World, name: string, argument: object): Promise<unknown> {
    return (await this.#converse(span, world, name, argument)).value;
  }

  async #converse(span: Span, world: World, name: string, argument: object): Promise<Said> {
    const reply = await this.ask(span, world.child, 'Runtime.callFunctionOn', {
      objectId: world.handle,
      functionDeclaration: CALL_HANDLE,
      arguments: [{ value: name }, argument],
      awaitPromise: true,
      returnByValue: true,
    });
    const thrown = at(reply, 'exceptionDetails');
    if (thrown !== undefined) {
      const description = textAt(thrown, 'exception', 'description');
      throw new Fault('internal', `${name}: ${textAt(thrown, 'text')} ${description}`);
    }
    return parseAnswer(name, at(reply, 'result', 'value'));
  }

  /** Puts the page script into the frame's present document; the view drops the world when that goes away meanwhile. */
  async #install(span: Span, place: Place): Promise<World> {
    const world: World = { ...place, context: 0, handle: '', owners: new Map() };
    this.#view.worlds.set(place.frame, world);
    const made = await this.ask(span, place.child, 'Page.createIsolatedWorld', {
      frameId: place.frame,
      worldName: WORLD_NAME,
    });
    const contextId = Number(at(made, 'executionContextId'));
    const installed = await this.ask(span, place.child, 'Runtime.evaluate', {
      expression: `${this.#pageScript}\n;globalThis.chaperone`,
      contextId,
    });
    const handle = textAt(installed, 'result', 'objectId');
    if (at(installed, 'exceptionDetails') !== undefined || handle === '') {
      throw new Fault('internal', 'the page script did not install');
    }
    world.context = contextId;
    world.handle = handle;
    return world;
  }
}

/** What the page script said; with `hosts` there may be closed shadow trees that it has not been handed. */
type Said = { value: unknown; hosts: boolean };

/** Reads the page script's one JSON string. */
function parseAnswer(name: string, told: unknown): Said {
  const answer = parseJSON(told);
  if (!isObject(answer)) throw new Fault('internal', `${name} did not answer in JSON`);
  if (at(answer, 'error') === undefined) {
    return { value: at(answer, 'value') ?? null, hosts: at(answer, 'hosts') === true };
  }
  const code = textAt(answer, 'error', 'code');
  if (code === '') throw new Fault('internal', `${name} failed without a code`);
  throw new Fault(code, textAt(answer, 'error', 'message'), at(answer, 'error', 'detail'));
}

function parseJSON(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
