import { judgeRaw } from '../policy/table.ts';
import { answer, crashed, refuse } from './answers.ts';
import { isForFrameAway, unbound, wrongName } from './binding.ts';
import type { Child } from './children.ts';
import { Doings, mayOpen } from './doings.ts';
import { Holding, type HoldingRooms, rulesOf, type Wish } from './holding.ts';
import type { Flight, Hold, Order } from './holds.ts';
import { fields, json, member, text } from './parse.ts';
import { Passage, type Sight } from './passage.ts';
import { Pulse } from './pulse.ts';
import { Sending } from './sending.ts';
import { Sources } from './sources.ts';
import type { Standing } from './standing.ts';
import { Telling } from './telling.ts';
import { Refusal } from './wire.ts';

/** A connection has as many commands of CDP clients under way: of 32 clients, each with 1024. */
const mostUnderWay = 32 * 1024;

/** Pictures are served by casts, one screencast a tab. */
const ofCasts: ReadonlySet<string> = new Set([
  'Page.screencastFrameAck',
  'Page.startScreencast',
  'Page.stopScreencast',
]);

/** Nothing stands still for clients, so that they hear of no pause either. */
const pauses: ReadonlySet<string> = new Set(['Debugger.paused', 'Debugger.resumed']);

/** By these a frame's place becomes known. */
const placing: ReadonlySet<string> = new Set(['Page.frameNavigated', 'Target.targetInfoChanged']);

export type RawRooms = Omit<HoldingRooms, 'passage' | 'greet' | 'learn'> & {
  sight: Sight;
  /** Lets a tab go that is about to be where its grant does not reach. */
  leaving(tab: number, url: string): void;
  /** Throws where a command may not go to a tab now. */
  gate(tab: number, method: string, params: unknown): void;
  /** Stops the programs in a tab. */
  stop(tab: number, why: Refusal): void;
  /** Asks Chrome something that it answers at once. */
  ask(): Promise<unknown>;
  painting(tab: number, capture: () => Promise<unknown>): Promise<unknown>;
};

/**
 * The road of CDP clients: their commands to held tabs, each judged by the grant and the method table, and what the tabs
 * tell, without cookies and credentials.
 */
export class Raw {
  readonly #rooms: RawRooms;
  readonly #passage: Passage;
  readonly #holding: Holding;
  readonly #telling: Telling;
  readonly #doings: Doings;
  readonly #sources = new Sources();
  readonly #sending: Sending;

