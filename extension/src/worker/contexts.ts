import { type Fields, fields, member, number, text } from './parse.ts';
import { makerOf } from './site.ts';

/** As many lines of the console are kept for a client that comes to hear it. */
const mostLines = 100;
/** A longer one is not. */
const longestLine = 64 << 10;

/** What a grant says of documents. */
export type Reach = {
  /** Whether a web address is one that the tab's clients may be in. */
  covers(url: string): boolean;
  /** The frame that a target session is about; empty for a worker's. */
  frameOf(session: string): string;
};

/** An event that clients may be told. */
export type News = { method: string; params: Fields };

/** A JavaScript context of a tab. */
export type Context = {
  id: number;
  /** Chrome never uses it twice, unlike the number, which counts anew in each process. */
  unique: string;
  origin: string;
  /** The frame that it belongs to; empty for a worker's. */
  frame: string;
  isDefault: boolean;
  /** The page script's own. */
  isOurs: boolean;
  told: Fields;
  isTold: boolean;
};

type Frame = {
  session: string;
  url: string | undefined;
  parent: string;
  /** The address of whoever its document is of; empty where it is of whatever it is in. */
  site: string;
};

/**
 * The JavaScript contexts of a held tab, as Chrome tells of them, and which of them clients may know: not the page
 * script's, and none of a document that the grant does not cover.
 */
export class Contexts {
  readonly #known = new Map<string, Map<number, Context>>();
  readonly #frames = new Map<string, Frame>();
  /** Target sessions whose contexts clients have asked for. */
  readonly #asked = new Set<string>();
  readonly #lines = new Map<string, News[]>();

  /** Takes note of an event. The answer is what clients may be told: the event, nothing, or what comes by it too. */
  hear(session: string, { method, params }: News, reach: Reach): News[] {
    if (method.startsWith('Page.')) this.#followFrame(session, method, params);
    if (method === 'Target.detachedFromTarget') this.#drop(text(params, 'sessionId') ?? '');
    if (!method.startsWith('Runtime.')) {
      const isNamed = method === 'Page.frameNavigated';
      return [{ method, params }, ...(isNamed ? this.#untold(session, reach) : [])];
    }
    return this.#hearRuntime(session, { method, params }, reach);
  }

  /** Takes note of the frames that are there; the answer is contexts that clients may be told only now. */
  seed(session: string, frameTree: unknown, reach: Reach): News[] {
    const tree = fields(frameTree);
    this.#place(session, fields(member(tree, 'frame')));
    const below = member(tree, 'childFrames');
    for (const child of Array.isArray(below) ? below : []) this.seed(session, child, reach);
    return this.#untold(session, reach);
  }

  /** A client asks for a target session's contexts. The answer is what Chrome would tell it. */
  ask(session: string, reach: Reach): News[] {
    if (this.#asked.has(session)) return [];
    this.#asked.add(session);
    const lines = this.#lines.get(session) ?? [];
    this.#lines.delete(session);
    return [...this.#untold(session, reach), ...lines];
  }

  /** No client hears of a target session's contexts any more. */
  unask(session: string): void {
    this.#asked.delete(session);
    for (const context of this.#of(session)) context.isTold = false;
  }

  /** The context that clients name by its number or its unique id, where it is one of theirs. */
  find(session: string, name: number | string, reach: Reach): Context | undefined {
    const named = this.#of(session).find(({ id, unique }) => id === name || unique === name);
    return named !== undefined && this.#isTheirs(named, reach) ? named : undefined;
  }

  /** The context of a session's own document or worker, where clients may be in it. */
  main(session: string, reach: Reach): Context | undefined {
    const frame = reach.frameOf(session);
    const own = this.#of(session).find((one) => one.isDefault && one.frame === frame);
    return own !== undefined && this.#isTheirs(own, reach) ? own : undefined;
  }

  /** Whether a frame's document is one that clients may not be in, or nobody knows of the frame. */
  isAway(frame: string, reach: Reach): boolean {
    const known = this.#frames.get(frame);
    if (known === undefined) return true;
    const { site, parent } = known;
    return site === '' ? parent !== '' && this.isAway(parent, reach) : !reach.covers(site);
  }

  /** All is new: the tab is attached anew, or its process has ended. */
  clear(): void {
    this.#known.clear();
    this.#frames.clear();
    this.#asked.clear();
    this.#lines.clear();
  }

  // ---- contexts

  #hearRuntime(session: string, news: News, reach: Reach): News[] {
    const { method, params } = news;
    if (method === 'Runtime.executionContextCreated') {
      this.#add(session, params);
      return this.#untold(session, reach);
    }
    if (method === 'Runtime.executionContextsCleared') {
      this.#clear(session);
      return this.#asked.has(session) ? [news] : [];
    }
    const id = contextOf(params);
    const context = id === undefined ? undefined : this.#known.get(session)?.get(id);
    if (method === 'Runtime.executionContextDestroyed') {
      this.#known.get(session)?.delete(id ?? 0);
      return context?.isTold ? [news] : [];
    }
    const isTheirs = context !== undefined && this.#isTheirs(context, reach);
    return id === undefined || isTheirs ? this.#hearLine(session, news) : [];
  }

  /** A line of the console that clients may hear is told, or kept until one listens. */
  #hearLine(session: string, news: News): News[] {
    if (this.#asked.has(session)) return [news];
    this.#keepLine(session, news);
    return [];
  }

  #add(session: string, params: Fields): void {
    const told = fields(member(params, 'context'));
    const about = fields(member(told, 'auxData'));
    const id = number(told, 'id');
    if (id === undefined) return;
    const context = {
      id,
      unique: text(told, 'uniqueId') ?? '',
      origin: text(told, 'origin') ?? '',
      frame: text(about, 'frameId') ?? '',
      isDefault: about === undefined || member(about, 'isDefault') === true, // a worker's says nothing
      isOurs: /^chaperone( |$)/.test(text(told, 'name') ?? ''),
      told: params,
      isTold: false,
    };
    const known = this.#known.get(session) ?? new Map<number, Context>();
    this.#known.set(session, known.set(id, context));
  }

  /** The contexts that clients asked for and were not told of, since they were not known to be theirs. */
  #untold(session: string, reach: Reach): News[] {
    if (!this.#asked.has(session)) return [];
    const late = this.#of(session).filter((one) => !one.isTold && this.#isTheirs(one, reach));
    for (const context of late) context.isTold = true;
    return late.map(({ told }) => ({ method: 'Runtime.executionContextCreated', params: told }));
  }

  #isTheirs({ isOurs, origin, frame }: Context, reach: Reach): boolean {
    if (isOurs) return false;
    if (frame === '') return true; // a worker's: what is in a child is judged with it
    if (/^https?:/.test(origin)) return reach.covers(`${origin}/`);
    return /^(:\/\/|null|)$/.test(origin) && this.#isCovered(frame, reach);
  }

  #of(session: string): Context[] {
    return [...(this.#known.get(session)?.values() ?? [])];
  }

  #keepLine(session: string, news: News): void {
    if (!/^Runtime\.(consoleAPICalled|exceptionThrown)$/.test(news.method)) return;
    if (JSON.stringify(news.params).length > longestLine) return;
    const lines = this.#lines.get(session) ?? [];
    this.#lines.set(session, [...lines, news].slice(-mostLines));
  }

  #clear(session: string): void {
    this.#known.delete(session);
    this.#lines.delete(session);
    for (const [id, frame] of this.#frames) {
      if (frame.session === session) this.#frames.set(id, { ...frame, url: undefined });
    }
  }

  #drop(session: string): void {
    this.#clear(session);
    this.#asked.delete(session);
    for (const [id, frame] of this.#frames) if (frame.session === session) this.#frames.delete(id);
  }

  // ---- frames, for documents whose origin says nothing

  #followFrame(session: string, method: string, params: Fields): void {
    const id = text(params, 'frameId') ?? '';
    if (method === 'Page.frameNavigated') this.#place(session, fields(member(params, 'frame')));
    if (method === 'Page.frameAttached') {
      const parent = text(params, 'parentFrameId') ?? '';
      this.#frames.set(id, { session, url: undefined, parent, site: '' });
    }
    if (method === 'Page.frameDetached' && text(params, 'reason') !== 'swap')
      this.#frames.delete(id);
  }

