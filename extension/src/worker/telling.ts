import { strip } from '../policy/strip.ts';
import { eventTold } from '../policy/table.ts';
import { withoutHistory } from './away.ts';
import type { Book } from './book.ts';
import { isLonger, maxSentBytes } from './bounds.ts';
import type { Child } from './children.ts';
import type { News, Reach } from './contexts.ts';
import { withoutFrames } from './frames.ts';
import type { Hold } from './holds.ts';
import { isDroppable } from './meter.ts';
import { type Fields, fields, member, text } from './parse.ts';
import type { Passage } from './passage.ts';
import type { Pulse } from './pulse.ts';
import type { Seats } from './seats.ts';
import { makerOf } from './site.ts';
import type { Standing } from './standing.ts';
import { weightOf } from './weight.ts';
import { Refusal } from './wire.ts';

type Rooms = {
  book: Book;
  seats: Seats;
  passage: Passage;
  pulse: Pulse;
  nowMS(): number;
  /** The tab tells more than can be passed on. */
  flooded(hold: Hold): void;
};

/** What clients are told: events and replies, without cookies and credentials, and nothing of Chaperone's own server. */
export class Telling {
  readonly #rooms: Rooms;

  constructor(rooms: Rooms) {
    this.#rooms = rooms;
  }

  /** Passes an event on, where clients at the grant's level may see it, and what they may know now by it. */
  tell(hold: Hold, child: string, method: string, params: unknown): void {
    const event = { method, params: fields(params) ?? {} };
    const news = hold.contexts.hear(child, event, this.reach(hold));
    const standing = this.#rooms.book.ofName(hold.key, hold.name);
    if (standing === undefined || standing.suspended !== undefined) return;
    // What a page loads can be long; what it says at will counts by its length.
    const weight = isDroppable(method) ? weightOf(params) : 1;
    if (this.#rooms.pulse.isHeldUpBy(hold, weight)) {
      this.#rooms.flooded(hold);
      return;
    }
    if (!eventTold(standing.level, method)) return;
    if (child !== '' && !hold.introduced.has(child)) return;
    if (this.isBarred(hold, child) || this.isBarred(hold, sessionOf(method, params))) return;
    const verdict = hold.meter.judge(method, weight, this.#rooms.nowMS(), hold.line.backlog);
    if (verdict === 'flood') this.#rooms.flooded(hold);
    if (verdict === 'told') this.#tellAll(hold, child, standing, news);
  }

  /** Tells a client that asks for contexts of those that are there, as Chrome does. */
  tellContexts(hold: Hold, child: string): void {
    this.#tellNews(hold, child, hold.contexts.ask(child, this.reach(hold)));
  }

  /** Takes note of the frames that are there, and tells of what is theirs. */
  learn(hold: Hold, child: string, frameTree: unknown): void {
    this.#tellNews(hold, child, hold.contexts.seed(child, frameTree, this.reach(hold)));
  }

  #tellNews(hold: Hold, child: string, news: readonly News[]): void {
    const standing = this.#rooms.book.ofName(hold.key, hold.name);
    if (standing === undefined || standing.suspended !== undefined) return;
    if (!this.isBarred(hold, child)) this.#tellAll(hold, child, standing, news);
  }

  #tellAll(hold: Hold, child: string, standing: Standing, news: readonly News[]): void {
    for (const { method, params } of news) {
      const seen = this.#seen(hold, child, standing, { method, params });
      if (seen !== undefined) this.#send(hold, child, method, strip(method, seen));
    }
  }

  /** Which documents the tab's clients may be in. */
  reach(hold: Hold): Reach {
    return {
      covers: (url) => !this.#isAway(hold, url),
      frameOf: (session) => {
        if (session === '') return hold.frame;
        const child = this.#rooms.seats.children(hold.tab)?.get(session);
        return child?.type === 'iframe' ? frameOf(child) : '';
      },
    };
  }

  #send(hold: Hold, child: string, method: string, params: unknown): void {
    const body = JSON.stringify(params);
    if (isLonger(body, maxSentBytes - 1024)) return;
    const header = { t: 'event', tab: hold.name, method } as const;
    hold.line.send(child === '' ? header : { ...header, child }, body);
  }

  /** What clients may see of an event: no place where the tab may not be. */
  #seen(
    { away, frame }: Hold,
    child: string,
    { grant }: Standing,
    { method, params }: { method: string; params: Fields },
  ): Fields | undefined {
    if (method === 'Input.dragIntercepted' && grant.stays !== undefined) return withoutData(params);
    if (child !== '') return params;
    const isAway = (url: string) => this.#rooms.book.isAway(grant, url);
    return away.told(method, params, { main: frame, isAway });
  }

  /** A reply without frames of Chaperone's own server, places where the tab may not be, cookies and credentials. */
  cleaned({ key, name }: Hold, method: string, result: unknown): unknown {
    const reply = fields(result);
    const { book } = this.#rooms;
    const grant = book.ofName(key, name)?.grant;
    if (method === 'Page.getNavigationHistory') {
      const isAway = (url: string) => grant === undefined || book.isAway(grant, url);
      return strip(method, withoutHistory(reply, isAway));
    }
    if (method !== 'Page.getFrameTree' && method !== 'Page.getResourceTree') {
      return strip(method, reply ?? {});
    }
    const frameTree = withoutFrames(member(reply, 'frameTree'), (url) => book.isOwn(url));
    if (frameTree === undefined) {
      throw new Refusal('tab_suspended', 'This is Chaperone’s own page.');
    }
    return { frameTree };
  }

  /**
   * Whether a child is, or is about to be, in a document that the tab's clients may not be in, or below one; so is a frame
   * as long as nobody knows where it goes.
   */
  isBarred(hold: Hold, session: string): boolean {
    const children = this.#rooms.seats.children(hold.tab);
    for (let child = children?.get(session); child; child = children?.get(child.parent)) {
      // What stands at about: is of whatever it is in.
      const isSomewhere = child.url !== '' && !child.url.startsWith('about:');
      if (isSomewhere && this.#isAway(hold, makerOf(child.url))) return true;
      const bound = this.#rooms.passage.boundFor(hold, frameOf(child));
      if (bound !== '' && this.#isAway(hold, bound)) return true;
      if (child.type === 'iframe' && child.url === '' && bound === '') return true;
    }
    return false;
  }

  #isAway(hold: Hold, url: string): boolean {
    const grant = this.#rooms.book.ofName(hold.key, hold.name)?.grant;
    return grant === undefined || this.#rooms.book.isAway(grant, url);
  }
}

/** A drag without what is dragged: it can be from any frame of the page. */
function withoutData(params: Fields): Fields {
  return { ...params, data: { ...fields(member(params, 'data')), items: [], files: [] } };
}

/** The frame that a child is about. */
function frameOf(child: Child): string {
  return text(fields(member(child.params, 'targetInfo')), 'targetId') ?? '';
}

/** The target session that a Target event is about. */
function sessionOf(method: string, params: unknown): string {
  return method.startsWith('Target.') ? (text(fields(params), 'sessionId') ?? '') : '';
}
