import type { Book } from './book.ts';
import type { Casts } from './casts.ts';
import { endSession, maxGrants } from './grants.ts';
import type { House } from './house.ts';
import type { Line } from './line.ts';
import type { Raw } from './raw.ts';
import type { Order, Runs } from './runs.ts';
import type { Seats } from './seats.ts';
import type { Wall } from './wall.ts';
import { type CastOptions, Refusal, type ServerMessage } from './wire.ts';

/** A request for CDP clients. */
type Asked = Extract<ServerMessage, { t: 'hold' | 'cdp' | 'new' | 'shut' }>;

/** A connection has as many casts as tabs can be shared. */
const mostCasts = maxGrants;

/** Where requests are served. */
type Rooms = {
  book: Book;
  seats: Seats;
  wall: Wall;
  casts: Casts;
  house: House;
  runs: Runs;
  raw: Raw;
  /** Reads the tabs' CDP target ids anew. */
  retarget(): Promise<void>;
};

/** What paired servers ask: each request goes to the room that serves it, or is refused. */
export class Reception {
  readonly #rooms: Rooms;

  constructor(rooms: Rooms) {
    this.#rooms = rooms;
  }

  received(key: string, message: ServerMessage, line: Line): void {
    switch (message.t) {
      case 'program':
        this.#rooms.runs.start({ ...message, key, line });
        return;
      case 'cast':
        this.#cast({ ...message, key, line, body: '' }, message.options, line);
        return;
      case 'cancel':
        this.#rooms.runs.cancel(line, message.id);
        this.#rooms.casts.stop(key, message.id);
        return;
      case 'end':
        this.#rooms.raw.dropSession(key, message.session);
        this.#end(key, message.session);
        if (message.id !== undefined) line.send({ t: 'done', id: message.id });
        return;
      case 'hold':
      case 'cdp':
      case 'new':
      case 'shut':
        this.#serve(key, message, line).catch((cause: unknown) => {
          this.#rooms.runs.refuse(line, message.id, cause);
        });
        return;
      case 'drop':
        this.#rooms.raw.drop(key, message.session, message.tab);
        return;
      case 'level':
        this.#rooms.book.changePairing(key, { ceiling: message.level });
        return;
      case 'bad':
        this.#rooms.runs.refuse(
          line,
          message.id,
          new Refusal('bad_request', 'The request cannot be read.'),
        );
        return;
      case 'challenge':
      case 'paired':
      case 'refused':
      case 'pong':
        return;
      default:
        message satisfies never;
    }
  }

  /** Serves CDP clients; it rejects where it may not. */
  async #serve(key: string, message: Asked, line: Line): Promise<void> {
    const { id, session } = message;
    switch (message.t) {
      case 'cdp':
        this.#rooms.raw.command({ ...message, key, line });
        return;
      case 'hold':
        await this.#rooms.raw.hold({ ...message, key, line });
        return;
      case 'new': {
        const { grant } = await this.#rooms.house.makeBlank({ key, session });
        await this.#rooms.retarget();
        line.send({ t: 'made', id, tab: grant.name });
        return;
      }
      case 'shut':
        await this.#rooms.house.shut({ key, session }, message.tab);
        line.send({ t: 'done', id });
        return;
      default:
        message satisfies never;
    }
  }

  #cast(order: Order, options: CastOptions, line: Line): void {
    try {
      if (this.#rooms.casts.count(order.key) >= mostCasts) {
        throw new Refusal('bad_request', 'Too many casts are under way.');
      }
      const { grant } = this.#rooms.house.usable(order.key, order.session, options.tab);
      this.#rooms.casts.start(order.key, order.id, grant.tab, options, line);
    } catch (cause) {
      this.#rooms.runs.refuse(line, order.id, cause);
    }
  }

  #end(key: string, session: string): void {
    this.#rooms.runs.stopSession(key, session);
    const mine = this.#rooms.book.grants.filter(
      (one) => one.pairing === key && one.session === session,
    );
    for (const { tab } of mine) {
      this.#rooms.casts.stopTab(tab);
      this.#rooms.seats.release(tab);
    }
    const { grants, closed } = endSession(this.#rooms.book.grants, key, session);
    for (const { tab } of closed) this.#rooms.wall.keep(tab);
    this.#rooms.book.writeGrants(grants);
    for (const grant of closed) void this.#rooms.house.close(grant);
  }
}
