/**
 * Closed shadow trees: a page's script cannot look into one, nor can the page script, but the browser hands its root
 * out. The page script says with an answer that it has met elements that may have one; only then is the browser asked,
 * once for each element, and the function runs again.
 */

import { at, textAt } from '../policy/json.ts';
import type { Span } from './clock.ts';
import type { World, Worlds } from './world.ts';

/** Bounds how many elements are asked about at once, and how often in one look. */
const MAX_HOSTS = 64;
const MAX_BATCHES = 8;

/** The only source the edge evaluates beside the page script. */
export const CALL_HANDLE = 'function(n,a){return this(n,a)}';

/**
 * Hands the page script the closed roots of the elements that it suspects, and answers how many. What fails is left
 * closed.
 */
export async function adoptRoots(worlds: Worlds, span: Span, world: World): Promise<number> {
  let adopted = 0;
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    const hosts = (await orNothing(suspects(worlds, span, world))) ?? [];
    const roots = hosts.map((host) => orNothing(closedRoot(worlds, span, world, host)));
    for (const objectId of await Promise.all(roots)) {
      if (objectId !== undefined && (await adopt(worlds, span, world, objectId))) adopted += 1;
    }
    if (hosts.length < MAX_HOSTS) break;
  }
  return adopted;
}

async function adopt(worlds: Worlds, span: Span, world: World, objectId: string): Promise<boolean> {
  const taken = worlds.invoke(span, world, '@adopt', { objectId }).then(() => true);
  return (await orNothing(taken)) ?? false;
}

async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch {
    return undefined;
  }
}

/** Handles of the elements that may have a closed root. */
async function suspects(worlds: Worlds, span: Span, world: World): Promise<string[]> {
  const list = await worlds.ask(span, world.child, 'Runtime.callFunctionOn', {
    objectId: world.handle,
    functionDeclaration: CALL_HANDLE,
    arguments: [{ value: '@hosts' }],
  });
  const objectId = textAt(list, 'result', 'objectId');
  if (objectId === '') return [];
  const members = at(
    await worlds.ask(span, world.child, 'Runtime.getProperties', { objectId, ownProperties: true }),
    'result',
  );
  if (!Array.isArray(members)) return [];
  return members
    .filter((member) => /^\d+$/.test(textAt(member, 'name')))
    .slice(0, MAX_HOSTS)
    .map((member) => textAt(member, 'value', 'objectId'));
}

async function closedRoot(
  worlds: Worlds,
  span: Span,
  world: World,
  objectId: string,
): Promise<string | undefined> {
  const node = await worlds.ask(span, world.child, 'DOM.describeNode', { objectId });
  const roots = at(node, 'node', 'shadowRoots');
  const closed = Array.isArray(roots)
    ? roots.find((root) => textAt(root, 'shadowRootType') === 'closed')
    : undefined;
  if (closed === undefined) return undefined;
  const resolved = await worlds.ask(span, world.child, 'DOM.resolveNode', {
    backendNodeId: at(closed, 'backendNodeId'),
    executionContextId: world.context,
  });
  return textAt(resolved, 'object', 'objectId') || undefined;
}
