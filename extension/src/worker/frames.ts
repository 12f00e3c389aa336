import { fields, member, text } from './parse.ts';

/**
 * CDP's frame tree without the frames at addresses that may not be worked in, and without what is inside them. A tree
 * whose own document is at such an address is `undefined`.
 */
export function withoutFrames(tree: unknown, isBarred: (url: string) => boolean): unknown {
  const known = fields(tree);
  if (isBarred(text(fields(member(known, 'frame')), 'url') ?? '')) return undefined;
  const inner = member(known, 'childFrames');
  if (!Array.isArray(inner)) return tree;
  const childFrames = inner.flatMap((child) => withoutFrames(child, isBarred) ?? []);
  return { ...known, childFrames };
}
