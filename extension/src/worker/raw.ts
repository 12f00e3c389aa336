import { looseNode, withObject } from '../policy/nodes.ts';
import { judgeRaw, toSend } from '../policy/table.ts';
import { answer, crashed, failureOf, refuse, unknownChild } from './answers.ts';
import { Doings, mayOpen } from './doings.ts';
import { Holding, type Rooms, type Wish } from './holding.ts';
import type { Flight, Hold, Way } from './holds.ts';
import { fields, json, member, number, text } from './parse.ts';
import { Passage, type Sight } from './passage.ts';
import { Pulse } from './pulse.ts';
import { Sources } from './sources.ts';
import type { Standing } from './standing.ts';
import { Telling } from './telling.ts';
import { type CallFailure, type Command, Refusal } from './wire.ts';

/** A connection has as many commands of CDP clients under way: of 32 clients, each with 1024. */
const mostUnderWay = 32 * 1024;

/** What the worker itself needs in a tab stays as it is. */
const kept: ReadonlySet<string> = new Set([
  'Emulation.setFocusEmulationEnabled',
  'Inspector.disable',
  'Page.disable',
]);

/** Pictures are served by casts, one screencast a tab. */
const ofCasts: ReadonlySet<string> = new Set([
  'Page.screencastFrameAck',
  'Page.startScreencast',
  'Page.stopScreencast',
]);

/** A crashed page answers nothing but what loads another. */
const reviving: ReadonlySet<string> = new Set(['Page.navigate', 'Page.reload']);

/** Nothing stands still for clients, so that they hear of no pause either. */
const pauses: ReadonlySet<string> = new Set(['Debugger.paused', 'Debugger.resumed']);

/** A command of a CDP client on its way. */
export type Order = Command & { key: string; line: Way };