  constructor(rooms: RawRooms) {
    this.#rooms = rooms;
    this.#doings = new Doings(rooms.book, rooms.nowMS);
    const passage = new Passage({
      ...rooms,
      intruded: (hold) => this.#intruded(hold),
      replaced: (hold) => this.#letGo(hold, 'Chrome shows a page that it had loaded ahead.'),
    });
    this.#passage = passage;
    this.#telling = new Telling({
      ...rooms,
      passage,
      pulse: new Pulse(rooms.ask, rooms.nowMS),
      flooded: (hold) => this.#flooded(hold),
    });
    this.#holding = new Holding({
      ...rooms,
      passage,
      greet: (hold, child) => this.#greet(hold, child),
      learn: (hold, child, tree) => this.#learn(hold, child, tree),
    });
    this.#sending = new Sending({
      ...rooms,
      telling: this.#telling,
      permit: (hold, order, params) => this.#permit(hold, this.#standing(hold), order, params),
      unpause: (hold, child) => this.#holding.unpause(hold, child),
      returned: (hold, flight) => this.#doings.note(hold, flight),
    });
  }

  // ---- what a server asks

  hold(wish: Wish): Promise<void> {
    return this.#holding.begin(wish);
  }

  drop(key: string, session: string, tab: string): void {
    this.#holding.endWhere(
      (hold) => hold.key === key && hold.name === tab && hold.session === session,
      'tab_closed',
      'The tab was let go.',
    );
  }

  dropAll(key: string): void {
    this.#holding.endWhere((hold) => hold.key === key, 'tab_closed', 'The connection has ended.');
  }

  dropSession(key: string, session: string): void {
    const ends = (hold: Hold) => hold.key === key && hold.session === session;
    this.#holding.endWhere(ends, 'tab_closed', 'The session has ended.');
  }

  dropTab(tab: number, why: Refusal): void {
    this.#holding.endWhere((hold) => hold.tab === tab, why.code, why.message);
  }

  /** Sends one command on; it throws a Refusal where it may not go. */
  command(order: Order): void {
    const hold = this.#find(order);
    const standing = this.#standing(hold);
    const params = order.body === '' ? {} : fields(json(order.body));
    if (params === undefined) {
      throw new Refusal('bad_request', 'The parameters are not one JSON object.');
    }
    this.#permit(hold, standing, order, params);
    if (hold.state === 'asleep') throw new Refusal('tab_suspended', hold.why);
    const opens = mayOpen(order.method, params);
    const flight = { id: order.id, method: order.method, opens, lift: () => undefined };
    hold.flights.set(order.id, flight);
    this.#doings.note(hold, flight);
    if (standing.level === 'read') this.#sendBehindWall(hold, order, params, flight);
    else this.#sending.send({ hold, order, params, flight });
  }

  // ---- what happens in Chrome

  /** The session whose clients may have made a page open a window just now. */
  sessionIn(tab: number): string | undefined {
    const hold = this.#holding.holds.ofTab(tab);
    if (hold === undefined) return undefined;
    return this.#doings.areIn(hold) ? hold.session : undefined;
  }

  isHeld(tab: number): boolean {
    return this.#holding.holds.ofTab(tab)?.state === 'held';
  }

  sleep(tab: number, why: string): void {
    this.#holding.sleep(tab, why);
  }

  nudge(tab: number): void {
    this.#holding.nudge(tab);
  }

  move(from: number, to: number): void {
    this.#holding.move(from, to);
  }

  /** What a grant or a pairing says has changed: scripts that asked by what it said before are withdrawn. */
  reconsider(): void {
    const isOld = (hold: Hold) =>
      hold.state === 'held' &&
      JSON.stringify(rulesOf(this.#rooms.book, hold)) !== JSON.stringify(hold.rules);
    for (const hold of this.#holding.holds.where(isOld)) {
      this.#letGo(hold, 'Where clients may be in the tab has changed.');
    }
  }

  /** Passes an event of a tab on, and greets a child that has come by it. */
  event(tab: number, child: string, method: string, params: unknown): void {
    const hold = this.#holding.holds.ofTab(tab) ?? this.#holding.waning(tab);
    if (child === '' && method === 'Page.frameStartedNavigating') this.#started(tab, params);
    if (hold === undefined) return;
    this.#passage.event(hold, child, method, params);
    this.#sources.event(hold, child, method, params);
    if (hold.state !== 'held' || !this.#holding.holds.has(hold)) return;
    if (method === 'Debugger.paused') this.#holding.resume(hold, child);
    if (pauses.has(method)) return;
    if (placing.has(method) || method === 'Target.attachedToTarget') this.#greetAll(hold);
    if (method !== 'Target.attachedToTarget') this.#telling.tell(hold, child, method, params);
    if (method === 'Target.detachedFromTarget') forgetChild(hold, params);
    this.#sending.goOn(hold);
  }

  /** The page of an attached tab goes somewhere. */
  #started(tab: number, params: unknown): void {
    const held = this.#holding.holds.ofTab(tab)?.frame;
    const main = held || this.#rooms.book.ofTab(tab)?.grant.target;
    this.#passage.started(tab, main ?? '', params);
  }

  /** The page of a tab has crashed: what waits in it is never answered by Chrome. */
  crashed(tab: number): void {
    const hold = this.#holding.holds.ofTab(tab);
    if (hold === undefined) return;
    hold.contexts.clear();
    for (const flight of [...hold.flights.values()]) answer(hold, flight, crashed);
  }

  // ---- a command's way

  #find({ key, line, session, tab, id }: Order): Hold {
    const { holds } = this.#holding;
    const hold = holds.find(key, tab);
    if (hold === undefined) {
      const isShared = this.#rooms.book.ofName(key, tab) !== undefined;
      throw isShared
        ? new Refusal('bad_request', `Tab ${tab} is not held.`)
        : new Refusal('tab_closed', `Tab ${tab} is not shared.`);
    }
    if (hold.session !== session) {
      throw new Refusal('forbidden', `Tab ${tab} belongs to another session.`);
    }
    if (hold.flights.has(id) || holds.underWay(line) >= mostUnderWay) {
      throw new Refusal('bad_request', 'Too many commands are under way.');
    }
    if (hold.state === 'coming') throw new Refusal('bad_request', `Tab ${tab} is not held yet.`);
    return hold;
  }

  #standing(hold: Hold): Standing {
    return this.#rooms.house.usable(hold.key, hold.session, hold.name);
  }

  /** Throws where the table, or what the tab is, forbids a command. */
  #permit(hold: Hold, { level }: Standing, order: Order, params: object): void {
    const { method } = order;
    if (ofCasts.has(method)) {
      throw new Refusal('forbidden', `${method}: pictures of a tab are served by the server.`);
    }
    const isAutoAttach = method === 'Target.setAutoAttach';
    const wrong = isAutoAttach ? wrongAttach(params) : wrongName(method, params);
    const reason = judgeRaw(level, method, params).reason || wrong || (unbound.get(method) ?? '');
    const problem = reason || this.#problemOf(hold, order, params);
    if (problem !== '') throw new Refusal('forbidden', problem);
  }

  /** Why a command may not go where it names; nothing when empty. */
  #problemOf(hold: Hold, { method, child = '' }: Order, params: object): string {
    if (child !== '' && this.#telling.isBarred(hold, child)) return notForAgents;
    const place = { contexts: hold.contexts, session: child, reach: this.#telling.reach(hold) };
    if (isForFrameAway(place, method, params)) return notForAgents;
    if (this.#sources.isHidden(hold, child, method, params)) {
      return 'What a page loads as a script is read by fetch in the page.';
    }
    const isForeign = isForeignScript(hold, child, method, params);
    return isForeign ? 'No client of this tab added that script.' : '';
  }

  /** Commands to a read-only tab go one after the other, each behind the wall. */
  #sendBehindWall(hold: Hold, order: Order, params: object, flight: Flight): void {
    const isInput = order.method.startsWith('Input.');
    hold.turn = hold.turn.then(async () => {
      try {
        const lift = await this.#rooms.house.raise(this.#standing(hold), isInput);
        if (hold.flights.get(order.id) !== flight) return lift();
        flight.lift = lift;
        this.#permit(hold, this.#standing(hold), order, params);
        this.#sending.send({ hold, order, params, flight });
      } catch (cause) {
        refuse(hold, flight, cause);
      }
    });
  }

  // ---- what ends the work in a tab for now

  #flooded(hold: Hold): void {
    const why = 'The page tells more than can be passed on.';
    this.#rooms.stop(hold.tab, new Refusal('tab_suspended', why));
    this.#holding.rest(hold.tab, why);
    this.#rooms.seats.release(hold.tab);
  }

  /** A frame is there that clients may not be in: nobody works in the tab while it is. */
  #intruded(hold: Hold): void {
    this.#letGo(hold, 'This page has Chaperone’s own pages in it.');
  }

  #letGo({ tab }: Hold, why: string): void {
    this.#rooms.stop(tab, new Refusal('tab_suspended', why));
    this.#holding.sleep(tab, why);
    this.#rooms.seats.release(tab);
  }

  // ---- children

  /** Tells of the children that are known to be where clients may be, a parent before what is in it. */
  #greetAll(hold: Hold): void {
    const children = this.#rooms.seats.children(hold.tab)?.all ?? [];
    for (const child of children) if (!hold.introduced.has(child.session)) this.#greet(hold, child);
  }

  #greet(hold: Hold, child: Child): void {
    if (this.#telling.isBarred(hold, child.session)) {
      this.#holding.watch(hold, child);
      return;
    }
    hold.introduced.add(child.session);
    const told = { ...child.params, waitingForDebugger: child.isWaiting };
    this.#telling.tell(hold, child.parent, 'Target.attachedToTarget', told);
    this.#holding.introduce(hold, child);
  }

  /** A page, or a frame with a target session of its own, says where it is. */
  #learn(hold: Hold, child: string, frameTree: unknown): void {
    if (hold.state !== 'held') return;
    const frame = fields(member(fields(frameTree), 'frame'));
    if (child !== '' && text(frame, 'url')) {
      this.#rooms.seats.children(hold.tab)?.apply(child, 'Page.frameNavigated', { frame });
      this.#greetAll(hold);
    }
    this.#telling.learn(hold, child, frameTree);
    this.#sending.goOn(hold);
  }
}

const notForAgents = 'This frame is not for agents.';

/** Whether a command would remove a script that no client of the hold added. */
function isForeignScript(hold: Hold, child: string, method: string, params: object): boolean {
  if (method !== 'Page.removeScriptToEvaluateOnNewDocument') return false;
  return !hold.scripts.has(`${child} ${text(fields(params), 'identifier') ?? ''}`);
}

function forgetChild(hold: Hold, params: unknown): void {
  const session = text(fields(params), 'sessionId') ?? '';
  hold.introduced.delete(session);
  hold.watched.delete(session);
}

/** Only what the edge can share with everybody is taken. */
function wrongAttach(params: object): string {
  const asked = fields(params);
  const known = ['autoAttach', 'flatten', 'waitForDebuggerOnStart'];
  const isPlain = Object.keys(params).every((name) => known.includes(name));
  const isOn = member(asked, 'autoAttach') === true && member(asked, 'flatten') === true;
  return isPlain && isOn ? '' : 'Target.setAutoAttach is taken with autoAttach and flatten alone.';
}
