import { fields, member, number, text } from './parse.ts';
import type { CastOptions, Header } from './wire.ts';

/** What casts need of attached tabs. */
export type CastSeats = {
  watch(tab: number): Promise<() => void>;
  /** Whether what a tab shows may be seen now. */
  isSeen(tab: number): boolean;
  send(tab: number, child: string | undefined, method: string, params?: object): Promise<unknown>;
};

/** Where a cast's pictures go. */
export type Screen = { send(header: Header, body: string): void; readonly backlog: number };

/** A connection with more than this underway gets no picture until it has caught up. */
const mostBacklogBytes = 1 << 20;

type Cast = {
  key: string;
  id: number;
  tab: number;
  options: CastOptions;
  screen: Screen;
  sentAt: number;
  newest?: Picture;
  due?: ReturnType<typeof setTimeout>;
};
/** A screencast that costs next to nothing. */
const small = { format: 'jpeg', quality: 1, maxWidth: 16, maxHeight: 16 };

type Picture = { data: string; width: number; height: number };
/** One tab's screencast; `leave` gives back its use of the tab. */
type Running = { leave?: () => void };

/**
 * Streams of pictures of tabs. One screencast runs in a tab however many watch it; each watcher gets at most as many
 * pictures a second as it asked for, always the newest.
 */
export class Casts {
  readonly #seats: CastSeats;
  readonly #casts = new Map<string, Cast>();
  readonly #running = new Map<number, Running>();
  /** How many pictures of a tab are being captured. */
  readonly #paintings = new Map<number, number>();
  /** Tabs whose pages go on painting whether anybody sees them or not. */
  readonly #kept = new Set<number>();

  constructor(seats: CastSeats) {
    this.#seats = seats;
  }

  /** Starts cast id of a connection (key); it runs, through sleeps of the page, until it is stopped. */
  start(key: string, id: number, tab: number, options: CastOptions, screen: Screen): void {
    this.#casts.set(`${key} ${id}`, { key, id, tab, options, screen, sentAt: 0 });
    void this.resume(tab);
  }

