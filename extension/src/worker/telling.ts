import { strip } from '../policy/strip.ts';
import { eventTold } from '../policy/table.ts';
import { withoutHistory } from './away.ts';
import type { Book } from './book.ts';
import { isLonger, maxSentBytes } from './bounds.ts';
import { withoutFrames } from './frames.ts';
import { isOwn } from './grants.ts';
import type { Hold } from './holds.ts';
import { type Fields, fields, member, text } from './parse.ts';
import type { Pulse } from './pulse.ts';
import type { Seats } from './seats.ts';
import type { Standing } from './standing.ts';
import { Refusal } from './wire.ts';

type Rooms = {
  book: Book;
  seats: Seats;
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

  /** Passes an event on, where clients at the grant's level may see it. */
  tell(hold: Hold, child: string, method: string, params: unknown): void {
    const standing = this.#rooms.book.ofName(hold.key, hold.name);
    if (standing === undefined || standing.suspended !== undefined) return;
    if (this.#rooms.pulse.isHeldUpBy(hold)) {
      this.#rooms.flooded(hold);
      return;
    }
    if (!eventTold(standing.level, method)) return;
    if (this.isOwnChild(hold, child) || this.isOwnChild(hold, sessionOf(method, params))) return;
    const { line } = hold;
    const verdict = hold.meter.judge(method, this.#rooms.nowMS(), line.backlog);
    if (verdict === 'flood') this.#rooms.flooded(hold);
    if (verdict !== 'told') return;
    const seen = this.#seen(hold, child, standing, { method, params: fields(params) ?? {} });
    if (seen === undefined) return;
    const body = JSON.stringify(strip(method, seen));
    if (isLonger(body, maxSentBytes - 1024)) return;
    const header = { t: 'event', tab: hold.name, method } as const;
    line.send(child === '' ? header : { ...header, child }, body);
  }

  /** What clients may see of an event: no place where the tab may not be, nothing of the page script. */
  #seen(
    { away, target }: Hold,
    child: string,
    { grant }: Standing,
    { method, params }: { method: string; params: Fields },
  ): Fields | undefined {
    if (isPageScripts(method, params)) return undefined;
    if (child !== '') return params;
    const isAway = (url: string) => this.#rooms.book.isAway(grant, url);
    return away.told(method, params, { main: target, isAway });
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
    const frameTree = withoutFrames(member(reply, 'frameTree'), (url) => this.isOwn(url));
    if (frameTree === undefined) {
      throw new Refusal('tab_suspended', 'This is Chaperone’s own page.');
    }
    return { frameTree };
  }

  /** Whether a child is a frame of Chaperone's own server. */
  isOwnChild(hold: Hold, session: string): boolean {
    const child = session === '' ? undefined : this.#rooms.seats.children(hold.tab)?.get(session);
    return child !== undefined && this.isOwn(child.url);
  }

  isOwn(url: string): boolean {
    return isOwn(url, this.#rooms.book.ownHosts);
  }
}

/** The page script's own contexts are not for clients. */
function isPageScripts(method: string, params: unknown): boolean {
  if (method !== 'Runtime.executionContextCreated') return false;
  return text(fields(member(fields(params), 'context')), 'name') === 'chaperone';
}

/** The target session that a Target event is about. */
function sessionOf(method: string, params: unknown): string {
  return method.startsWith('Target.') ? (text(fields(params), 'sessionId') ?? '') : '';
}
