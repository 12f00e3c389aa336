import { at, isObject, textAt } from '../policy/json.ts';
import { type Span, stopIfOver } from './clock.ts';
import { Fault } from './failure.ts';
import { isVeiled, unveil } from './veil.ts';
import type { ChildTarget, View } from './view.ts';
import type { Place, World, Worlds } from './world.ts';

/**
 * What all frames beside the main one may take together: to tell of the frames in them, until they have answered, and
 * until their places are known. Those of different target sessions are asked side by side, so that a stuck one costs no
 * other.
 */
export const FRAMES_MS = { layout: 1000, read: 2500, place: 3000 };

/** Bounds how many frames a program looks into. */
const MAX_FRAMES = 64;

/** One frame of the tab; the main frame's parent is empty. */
export type Frame = Place & { parent: string };

/** Where a frame's element stands: its node in the parent's document, its content box in the tab's viewport. */
export type Box = { node: number; x: number; y: number };

const AUTO_ATTACH = {
  autoAttach: true,
  waitForDebuggerOnStart: false,
  flatten: true,
  filter: [{ type: 'iframe' }],
};

/**
 * Asks one target session for its events and its cross-site frames, and puts the page script before the scripts of its
 * documents to come.
 */
export async function enable(worlds: Worlds, span: Span, child: string): Promise<void> {
  await worlds.ask(span, child, 'Page.enable', {});
  await worlds.precede(span, child);
  await worlds.ask(span, child, 'Target.setAutoAttach', AUTO_ATTACH);
}

/** Where a tab's frames stand while one step looks at them. */
export class Layout {
  /** The main frame first, every parent before its children. */
  readonly order: Frame[] = [];
  readonly frames = new Map<string, Frame>();
  /** How many frames and target sessions did not answer or are too many. */
  leftOut = 0;
  readonly #boxes = new Map<string, Box>();
  readonly #worlds: Worlds;

  private constructor(worlds: Worlds) {
    this.#worlds = worlds;
  }

  /** Asks every reachable target session for its frames. One that does not answer is left out. */
  static async of(worlds: Worlds, view: View, span: Span): Promise<Layout> {
    const layout = new Layout(worlds);
    const children = new Map<string, Frame[]>();
    gather(children, await frameTree(worlds, span, ''), '');
    await layout.#gatherChildren(view, span, children);
    layout.#add(children, '');
    return layout;
  }

