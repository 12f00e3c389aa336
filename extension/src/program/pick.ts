import { at, textAt } from '../policy/json.ts';
import { Fault } from './failure.ts';
import type { Args, FrameResult, Pick } from './types.ts';

/** Where the one element is, for the steps that act on it; the main frame's name is empty. */
export type Picked = { frame: string; target: Args; expect: Args };

/**
 * Chooses from what was found in all frames. Where nothing fits, or more than one and none is asked for by number, what
 * was found is the failure's detail.
 */
export function pick(frames: readonly FrameResult[], { nth }: Pick): Picked {
  const picked = frames.flatMap((frame, i) => foundIn(frame, i === 0 ? '' : frame.frame));
  const one = picked[nth ?? 0];
  const code = one === undefined ? 'not_found' : 'ambiguous';
  if (one !== undefined && (nth !== null || picked.length === 1)) return one;
  throw new Fault(code, `${picked.length} elements fit`, frames);
}

function foundIn({ value }: FrameResult, frame: string): Picked[] {
  const matches = at(value, 'matches');
  if (!Array.isArray(matches)) return [];
  const doc = textAt(value, 'doc');
  return matches.map((match: unknown) => ({
    frame,
    target: { doc, node: at(match, 'node') },
    expect: { role: textAt(match, 'role'), name: textAt(match, 'name') },
  }));
}