  #place(session: string, frame: Fields | undefined): void {
    const id = text(frame, 'id');
    if (id === undefined) return;
    const url = text(frame, 'unreachableUrl') || text(frame, 'url'); // an error page stands for its address
    const parent = text(frame, 'parentId') ?? '';
    const site = siteFor(url ?? '', frame, this.#frames.get(id)?.site ?? '');
    this.#frames.set(id, { session, url: url || undefined, parent, site });
  }

  /** Whether a frame's document is, by its address or by whose it is, one that clients may be in. */
  #isCovered(id: string, reach: Reach): boolean {
    const { url = '', parent = '', site = '' } = this.#frames.get(id) ?? {};
    if (url !== '' && site !== '') return isOfTheWeb(site) && reach.covers(site);
    if (parent === '') return url === 'about:blank';
    return /^(about|blob|data):/.test(url) && this.#isCovered(parent, reach);
  }
}

/** Whether an address is one that clients may be in where the grant says so; of what the browser itself shows it says nothing. */
function isOfTheWeb(site: string): boolean {
  return /^(https?|data|blob):/.test(site);
}

/**
 * Whose a frame's document is. One without an address of the web is of whoever sent the frame there, which Chrome tells
 * by its origin; where it tells none, it stays that of the one before.
 */
function siteFor(url: string, frame: Fields | undefined, before: string): string {
  const maker = makerOf(url);
  if (/^https?:/.test(maker)) return maker;
  if (!/^about:|^$/.test(url)) return url; // data:, an error and the like are nobody's that could be told
  const origin = text(frame, 'securityOrigin') ?? '';
  if (/^https?:/.test(origin)) return `${origin}/`;
  return url === 'about:srcdoc' ? '' : before;
}

/** The context that an event comes from. */
function contextOf(params: Fields): number | undefined {
  const thrown = fields(member(params, 'exceptionDetails'));
  return number(params, 'executionContextId') ?? number(thrown, 'executionContextId');
}