  /** Asks the child targets, side by side, and then those that these have announced meanwhile. */
  async #gatherChildren(view: View, span: Span, children: Map<string, Frame[]>): Promise<void> {
    const part = span.part(FRAMES_MS.layout);
    const asked = new Set<string>();
    for (;;) {
      const fresh = view.children.filter((target) => !asked.has(target.session));
      const batch = fresh.slice(0, MAX_FRAMES - asked.size);
      if (batch.length === 0) {
        this.leftOut += fresh.length;
        return;
      }
      for (const { session } of batch) asked.add(session);
      const trees = await Promise.allSettled(batch.map((it) => childTree(this.#worlds, part, it)));
      stopIfOver(span);
      for (const [i, tree] of trees.entries()) {
        if (tree.status === 'fulfilled') gather(children, tree.value, batch[i]?.session ?? '');
        else this.leftOut += 1;
      }
    }
  }

  /**
   * Takes what was located in a frame through the documents around it into the tab's viewport. Each of them says whether
   * the frame is what is hit there.
   */
  async reach(span: Span, frame: Frame, located: unknown): Promise<unknown> {
    let inner = frame;
    let point = located;
    let outermost = { x: 0, y: 0 }; // in the viewport of the frame's target session
    for (;;) {
      const [x, y] = [at(point, 'x'), at(point, 'y')];
      if (!isObject(located) || typeof x !== 'number' || typeof y !== 'number') {
        throw new Fault('internal', 'what was located has no place');
      }
      if (inner.child === frame.child) outermost = { x, y };
      const parent = this.frames.get(inner.parent);
      if (parent === undefined) {
        if (isVeiled(located)) await unveil(this.#worlds, span, frame, outermost);
        return { ...located, x, y };
      }
      const { node } = await ownerOf(this.#worlds, span, parent, inner.frame);
      point = await this.#worlds.call(span, parent, '@over', { node, x, y });
      inner = parent;
    }
  }

  /**
   * A frame's place in the tab's viewport through all the frames around it. Where a parent cannot tell, `known` is as
   * much of the offset as is known, with no node.
   */
  async box(span: Span, frame: Frame): Promise<{ box: Box; problem?: unknown }> {
    const parent = this.frames.get(frame.parent);
    if (parent === undefined) return { box: { node: 0, x: 0, y: 0 } };
    const known = this.#boxes.get(frame.frame);
    if (known !== undefined) return { box: known };
    const around = await this.box(span, parent);
    const { x, y } = around.box;
    if (around.problem !== undefined) return { ...around, box: { node: 0, x, y } };
    try {
      const own = await ownerOf(this.#worlds, span, parent, frame.frame);
      const box = { node: own.node, x: x + own.x, y: y + own.y };
      this.#boxes.set(frame.frame, box);
      return { box };
    } catch (problem) {
      return { box: { node: 0, x, y }, problem };
    }
  }

  /** Puts a parent's frames in order, each followed by what is inside it. */
  #add(children: ReadonlyMap<string, Frame[]>, parent: string): void {
    for (const frame of children.get(parent) ?? []) {
      if (this.frames.has(frame.frame)) continue;
      if (this.order.length === MAX_FRAMES) {
        this.leftOut += 1;
        continue;
      }
      this.frames.set(frame.frame, frame);
      this.order.push(frame);
      this.#add(children, frame.frame);
    }
  }
}

/** CDP's frame tree of one target session. */
export async function frameTree(worlds: Worlds, span: Span, child: string): Promise<unknown> {
  return at(await worlds.ask(span, child, 'Page.getFrameTree', {}), 'frameTree');
}

/** Asks a child target, once for its events and its own children. */
async function childTree(worlds: Worlds, span: Span, target: ChildTarget): Promise<unknown> {
  if (!target.isEnabled) {
    await enable(worlds, span, target.session);
    target.isEnabled = true;
  }
  return await frameTree(worlds, span, target.session);
}

/** Files a session's frames beneath their parents. */
function gather(children: Map<string, Frame[]>, tree: unknown, child: string): void {
  const parent = textAt(tree, 'frame', 'parentId');
  if (parent === '' && child !== '') return; // a target of its own, no frame of this tab
  const siblings = children.get(parent) ?? [];
  siblings.push({ frame: textAt(tree, 'frame', 'id'), child, parent });
  children.set(parent, siblings);
  const inner = at(tree, 'childFrames');
  if (Array.isArray(inner)) for (const frame of inner) gather(children, frame, child);
}

/** Asks the page script of the parent's document where a frame's element stands. */
async function ownerOf(worlds: Worlds, span: Span, parent: Place, inner: string): Promise<Box> {
  const world = await worlds.world(span, parent);
  const objectId = await ownerHandle(worlds, span, world, inner);
  try {
    return readBox(await worlds.invoke(span, world, '@owner', { objectId }));
  } catch (cause) {
    world.owners.delete(inner);
    throw cause;
  }
}

/** The frame's element as the world of the parent's document sees it. */
async function ownerHandle(
  worlds: Worlds,
  span: Span,
  world: World,
  inner: string,
): Promise<string> {
  const known = world.owners.get(inner);
  if (known !== undefined) return known;
  const element = await worlds.ask(span, world.child, 'DOM.getFrameOwner', { frameId: inner });
  const resolved = await worlds.ask(span, world.child, 'DOM.resolveNode', {
    backendNodeId: at(element, 'backendNodeId'),
    executionContextId: world.context,
  });
  const handle = textAt(resolved, 'object', 'objectId');
  world.owners.set(inner, handle);
  return handle;
}

function readBox(answer: unknown): Box {
  if (isObject(answer)) {
    const { node, x, y } = answer;
    if (typeof node === 'number' && typeof x === 'number' && typeof y === 'number') {
      return { node, x, y };
    }
  }
  throw new Fault('internal', '@owner did not answer a box');
}
