import { at, textAt } from '../policy/json.ts';
import type { Span } from './clock.ts';
import { CallError, Fault } from './failure.ts';
import type { Place, Worlds } from './world.ts';

/**
 * Could `@locate` not see all of what would be hit? A closed shadow tree may stand there, and hide another document or a
 * button of its own. Only the browser can look into one.
 */
export function isVeiled(located: unknown): boolean {
  return at(located, 'veiled') === true;
}

/**
 * Asks the browser what is hit at a point of a target session's outermost viewport, and the page script of the document
 * that located whether a press on that is the press that was meant. It refuses with its reason, or with covered where
 * another document would be pressed.
 */
export async function unveil(
  worlds: Worlds,
  span: Span,
  place: Place,
  point: { x: number; y: number },
): Promise<void> {
  const hit = await nodeAt(worlds, span, place.child, point);
  if (hit === undefined) return;
  if (textAt(hit, 'frameId') !== place.frame) {
    throw new Fault('covered', 'Another document lies over the element.');
  }
  const world = await worlds.world(span, place);
  const resolved = await unlessRefused(
    worlds.ask(span, place.child, 'DOM.resolveNode', {
      backendNodeId: at(hit, 'backendNodeId'),
      executionContextId: world.context,
    }),
  );
  if (resolved === undefined) return; // what a style sheet draws is no node, and holds none
  await worlds.invoke(span, world, '@hit', { objectId: textAt(resolved, 'object', 'objectId') });
}

/** Looks through closed shadow trees and into frames of the same process. CDP counts from the document's corner. */
async function nodeAt(
  worlds: Worlds,
  span: Span,
  child: string,
  { x, y }: { x: number; y: number },
): Promise<unknown> {
  const layout = await worlds.ask(span, child, 'Page.getLayoutMetrics', {});
  const corner = (name: string) => Number(at(layout, 'cssVisualViewport', name) ?? 0);
  const place = { x: Math.floor(x + corner('pageX')), y: Math.floor(y + corner('pageY')) };
  return await unlessRefused(worlds.ask(span, child, 'DOM.getNodeForLocation', place));
}

/** Undefined where the browser refused the command: it does so where there is no node. */
async function unlessRefused(reply: Promise<unknown>): Promise<unknown> {
  try {
    return await reply;
  } catch (cause) {
    if (cause instanceof CallError) return undefined;
    throw cause;
  }
}
