import type { Hold } from './holds.ts';
import { fields, number, text } from './parse.ts';

/** More scripts of a document than this are not told apart: none of them is shown any more. */
const mostHidden = 10_000;

const asking: ReadonlySet<string> = new Set([
  'Debugger.getScriptSource',
  'Debugger.searchInContent',
]);

/** Whether a command asks for the source of a script, which may come to be known only while it is answered. */
export function asksForSource(method: string): boolean {
  return asking.has(method);
}

/**
 * Which scripts' sources clients may read: those that stand in a document, or that script made. What a page loads as a
 * script from an address can be anything that another site answers, which the page may not read; an address of its own
 * is no proof, since it can send on elsewhere.
 */
export class Sources {
  /** The scripts that are hidden, by hold and target session. */
  readonly #hidden = new WeakMap<Hold, Map<string, Set<string>>>();

  /** Takes note of an event of a held tab. */
  event(hold: Hold, child: string, method: string, params: unknown): void {
    const told = fields(params);
    if (method === 'Debugger.scriptFailedToParse' || method === 'Debugger.scriptParsed') {
      const isShown = method === 'Debugger.scriptParsed' && !isLoaded(told);
      if (!isShown) this.#of(hold, child).add(text(told, 'scriptId') ?? '');
    } else if (method === 'Runtime.executionContextsCleared') {
      this.#hidden.get(hold)?.delete(child);
    }
  }

  /** Whether a command asks for a source that is not shown. */
  isHidden(hold: Hold, child: string, method: string, params: object): boolean {
    if (!asking.has(method)) return false;
    const hidden = this.#of(hold, child);
    return hidden.size > mostHidden || hidden.has(text(fields(params), 'scriptId') ?? '');
  }

  #of(hold: Hold, child: string): Set<string> {
    const all = this.#hidden.get(hold) ?? new Map<string, Set<string>>();
    this.#hidden.set(hold, all);
    const hidden = all.get(child) ?? new Set<string>();
    all.set(child, hidden);
    return hidden;
  }
}

/** Whether a script was loaded from an address. What stands in a document begins after its tag. */
function isLoaded(told: ReturnType<typeof fields>): boolean {
  const from = text(told, 'embedderName') ?? text(told, 'url') ?? '';
  const isAtStart = number(told, 'startLine') === 0 && number(told, 'startColumn') === 0;
  return isAtStart && /^https?:/.test(from);
}
