import { Away } from './away.ts';
import type { Book } from './book.ts';
import type { Child } from './children.ts';
import { Contexts } from './contexts.ts';
import type { Rules } from './guarded.ts';
import { type Hold, Holds, type Way } from './holds.ts';
import type { House, Owner } from './house.ts';
import { Meter } from './meter.ts';
import { fields, member } from './parse.ts';
import type { Passage } from './passage.ts';
import type { Seats } from './seats.ts';
import { type ErrorCode, type Header, Refusal } from './wire.ts';

/** A tab that could not be attached anew is tried again after this, or when something happens to it. */
const againMS = 5000;

/** A tab that has to rest again within a minute rests twice as long, up to five minutes. */
const calmMS = 60_000;
const mostRestMS = 300_000;

/** What of the worker holds need. */
export type HoldingRooms = {
  book: Book;
  house: House;
  seats: Seats;
  /** The CDP target id of a tab's page as Chrome tells it now. */
  targetOf(tab: number): Promise<string | undefined>;
  nowMS(): number;
  /** Stands before the documents that held tabs load. */
  passage: Passage;
  /** Keeps the page of a tab painting, whoever sees it, until it is free. */
  keep(tab: number): void;
  free(tab: number): void;
  /** Tells clients of a child, where they may be in it. */
  greet(hold: Hold, child: Child): void;
  /** Takes note of the frames of a target session. */
  learn(hold: Hold, child: string, frameTree: unknown): void;
};

/** A request to hold a tab. */
export type Wish = Owner & { line: Way; id: number; tab: string };

/**
 * The lives of holds: a tab is attached for a session's CDP clients until they let it go, the link or the grant ends.
 * Where Chrome takes the attachment away, the hold sleeps until the tab is attached anew.
 */
export class Holding {
  readonly holds = new Holds();
  readonly #rooms: HoldingRooms;
  /** Holds that are over in tabs that programs still use: what clients left there goes with the attachment alone. */
  readonly #waning = new Map<number, Hold>();

  constructor(rooms: HoldingRooms) {
    this.#rooms = rooms;
  }

  /** Holds a tab and answers `held`, or why not. */
  async begin(wish: Wish): Promise<void> {
    const { grant } = this.#rooms.house.claim(wish, wish.tab);
    if (this.holds.find(wish.key, wish.tab) !== undefined) {
      throw new Refusal('bad_request', `Tab ${wish.tab} is held already.`);
    }
    const hold = newHold(wish, grant.tab);
    this.holds.add(hold);
    try {
      await this.#join(hold, wish.id);
    } catch (cause) {
      if (this.holds.has(hold)) this.end(hold, 'tab_suspended', words(cause));
      if (cause instanceof Refusal) throw cause;
      throw new Refusal('tab_suspended', `Chrome does not let the tab be driven: ${words(cause)}`);
    }
  }

  /** Lets a tab go for good: what waits is answered by this code, and what clients did in the tab ends with it. */
  end(hold: Hold, code: ErrorCode, why: string): void {
    this.holds.remove(hold);
    this.#forget(hold, code, why);
    hold.gone.abort(new Refusal(code, why));
    hold.nudge?.();
    if (hold.state === 'held') {
      this.#loosen(hold);
      this.#rooms.free(hold.tab);
    }
    hold.leave?.();
    const wasHeld = hold.state === 'held';
    const children = this.#rooms.seats.children(hold.tab);
    this.#rooms.seats.spoil(hold.tab);
    const isLeft = children !== undefined && this.#rooms.seats.children(hold.tab) === children;
    if (wasHeld && isLeft) this.#waning.set(hold.tab, hold); // its documents wait as before
  }

  /** A hold that is over in a tab that is not let go yet. */
  waning(tab: number): Hold | undefined {
    return this.#waning.get(tab);
  }

  endWhere(ends: (hold: Hold) => boolean, code: ErrorCode, why: string): void {
    for (const hold of this.holds.where(ends)) this.end(hold, code, why);
  }

  /** The tab is not attached any more, or about to be let go. */
  sleep(tab: number, why: string): void {
    this.#waning.delete(tab);
    const hold = this.holds.ofTab(tab);
    if (hold !== undefined) this.#sleep(hold, why);
  }

