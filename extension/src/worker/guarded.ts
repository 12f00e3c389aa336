/** Scripts that run in documents to come: Chrome hands them to whatever comes, so each asks first where it is. */

/** Where scripts may run, as values that can stand in their text. */
export type Rules = Readonly<{
  /** Hosts and ports of Chaperone's own servers, as hostOf has them. */
  own: readonly string[];
  /** The site that the tab stays on; empty where it goes anywhere. */
  stays: string;
}>;

/** What a document knows of its place. No script that ran before can have made it up: none runs where it is a lie. */
type Place = Pick<Location, 'protocol' | 'host' | 'ancestorOrigins'>;

/**
 * The source as it is handed to Chrome: it runs, once, only in documents that the rules cover. The label's name is known
 * to nobody before: whatever source ends the block early leaves a `break` behind that leads nowhere, and then no line of
 * the whole script runs. (After an `if` it could go on by an `else`.) What it declares by `var` and `function` is global
 * as before; `let`, `const` and `class` are its own.
 */
export function guarded(source: string, rules: Rules, label: string = newLabel()): string {
  const isHere = `(${isCovered.toString()})(${JSON.stringify(rules)}, location, self.origin)`;
  return `${label}: while (${isHere}) {\n${source}\n;break ${label};}`;
}

function newLabel(): string {
  return `chaperone_${crypto.randomUUID().replaceAll('-', '')}`;
}

/**
 * Whether a document is one that the rules cover: a web page, or one that has its origin from a web page. Its text goes
 * into pages, so it needs nothing from outside.
 */
export function isCovered({ own, stays }: Rules, place: Place, origin: string): boolean {
  const isLocal = /^(localhost|.*\.localhost|\[::1\]|127(\.\d+){3})\.?$/;
  const covers = (one: string): boolean => {
    if (!/^https?:/.test(one)) return false;
    const url = new URL(one);
    const name = isLocal.test(url.hostname) ? 'localhost' : url.hostname;
    const port = url.port || (url.protocol === 'https:' ? '443' : '80');
    const host = url.host.replace(/^www\.(?=.*\.)/, '');
    const isOn = stays === '' || host === stays || host.endsWith(`.${stays}`);
    return isOn && !own.includes(`${name}:${port}`);
  };
  if (origin !== 'null') return covers(origin);
  const { protocol, host, ancestorOrigins } = place;
  if (/^https?:$/.test(protocol)) return covers(`${protocol}//${host}`);
  const above = Array.from(ancestorOrigins);
  if (above.length === 0) return protocol === 'about:';
  return /^(about|blob|data):$/.test(protocol) && above.every(covers);
}