  /** How many casts of a connection there are. */
  count(key: string): number {
    return [...this.#casts.values()].filter((cast) => cast.key === key).length;
  }

  /** Chrome gave a tab another id: who watched it goes on watching. */
  move(from: number, to: number): void {
    this.paused(from);
    for (const cast of this.#casts.values()) if (cast.tab === from) cast.tab = to;
    void this.resume(to);
  }

  stop(key: string, id: number): void {
    this.#stopWhere((cast) => cast.key === key && cast.id === id);
  }

  stopAll(key: string): void {
    this.#stopWhere((cast) => cast.key === key);
  }

  stopTab(tab: number): void {
    this.#stopWhere((cast) => cast.tab === tab);
  }

  /** Whether a screencast runs in the tab. */
  isCast(tab: number): boolean {
    return this.#running.get(tab)?.leave !== undefined;
  }

  /**
   * Keeps the page painting until it is free: one behind another falls to a frame or two a second, and clients that
   * wait for frames take seconds for a click. The small screencast that does it is nobody's to watch.
   */
  keep(tab: number): void {
    this.#kept.add(tab);
    this.#startSmall(tab);
  }

  free(tab: number): void {
    if (this.#kept.delete(tab)) this.#stopSmall(tab);
  }

  /**
   * Keeps the page painting while a picture of it is captured: of a page behind another Chrome paints none for
   * seconds, or for ever.
   */
  async painting(tab: number, capture: () => Promise<unknown>): Promise<unknown> {
    if (this.isCast(tab) || this.#kept.has(tab)) return await capture();
    const others = this.#paintings.get(tab) ?? 0;
    this.#paintings.set(tab, others + 1);
    try {
      this.#startSmall(tab); // Chrome keeps the order of commands, so that the capture need not wait for its reply
      return await capture();
    } finally {
      const left = (this.#paintings.get(tab) ?? 1) - 1;
      if (left > 0) this.#paintings.set(tab, left);
      else this.#paintings.delete(tab);
      this.#stopSmall(tab);
    }
  }

  #startSmall(tab: number): void {
    if (!this.isCast(tab)) this.#send(tab, 'Page.startScreencast', small);
  }

  #stopSmall(tab: number): void {
    if (this.isCast(tab) || this.#kept.has(tab) || this.#paintings.has(tab)) return;
    this.#send(tab, 'Page.stopScreencast');
  }

  /** A tab that cannot be told is not attached, and casts nothing. */
  #send(tab: number, method: string, params?: object): void {
    this.#seats.send(tab, undefined, method, params).catch(() => undefined);
  }

  /** Starts a watched tab's screencast, or leaves it to a later resume where the tab cannot be attached. */
  async resume(tab: number): Promise<void> {
    const watched = this.#watcher(tab);
    if (watched === undefined && this.#kept.has(tab)) this.#startSmall(tab);
    if (watched === undefined || this.#running.has(tab)) return;
    const running: Running = {};
    this.#running.set(tab, running);
    try {
      const leave = await this.#seats.watch(tab);
      if (this.#running.get(tab) !== running) {
        leave(); // nobody watches any more, or another screencast does it for them
        return;
      }
      running.leave = leave;
      this.#send(tab, 'Page.enable', {}); // where the page goes is told by the same way as its pictures, and before them
      if (this.#kept.has(tab) || this.#paintings.has(tab)) {
        this.#send(tab, 'Page.stopScreencast'); // a page that stands still shows itself to a new screencast alone
      }
      const { quality, maxWidth, maxHeight } = (this.#watcher(tab) ?? watched).options;
      const size = { format: 'jpeg', quality, maxWidth, maxHeight };
      await this.#seats.send(tab, undefined, 'Page.startScreencast', size);
    } catch {
      if (this.#running.get(tab) === running) this.paused(tab);
    }
  }

  /** The tab is not attached any more, and what was not sent never is; a later resume starts its pictures again. */
  paused(tab: number): void {
    const running = this.#running.get(tab);
    this.#running.delete(tab);
    running?.leave?.();
    for (const cast of this.#casts.values()) if (cast.tab === tab) this.#clear(cast);
  }

  /**
   * Takes a Page.screencastFrame: acknowledges it at once and hands the picture to who watches the tab, where it is of
   * the screencast that runs for them and the tab may be seen. Some still come after a tab was let go.
   */
  framed(tab: number, params: unknown): void {
    const frame = fields(params);
    const data = text(frame, 'data');
    const acknowledge = number(frame, 'sessionId');
    if (data === undefined || acknowledge === undefined) return;
    // At once, seen or not: a page paints as fast as its pictures are taken.
    this.#send(tab, 'Page.screencastFrameAck', { sessionId: acknowledge });
    if (!this.isCast(tab) || !this.#seats.isSeen(tab)) return;
    const size = fields(member(frame, 'metadata'));
    const picture = {
      data,
      width: Math.round(number(size, 'deviceWidth') ?? 0),
      height: Math.round(number(size, 'deviceHeight') ?? 0),
    };
    for (const cast of this.#casts.values()) {
      if (cast.tab === tab) this.#show(cast, picture);
    }
  }

  #show(cast: Cast, picture: Picture): void {
    cast.newest = picture;
    if (cast.due !== undefined) return;
    const wait = cast.sentAt + 1000 / cast.options.fps - Date.now();
    if (wait <= 0) this.#sendNewest(cast);
    else cast.due = setTimeout(() => this.#sendNewest(cast), wait);
  }

  #sendNewest(cast: Cast): void {
    delete cast.due;
    const picture = cast.newest;
    if (picture === undefined || cast.screen.backlog > mostBacklogBytes) return;
    if (!this.#seats.isSeen(cast.tab)) return;
    delete cast.newest;
    cast.sentAt = Date.now();
    const { width, height, data } = picture;
    cast.screen.send({ t: 'picture', id: cast.id, at_ms: cast.sentAt, width, height }, data);
  }

  #stopWhere(ends: (cast: Cast) => boolean): void {
    for (const [name, cast] of this.#casts) {
      if (!ends(cast)) continue;
      this.#clear(cast);
      this.#casts.delete(name);
      this.#rest(cast.tab);
    }
  }

  #clear(cast: Cast): void {
    clearTimeout(cast.due);
    delete cast.due;
    delete cast.newest;
  }

  #watcher(tab: number): Cast | undefined {
    return [...this.#casts.values()].find((cast) => cast.tab === tab);
  }

  #rest(tab: number): void {
    if (!this.#running.has(tab) || this.#watcher(tab) !== undefined) return;
    this.paused(tab);
    if (this.#kept.has(tab)) this.#startSmall(tab);
    else this.#stopSmall(tab);
  }
}