  /** As sleep, for a tab that is not to be attached again for a while. */
  rest(tab: number, why: string): void {
    const hold = this.holds.ofTab(tab);
    if (hold?.state !== 'held') return;
    const now = this.#rooms.nowMS();
    const isCalm = now - hold.restsUntilMS > calmMS;
    hold.restMS = isCalm ? againMS : Math.min(hold.restMS * 2, mostRestMS);
    hold.restsUntilMS = now + hold.restMS;
    this.#sleep(hold, why);
  }

  #sleep(hold: Hold, why: string): void {
    if (hold.state !== 'held') return;
    hold.state = 'asleep';
    hold.why = why;
    this.#rooms.free(hold.tab);
    hold.leave?.();
    delete hold.leave;
    hold.scripts.clear();
    hold.contexts.clear();
    hold.introduced.clear();
    hold.watched.clear();
    hold.isCrossing = false;
    hold.away.clear();
    this.#forget(hold, 'tab_suspended', why);
    hold.line.send({ t: 'asleep', tab: hold.name, code: 'tab_suspended', message: why });
    void this.#rejoin(hold);
  }

  /** Something happened to a tab: it may be attachable again. */
  nudge(tab: number): void {
    const hold = this.holds.ofTab(tab);
    if (hold?.state !== 'asleep') return;
    hold.isNudged = true;
    hold.nudge?.();
    void this.#rejoin(hold);
  }

  /** Chrome gave a tab another id. */
  move(from: number, to: number): void {
    const hold = this.holds.ofTab(from);
    if (hold === undefined) return;
    this.#rooms.free(from);
    hold.tab = to;
    this.#sleep(hold, 'Chrome put another page in the place of this one.');
    this.nudge(to);
  }

  /** Clients are told of a child: it is asked for its own, and never left standing where nobody is told of it. */
  introduce(hold: Hold, child: Child): void {
    const children = this.#rooms.seats.children(hold.tab);
    if (children === undefined) return;
    if (child.type === 'iframe') this.#place(hold, child.session);
    this.#ask(hold, child.session, 'Runtime.enable', {});
    const wanted = children.ask(child.session);
    if (wanted !== undefined) this.#ask(hold, child.session, 'Target.setAutoAttach', wanted);
  }

  /** A child is where clients may not be, or nobody knows where: it runs, and tells where it goes. */
  watch(hold: Hold, child: Child): void {
    const children = this.#rooms.seats.children(hold.tab);
    if (!hold.watched.has(child.session)) {
      hold.watched.add(child.session);
      if (child.type === 'iframe') this.#place(hold, child.session);
    }
    if (!child.isWaiting) return;
    children?.resumed(child.session);
    this.#ask(hold, child.session, 'Runtime.runIfWaitingForDebugger', {});
  }

  /** Makes a target session tell of its frames, and its documents wait. */
  #place(hold: Hold, child: string): void {
    this.#ask(hold, child, 'Page.enable', {});
    if (child !== '') this.#rooms.passage.closeFrame(hold, child);
    this.#ask(hold, child, 'Page.getFrameTree', {}, (result) => {
      this.#rooms.learn(hold, child, member(fields(result), 'frameTree'));
    });
  }

  /** No page stands still for a debugger: others are in it too. */
  unpause(hold: Hold, child: string): void {
    this.#ask(hold, child, 'Debugger.setSkipAllPauses', { skip: true });
  }

  /** Something made a page stand still all the same. */
  resume(hold: Hold, child: string): void {
    this.#ask(hold, child, 'Debugger.resume', {});
  }

  /** Sends a command of the edge's own, whose answer nobody waits for. */
  #ask(
    hold: Hold,
    child: string,
    method: string,
    params: object,
    done: (result: unknown) => void = () => undefined,
  ): void {
    try {
      this.#rooms.seats.command(hold.tab, child || undefined, method, params, done);
    } catch {
      // The tab may not be seen any more: the hold is about to be told so.
    }
  }

  /** Tries until the tab is attached, the hold is over, or the page is one that nobody may work in. */
  async #rejoin(hold: Hold): Promise<void> {
    if (hold.isJoining) return;
    hold.isJoining = true;
    while (this.holds.has(hold) && hold.state === 'asleep') {
      const standing = this.#rooms.book.ofName(hold.key, hold.name);
      if (standing?.suspended !== undefined) break; // it is nudged when it wakes
      hold.isNudged = false;
      const isAttached = !this.#rests(hold) && (await this.#joins(hold));
      if (!isAttached) await pause(hold);
    }
    hold.isJoining = false;
  }

  #rests(hold: Hold): boolean {
    return this.#rooms.nowMS() < hold.restsUntilMS;
  }

  async #joins(hold: Hold): Promise<boolean> {
    return await this.#join(hold).then(
      () => true,
      (cause: unknown) => {
        if (cause instanceof Refusal && hold.state === 'asleep') hold.why = cause.message;
        return false;
      },
    );
  }

  async #join(hold: Hold, id?: number): Promise<void> {
    const { seats, house, targetOf } = this.#rooms;
    const { tab } = hold;
    await house.prepare(tab, false);
    hold.gone.signal.throwIfAborted();
    const leave = await seats.takeFresh(tab, hold.gone.signal);
    const children = seats.children(tab);
    const target = await targetOf(tab).catch(() => undefined);
    const isStill = () =>
      this.holds.has(hold) && hold.tab === tab && seats.children(tab) === children;
    try {
      if (target === undefined || !isStill()) throw wentAway();
      hold.target = target;
      await this.#rooms.passage.close(hold);
      if (!isStill()) throw wentAway();
    } catch (cause) {
      if (isStill()) this.#rooms.passage.open(hold, '');
      leave();
      throw cause;
    }
    hold.leave = leave;
    hold.state = 'held';
    hold.rules = rulesOf(this.#rooms.book, hold);
    // Clients take a page's target and its own frame for one thing, as in any tab whose page was not loaded ahead.
    const held: Header = { t: 'held', tab: hold.name, target: hold.frame || target };
    hold.line.send(id === undefined ? held : { ...held, id });
    this.#enable(hold);
    this.#rooms.keep(tab);
  }

  /** Tells of the children that are there and asks for all others, and for what the worker itself has to know. */
  #enable(hold: Hold): void {
    const children = this.#rooms.seats.children(hold.tab);
    if (children === undefined) return;
    this.#place(hold, '');
    this.#ask(hold, '', 'Emulation.setFocusEmulationEnabled', { enabled: true });
    this.#ask(hold, '', 'Runtime.enable', {});
    for (const session of children.hold(true)) {
      const wanted = children.ask(session) ?? children.attaching(session);
      this.#ask(hold, session, 'Target.setAutoAttach', wanted);
    }
    for (const child of children.all) this.#rooms.greet(hold, child);
  }

  /** Leaves nothing standing in a tab that stays attached for others. */
  #loosen(hold: Hold): void {
    const children = this.#rooms.seats.children(hold.tab);
    if (children === undefined) return;
    for (const session of children.hold(false)) {
      this.#ask(hold, session, 'Target.setAutoAttach', children.attaching(session));
    }
    for (const { session } of children.waiting) {
      children.resumed(session);
      this.#ask(hold, session, 'Runtime.runIfWaitingForDebugger', {});
    }
  }

  #forget(hold: Hold, code: ErrorCode, message: string): void {
    const flights = [...hold.flights.values()];
    hold.flights.clear();
    hold.waiting.length = 0;
    for (const { id, lift } of flights) {
      lift();
      hold.line.send({ t: 'error', id, code, message });
    }
  }
}

/** Where clients' scripts may run in a held tab. */
export function rulesOf(book: Book, { key, name }: Hold): Rules {
  return { own: book.ownHosts, stays: book.ofName(key, name)?.grant.stays ?? '' };
}

function newHold({ key, session, line, tab: name }: Wish, tab: number): Hold {
  return {
    key,
    session,
    name,
    line,
    away: new Away(),
    tab,
    target: '',
    frame: '',
    state: 'coming',
    why: '',
    gone: new AbortController(),
    flights: new Map(),
    meter: new Meter(),
    scripts: new Set(),
    contexts: new Contexts(),
    introduced: new Set(),
    watched: new Set(),
    waiting: [],
    rules: { own: [], stays: '' },
    isCrossing: false,
    isJoining: false,
    isNudged: false,
    restMS: againMS,
    restsUntilMS: 0,
    opensUntilMS: 0,
    turn: Promise.resolve(),
  };
}

function wentAway(): Refusal {
  return new Refusal('tab_suspended', 'The tab went away while it was attached.');
}

function pause(hold: Hold): Promise<void> {
  if (hold.isNudged) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      delete hold.nudge;
      resolve();
    };
    const timer = setTimeout(end, againMS);
    hold.nudge = end;
  });
}

function words(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
