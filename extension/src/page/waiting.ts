import { cut, whereabouts } from './bounds.ts';
import type { HasTextArgs, HistoryArgs, Quiet, QuietArgs, State, StateArgs } from './contract.ts';
import { isElement, isText } from './dom.ts';
import { Refusal } from './failure.ts';
import { childrenOf, fold } from './flat.ts';
import { doc } from './nodes.ts';
import { isParsing } from './parsing.ts';
import { picture } from './picture.ts';
import { over } from './settling.ts';
import { readable } from './text.ts';

export function state(args?: StateArgs): State {
  const [entry] = performance.getEntriesByType('navigation');
  const status = entry instanceof PerformanceNavigationTiming ? entry.responseStatus : 0;
  const here: State = {
    doc,
    ...whereabouts(),
    focused: document.hasFocus(),
    ready: document.readyState,
    status,
    width: window.innerWidth,
    height: window.innerHeight,
    ...(isPage(document.contentType) ? {} : { type: cut(document.contentType, LONGEST_TYPE) }),
    ...(args?.picture === true && { picture: picture() }),
  };
  const reason = status >= 400 ? refusal() : undefined;
  return reason === undefined ? here : { ...here, refused: reason };
}

/** The longest name of a type of media that there is. */
const LONGEST_TYPE = 127;

function isPage(type: string): boolean {
  return ['text/html', 'application/xhtml+xml'].includes(type);
}

/** The egress proxy refuses plain http in words of its own. A site that says the same is only refused itself. */
function refusal(): string | undefined {
  if (document.contentType !== 'text/plain') return undefined;
  return /^chaperone-egress: ([a-z_]{1,40})\n$/.exec(document.body?.textContent ?? '')?.[1];
}

/** Goes through the history just after it has answered: an answer does not outlive its document. */
export function history(args: HistoryArgs): { length: number } {
  const { length } = window.history;
  if (length < 2) {
    throw new Refusal('not_found', 'This tab has no other page in its history.');
  }
  setTimeout(() => window.history.go(args.delta), 0);
  return { length };
}

export function hasText(args: HasTextArgs): boolean {
  if ('url' in args) return glob(args.url).test(location.href);
  const wanted = fold(args.text).toLowerCase();
  // Most waits look for what is not there yet: the cheap question first.
  if (!fold(rawText(document)).toLowerCase().includes(wanted)) return false;
  return fold(readable(null)).toLowerCase().includes(wanted);
}

function rawText(root: Document): string {
  const parts: string[] = [];
  const collect = (el: Element): void => {
    for (const child of childrenOf(el)) {
      if (isText(child)) parts.push(child.data);
      else if (isElement(child)) {
        parts.push(' ');
        collect(child);
      }
    }
  };
  if (root.documentElement) collect(root.documentElement);
  return parts.join('');
}

/** `*` stands for anything but a slash, `**` for anything, `?` for itself. */
function glob(pattern: string): RegExp {
  const parts = pattern.split(/(\*\*|\*)/).map((part) => {
    if (part === '**') return '.*';
    return part === '*' ? '[^/]*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`);
}

export function quiet(args: QuietArgs): Promise<Quiet> {
  return args.begun === true ? over(args) : still(args);
}

/** A document is quiet when nothing in it has changed for a while and it has finished parsing. */
function still(args: QuietArgs): Promise<Quiet> {
  return new Promise((done) => {
    let calm = setTimeout(end, args.quiet_ms, true);
    const limit = setTimeout(end, args.max_ms, false);
    const observer = new MutationObserver(again);
    observer.observe(document, {
      subtree: true,
      childList: true,
      attributes: true,
      characterData: true,
    });
    document.addEventListener('readystatechange', again);

    function again(): void {
      clearTimeout(calm);
      calm = setTimeout(end, args.quiet_ms, true);
    }

    function end(isQuiet: boolean): void {
      if (isQuiet && isParsing()) {
        again();
        return;
      }
      clearTimeout(calm);
      clearTimeout(limit);
      observer.disconnect();
      document.removeEventListener('readystatechange', again);
      done({ quiet: isQuiet });
    }
  });
}