export type RawRooms = Omit<Rooms, 'passage' | 'tell'> & {
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

  constructor(rooms: RawRooms) {
    this.#rooms = rooms;
    this.#doings = new Doings(rooms.book, rooms.nowMS);
    const passage = new Passage({ ...rooms, intruded: (hold) => this.#intruded(hold) });
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
      tell: (hold, child, method, params) => this.#telling.tell(hold, child, method, params),
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
    else this.#send(hold, order, params, flight);
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

  /** Passes an event of a tab on, and greets a child that has come by it. */
  event(tab: number, child: string, method: string, params: unknown): void {
    const hold = this.#holding.holds.ofTab(tab);
    if (child === '' && method === 'Page.frameStartedNavigating') this.#started(tab, params);
    if (hold === undefined) return;
    this.#passage.event(hold, child, method, params);
    this.#sources.event(hold, child, method, params);
    if (hold.state !== 'held') return;
    if (method === 'Debugger.paused') this.#holding.resume(hold, child);
    if (pauses.has(method)) return;
    this.#telling.tell(hold, child, method, params);
    if (method === 'Target.attachedToTarget') this.#greet(hold, params);
  }

  /** The page of an attached tab goes somewhere. */
  #started(tab: number, params: unknown): void {
    const held = this.#holding.holds.ofTab(tab)?.target;
    const main = held || this.#rooms.book.ofTab(tab)?.grant.target;
    this.#passage.started(tab, main ?? '', params);
  }

  /** The page of a tab has crashed: what waits in it is never answered by Chrome. */
  crashed(tab: number): void {
    const hold = this.#holding.holds.ofTab(tab);
    if (hold === undefined) return;
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
  #permit(hold: Hold, { level }: Standing, { method, child }: Order, params: object): void {
    if (ofCasts.has(method)) {
      throw new Refusal('forbidden', `${method}: pictures of a tab are served by the server.`);
    }
    const isAutoAttach = method === 'Target.setAutoAttach';
    const wrong = isAutoAttach ? wrongAttach(params) : '';
    const reason = judgeRaw(level, method, params).reason || wrong;
    if (reason !== '') throw new Refusal('forbidden', reason);
    if (child !== undefined && this.#telling.isBarred(hold, child)) {
      throw new Refusal('forbidden', 'This frame is not for agents.');
    }
    if (this.#sources.isHidden(hold, child ?? '', method, params)) {
      throw new Refusal('forbidden', 'What a page loads as a script is read by fetch in the page.');
    }
    const script = text(fields(params), 'identifier') ?? '';
    const isRemoval = method === 'Page.removeScriptToEvaluateOnNewDocument';
    if (isRemoval && !hold.scripts.has(`${child ?? ''} ${script}`)) {
      throw new Refusal('forbidden', 'No client of this tab added that script.');
    }
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
        this.#send(hold, order, params, flight);
      } catch (cause) {
        refuse(hold, flight, cause);
      }
    });
  }

  #send(hold: Hold, order: Order, params: object, flight: Flight): void {
    const { method, child = '' } = order;
    const refused = this.#cannot(hold, method, child);
    if (refused !== undefined || kept.has(method)) {
      answer(hold, flight, refused, {});
      return;
    }
    if (method === 'Target.setAutoAttach') {
      this.#autoAttach(hold, order, params, flight);
      return;
    }
    if (method === 'Runtime.runIfWaitingForDebugger') {
      this.#rooms.seats.children(hold.tab)?.resumed(child);
    }
    const node = looseNode(method, params) ?? contextNode(method, params);
    const sent = toSend(method, params);
    if (node === undefined) this.#pass(hold, order, sent, flight);
    else this.#passNode(hold, order, { params: sent, node }, flight);
    if (method === 'Debugger.enable') this.#holding.unpause(hold, child);
  }

  /** What Chrome would never answer. */
  #cannot(hold: Hold, method: string, child: string): CallFailure | undefined {
    const { seats } = this.#rooms;
    if (child !== '') return seats.children(hold.tab)?.has(child) ? undefined : unknownChild;
    return seats.isCrashed(hold.tab) && !reviving.has(method) ? crashed : undefined;
  }

  #autoAttach(hold: Hold, order: Order, params: object, flight: Flight): void {
    const wait = member(fields(params), 'waitForDebuggerOnStart') === true;
    const wanted = this.#rooms.seats.children(hold.tab)?.ask(order.child ?? '', wait);
    if (wanted === undefined) answer(hold, flight, undefined, {});
    else this.#pass(hold, order, wanted, flight);
  }

  /** Passes a command on with an object in place of a node's number, which could be one of another tab. */
  #passNode(
    hold: Hold,
    order: Order,
    { params, node }: { params: object; node: number },
    flight: Flight,
  ): void {
    const resolve = { backendNodeId: node, objectGroup: 'chaperone' };
    const { tab } = hold;
    const { child } = order;
    const { seats } = this.#rooms;
    seats.command(tab, child, 'DOM.resolveNode', resolve, (result, problem) => {
      const objectId = text(fields(member(fields(result), 'object')), 'objectId');
      if (objectId === undefined) {
        this.#returned(hold, order, flight, {}, problem ?? noNode);
        return;
      }
      if (hold.flights.get(flight.id) !== flight) return;
      try {
        const isResolve = order.method === 'DOM.resolveNode';
        this.#pass(hold, order, isResolve ? params : withObject(params, objectId), flight);
        seats.command(tab, child, 'Runtime.releaseObject', { objectId }, () => undefined);
      } catch (cause) {
        refuse(hold, flight, cause);
      }
    });
  }

  #pass(hold: Hold, order: Order, params: object, flight: Flight): void {
    const { tab } = hold;
    const { method, child } = order;
    const send = () =>
      new Promise<void>((resolve) => {
        this.#rooms.seats.command(tab, child, method, params, (result, problem) => {
          this.#returned(hold, order, flight, result, problem);
          resolve();
        });
      });
    const sent =
      method === 'Page.captureScreenshot' && child === undefined
        ? this.#rooms.painting(tab, send)
        : send();
    sent.catch((cause: unknown) => refuse(hold, flight, cause));
  }

  // ---- a reply's way

  #returned(hold: Hold, order: Order, flight: Flight, result: unknown, problem?: string): void {
    if (hold.flights.get(flight.id) !== flight) return; // it was answered already
    const { method, child } = order;
    this.#doings.note(hold, flight);
    try {
      this.#rooms.gate(hold.tab, method, undefined); // what may not be seen any more stays here
      if (problem !== undefined) {
        answer(hold, flight, failureOf(problem));
        return;
      }
      const clean = this.#telling.cleaned(hold, method, result);
      if (method === 'Page.addScriptToEvaluateOnNewDocument') {
        hold.scripts.add(`${child ?? ''} ${text(fields(result), 'identifier') ?? ''}`);
      }
      answer(hold, flight, undefined, clean);
    } catch (cause) {
      refuse(hold, flight, cause);
    }
  }

  #flooded(hold: Hold): void {
    const why = 'The page tells more than can be passed on.';
    this.#rooms.stop(hold.tab, new Refusal('tab_suspended', why));
    this.#holding.rest(hold.tab, why);
    this.#rooms.seats.release(hold.tab);
  }

  /** A frame is there that clients may not be in: nobody works in the tab while it is. */
  #intruded({ tab }: Hold): void {
    const why = 'This page has Chaperone’s own pages in it.';
    this.#rooms.stop(tab, new Refusal('tab_suspended', why));
    this.#holding.sleep(tab, why);
    this.#rooms.seats.release(tab);
  }

  #greet(hold: Hold, params: unknown): void {
    const session = text(fields(params), 'sessionId') ?? '';
    const child = this.#rooms.seats.children(hold.tab)?.get(session);
    if (child === undefined) return;
    if (!this.#telling.isBarred(hold, session)) {
      this.#holding.introduce(hold, child);
    } else if (child.isWaiting) {
      const run = 'Runtime.runIfWaitingForDebugger'; // nobody is told of it who could
      this.#rooms.seats.command(hold.tab, session, run, {}, () => undefined);
    }
  }
}

/** The node of a DOM.resolveNode that names its context too: only without one does Chrome hold it against the page. */
function contextNode(method: string, params: object): number | undefined {
  const asked = fields(params);
  if (method !== 'DOM.resolveNode' || member(asked, 'executionContextId') === undefined) {
    return undefined;
  }
  return number(asked, 'backendNodeId');
}

/** As Chrome says it. */
const noNode = JSON.stringify({
  code: -32_000,
  message: 'Node with given id does not belong to the document',
});

/** Only what the edge can share with everybody is taken. */
function wrongAttach(params: object): string {
  const asked = fields(params);
  const known = ['autoAttach', 'flatten', 'waitForDebuggerOnStart'];
  const isPlain = Object.keys(params).every((name) => known.includes(name));
  const isOn = member(asked, 'autoAttach') === true && member(asked, 'flatten') === true;
  return isPlain && isOn ? '' : 'Target.setAutoAttach is taken with autoAttach and flatten alone.';
}
