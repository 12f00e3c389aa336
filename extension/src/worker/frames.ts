import { type Fields, fields, member, text } from './parse.ts';

/** Addresses that say where a document is from; of all others its origin does. */
const telling = /^(https?|file|filesystem|chrome-extension):/;

/** Whether a frame of CDP's, or a document whose origin it has, is at an address that may not be worked in. */
export function isBarredFrame(frame: Fields | undefined, isBarred: (url: string) => boolean) {
  const url = text(frame, 'url') ?? '';
  const origin = text(frame, 'securityOrigin') ?? '';
  return (telling.test(url) && isBarred(url)) || (telling.test(origin) && isBarred(origin));
}

/**
 * CDP's frame tree without the frames at addresses that may not be worked in, and without what is inside them. A tree
 * whose own document is at such an address is `undefined`.
 */
export function withoutFrames(tree: unknown, isBarred: (url: string) => boolean): unknown {
  const known = fields(tree);
  if (isBarredFrame(fields(member(known, 'frame')), isBarred)) return undefined;
  const inner = member(known, 'childFrames');
  if (!Array.isArray(inner)) return tree;
  const childFrames = inner.flatMap((child) => withoutFrames(child, isBarred) ?? []);
  return { ...known, childFrames };
}

/** Whether a frame is in a tree of CDP's. */
export function hasFrame(tree: unknown, id: string): boolean {
  const known = fields(tree);
  if (text(fields(member(known, 'frame')), 'id') === id) return true;
  const inner = member(known, 'childFrames');
  return Array.isArray(inner) && inner.some((child) => hasFrame(child, id));
}
