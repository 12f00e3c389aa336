import { type Fields, fields, member, text } from './parse.ts';
import { originOf } from './site.ts';

/** More navigations than this are not under way in one page. */
const most = 64;

/** By which Chrome tells, before it is there, where a page is going. */
const going: ReadonlySet<string> = new Set([
  'Page.frameRequestedNavigation',
  'Page.frameScheduledNavigation',
  'Page.frameStartedNavigating',
]);

/** What repeats addresses of requests in places of their own. */
const retelling = /^(Audits|Log|Network|Page)\./;

/** Events that name an address beside the page's own: of it, the origin is told. */
const naming: ReadonlySet<string> = new Set(['Page.downloadWillBegin', 'Page.windowOpen']);

export type Place = {
  /** The id of the page's main frame. */
  main: string;
  /** Whether an address is one that the page's clients may not know. */
  isAway(url: string): boolean;
};

/**
 * Where a page is going before it is there. A page on its way to where nobody may see it tells so in many events; none of
 * them gets beyond the origin.
 */
export class Away {
  /** Requests for a document elsewhere; a navigation's is called as its loader. */
  readonly #requests = new Set<string>();
  /** Their addresses, as JSON has them. */
  readonly #addresses = new Set<string>();

  /** What may be told of an event of the page itself; `undefined` where nothing may. */
  told(method: string, params: Fields, place: Place): Fields | undefined {
    if (going.has(method)) return this.#isLeaving(params, place) ? undefined : params;
    if (naming.has(method)) return withOrigin(params, place);
    if (method === 'Network.requestWillBeSent') return this.#requested(params, place);
    if (method === 'Page.frameNavigated') this.#arrived(params);
    if (this.#isOfRequest(method, params) || this.#isRetold(method, params)) return undefined;
    return method === 'Network.responseReceivedExtraInfo' ? withoutLocation(params, place) : params;
  }

  /** The page's attachment is a new one, and tells of nothing that was before. */
  clear(): void {
    this.#requests.clear();
    this.#addresses.clear();
  }

  /** Whether an event is of a request for a document elsewhere. */
  #isOfRequest(method: string, params: Fields): boolean {
    const request = method.startsWith('Network.') ? text(params, 'requestId') : undefined;
    if (request === undefined || !this.#requests.has(request)) return false;
    if (/\.loading(Failed|Finished)$/.test(method)) this.#requests.delete(request);
    return true;
  }

  /** A document of the page's own came: the page did not leave. */
  #arrived(params: Fields): void {
    const frame = fields(member(params, 'frame'));
    if (text(frame, 'parentId') === undefined) this.#addresses.clear();
  }

  #isLeaving(params: Fields, { main, isAway }: Place): boolean {
    const url = text(params, 'url') ?? '';
    if ((text(params, 'frameId') ?? main) !== main) return false;
    if (!isAway(url)) {
      this.#addresses.clear(); // it goes somewhere else instead
      return false;
    }
    this.#note(this.#addresses, address(url));
    const loader = text(params, 'loaderId') ?? '';
    if (loader !== '') this.#note(this.#requests, loader);
    return true;
  }

  #requested(params: Fields, { main, isAway }: Place): Fields | undefined {
    const isMain = (text(params, 'frameId') ?? main) === main;
    const isDocument = isMain && text(params, 'type') === 'Document';
    const request = text(params, 'requestId') ?? '';
    const url = text(fields(member(params, 'request')), 'url') ?? '';
    if (!isDocument) {
      const isThere = isMain && isAway(text(params, 'documentURL') ?? '');
      return isThere || this.#isRetold('Network.', params) ? undefined : params;
    }
    if (isAway(url)) {
      this.#note(this.#requests, request);
      this.#note(this.#addresses, address(url));
      return undefined;
    }
    this.#requests.delete(request); // it came back by a redirect
    return withRedirect(params, isAway);
  }

  #isRetold(method: string, params: Fields): boolean {
    if (this.#addresses.size === 0 || !retelling.test(method)) return false;
    const whole = JSON.stringify(params);
    return [...this.#addresses].some((address) => whole.includes(address));
  }

  #note(known: Set<string>, one: string): void {
    known.add(one);
    const [oldest] = known;
    if (known.size > most && oldest !== undefined) known.delete(oldest);
  }
}

/** An address as it stands in JSON, whatever is added to it. */
function address(url: string): string {
  return JSON.stringify(url.split('#', 1)[0]).slice(1, -1);
}

function withOrigin(params: Fields, { isAway }: Place): Fields {
  const url = text(params, 'url') ?? '';
  return isAway(url) ? { ...params, url: originOf(url) } : params;
}

function withRedirect(params: Fields, isAway: Place['isAway']): Fields {
  const from = fields(member(params, 'redirectResponse'));
  const url = text(from, 'url') ?? '';
  if (from === undefined || !isAway(url)) return params;
  return { ...params, redirectResponse: { ...from, url: originOf(url), headers: {} } };
}

/** A response's headers without the address of a redirect that leads away. */
function withoutLocation(params: Fields, { isAway }: Place): Fields {
  const headers = fields(member(params, 'headers')) ?? {};
  const kept = Object.entries(headers).map(([name, value]) => {
    const isLocation = name.toLowerCase() === 'location' && typeof value === 'string';
    const leads = isLocation && URL.canParse(value) && isAway(value);
    return [name, leads ? originOf(value) : value];
  });
  return { ...params, headers: Object.fromEntries(kept) };
}

/** The history's entries, those of elsewhere with no more than the origin. */
export function withoutHistory(history: unknown, isAway: (url: string) => boolean): unknown {
  const told = fields(history);
  const entries = member(told, 'entries');
  if (told === undefined || !Array.isArray(entries)) return {};
  const kept = entries.flatMap((entry: unknown) => {
    const known = fields(entry);
    const url = text(known, 'url') ?? '';
    if (known === undefined) return [];
    return isAway(url) ? { ...known, url: originOf(url), userTypedURL: '', title: '' } : known;
  });
  return { ...told, entries: kept };
}
