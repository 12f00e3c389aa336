import { strip } from '../policy/strip.ts';
import { eventTold, judgeRaw } from '../policy/table.ts';
import { isLonger, maxSentBytes } from './bounds.ts';
import { withoutFrames } from './frames.ts';
import { isOwn } from './grants.ts';
import { Holding, type Rooms, type Wish } from './holding.ts';
import type { Flight, Hold, Way } from './holds.ts';
import { fields, json, member, number, text } from './parse.ts';
import type { Standing } from './standing.ts';
import { type CallFailure, type Command, Refusal } from './wire.ts';

/** A connection has as many commands of CDP clients under way. */
const mostUnderWay = 1024;

/** A window that a page opens so long after a client's doing is the client's session's. */
const opensMS = 5000;

/** What may make a page open a window. */
const opening =
  /^(Input\.|Runtime\.(evaluate|callFunctionOn|runIfWaitingForDebugger)$|Page\.(navigate|reload|setDocumentContent|handleJavaScriptDialog))/;

/** What the worker itself needs in a tab stays as it is. */
const kept: ReadonlySet<string> = new Set([
  'Emulation.setFocusEmulationEnabled',
  'Inspector.disable',
  'Page.disable',
]);

/** Pictures are served by casts, one screencast a tab. */
const ofCasts: ReadonlySet<string> = new Set([
  'Page.screencastFrame',
  'Page.screencastFrameAck',
  'Page.screencastVisibilityChanged',
  'Page.startScreencast',
  'Page.stopScreencast',
]);

/** A crashed page answers nothing but what loads another. */
const reviving: ReadonlySet<string> = new Set(['Page.navigate', 'Page.reload']);

/** JSON-RPC's code of a refused command, as Chrome uses it. */
const refusedCode = -32_000;

/** A command of a CDP client on its way. */
export type Order = Command & { key: string; line: Way };

export type RawRooms = Omit<Rooms, 'tell'> & {
  /** Throws where a command may not go to a tab now. */
  gate(tab: number, method: string, params: unknown): void;
  painting(tab: number, capture: () => Promise<unknown>): Promise<unknown>;
};

/**
 * The road of CDP clients: their commands to held tabs, each judged by the grant and the method table, and what the tabs
 * tell, without cookies and credentials.
 */
export class Raw {
  readonly #rooms: RawRooms;
  readonly #holding: Holding;

  constructor(rooms: RawRooms) {
    this.#rooms = rooms;
    this.#holding = new Holding({
      ...rooms,
      tell: (hold, child, method, params) => this.#tell(hold, child, method, params),
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
    const flight = { id: order.id, method: order.method, lift: () => undefined };
    hold.flights.set(order.id, flight);
    if (opening.test(order.method)) hold.opensUntilMS = this.#rooms.nowMS() + opensMS;
    if (standing.level === 'read') this.#sendBehindWall(hold, order, params, flight);
    else this.#send(hold, order, params, flight);
  }

  // ---- what happens in Chrome

  /** The session whose clients may have made a page open a window just now. */
  sessionIn(tab: number): string | undefined {
    const hold = this.#holding.holds.ofTab(tab);
    if (hold === undefined) return undefined;
    const isUnderWay = [...hold.flights.values()].some(({ method }) => opening.test(method));
    return isUnderWay || this.#rooms.nowMS() < hold.opensUntilMS ? hold.session : undefined;
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
    if (hold?.state !== 'held') return;
    this.#tell(hold, child, method, params);
    if (method === 'Target.attachedToTarget') this.#greet(hold, params);
  }

  /** The page of a tab has crashed: what waits in it is never answered by Chrome. */
  crashed(tab: number): void {
    const hold = this.#holding.holds.ofTab(tab);
    if (hold === undefined) return;
    for (const flight of [...hold.flights.values()]) this.#answer(hold, flight, crashed);
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
    if (child !== undefined && this.#isOwnChild(hold, child)) {
      throw new Refusal('forbidden', 'This is Chaperone’s own page.');
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
        this.#refuse(hold, flight, cause);
      }
    });
  }

  #send(hold: Hold, order: Order, params: object, flight: Flight): void {
    const { method, child } = order;
    const { seats } = this.#rooms;
    const children = seats.children(hold.tab);
    if (child !== undefined && children?.has(child) !== true) {
      this.#answer(hold, flight, { code: -32_001, message: 'Session with given id not found.' });
    } else if (kept.has(method)) {
      this.#answer(hold, flight, undefined, {});
    } else if (seats.isCrashed(hold.tab) && child === undefined && !reviving.has(method)) {
      this.#answer(hold, flight, crashed);
    } else if (method === 'Target.setAutoAttach') {
      this.#autoAttach(hold, order, params, flight);
    } else {
      if (method === 'Runtime.runIfWaitingForDebugger') children?.resumed(child ?? '');
      this.#pass(hold, order, params, flight);
      if (method === 'Debugger.enable') this.#holding.unpause(hold, child ?? '');
    }
  }

  #autoAttach(hold: Hold, order: Order, params: object, flight: Flight): void {
    const wait = member(fields(params), 'waitForDebuggerOnStart') === true;
    const wanted = this.#rooms.seats.children(hold.tab)?.ask(order.child ?? '', wait);
    if (wanted === undefined) this.#answer(hold, flight, undefined, {});
    else this.#pass(hold, order, wanted, flight);
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
    sent.catch((cause: unknown) => this.#refuse(hold, flight, cause));
  }

  // ---- a reply's way

  #returned(hold: Hold, order: Order, flight: Flight, result: unknown, problem?: string): void {
    if (hold.flights.get(flight.id) !== flight) return; // it was answered already
    const { method, child } = order;
    if (opening.test(method)) hold.opensUntilMS = this.#rooms.nowMS() + opensMS;
    try {
      this.#rooms.gate(hold.tab, method, undefined); // what may not be seen any more stays here
      if (problem !== undefined) {
        this.#answer(hold, flight, failureOf(problem));
        return;
      }
      const clean = this.#cleaned(method, result);
      if (method === 'Page.addScriptToEvaluateOnNewDocument') {
        hold.scripts.add(`${child ?? ''} ${text(fields(result), 'identifier') ?? ''}`);
      }
      this.#answer(hold, flight, undefined, clean);
    } catch (cause) {
      this.#refuse(hold, flight, cause);
    }
  }

  /** A reply without frames of Chaperone's own server, cookies and credentials. */
  #cleaned(method: string, result: unknown): unknown {
    const reply = fields(result);
    if (method !== 'Page.getFrameTree' && method !== 'Page.getResourceTree') {
      return strip(method, reply ?? {});
    }
    const frameTree = withoutFrames(member(reply, 'frameTree'), (url) => this.#isOwn(url));
    if (frameTree === undefined) {
      throw new Refusal('tab_suspended', 'This is Chaperone’s own page.');
    }
    return { frameTree };
  }

  #answer(hold: Hold, { id, lift }: Flight, error?: CallFailure, result?: unknown): void {
    if (!hold.flights.delete(id)) return;
    lift();
    if (error !== undefined) {
      hold.line.send({ t: 'reply', id, error });
      return;
    }
    const body = JSON.stringify(result);
    if (isLonger(body, maxSentBytes - 1024)) {
      const message = 'The answer is larger than the link carries.';
      hold.line.send({ t: 'error', id, code: 'too_large', message });
    } else {
      hold.line.send({ t: 'reply', id }, body);
    }
  }

  #refuse(hold: Hold, { id, lift }: Flight, cause: unknown): void {
    if (!hold.flights.delete(id)) return;
    lift();
    const code = cause instanceof Refusal ? cause.code : 'tab_suspended';
    const message = cause instanceof Error ? cause.message : String(cause);
    hold.line.send({ t: 'error', id, code, message });
  }

  // ---- an event's way

  #tell(hold: Hold, child: string, method: string, params: unknown): void {
    const standing = this.#rooms.book.ofName(hold.key, hold.name);
    if (standing === undefined || standing.suspended !== undefined) return;
    if (ofCasts.has(method) || !eventTold(standing.level, method)) return;
    if (this.#isOwnChild(hold, child) || this.#isOwnChild(hold, sessionOf(method, params))) return;
    const { line } = hold;
    const verdict = hold.meter.judge(method, this.#rooms.nowMS(), line.backlog);
    if (verdict === 'flood') this.#flooded(hold);
    if (verdict !== 'told') return;
    if (isPageScripts(method, params)) return;
    const body = JSON.stringify(strip(method, fields(params) ?? {}));
    if (isLonger(body, maxSentBytes - 1024)) return;
    const header = { t: 'event', tab: hold.name, method } as const;
    line.send(child === '' ? header : { ...header, child }, body);
  }

  #flooded(hold: Hold): void {
    this.#holding.rest(hold.tab, 'The page tells more than can be passed on.');
    this.#rooms.seats.release(hold.tab);
  }

  #greet(hold: Hold, params: unknown): void {
    const session = text(fields(params), 'sessionId') ?? '';
    const child = this.#rooms.seats.children(hold.tab)?.get(session);
    if (child === undefined) return;
    if (!this.#isOwn(child.url)) {
      this.#holding.introduce(hold, child);
    } else if (child.isWaiting) {
      const run = 'Runtime.runIfWaitingForDebugger'; // nobody is told of it who could
      this.#rooms.seats.command(hold.tab, session, run, {}, () => undefined);
    }
  }

  #isOwnChild(hold: Hold, session: string): boolean {
    const child = session === '' ? undefined : this.#rooms.seats.children(hold.tab)?.get(session);
    return child !== undefined && this.#isOwn(child.url);
  }

  #isOwn(url: string): boolean {
    return isOwn(url, this.#rooms.book.ownHosts);
  }
}

const crashed: CallFailure = {
  code: refusedCode,
  message: 'The page has crashed; Page.navigate or Page.reload loads it anew.',
};

/** The page script's own contexts are not for clients. */
function isPageScripts(method: string, params: unknown): boolean {
  if (method !== 'Runtime.executionContextCreated') return false;
  return text(fields(member(fields(params), 'context')), 'name') === 'chaperone';
}

/** The target session that a Target event is about. */
function sessionOf(method: string, params: unknown): string {
  return method.startsWith('Target.') ? (text(fields(params), 'sessionId') ?? '') : '';
}

/** Only what the edge can share with everybody is taken. */
function wrongAttach(params: object): string {
  const asked = fields(params);
  const known = ['autoAttach', 'flatten', 'waitForDebuggerOnStart'];
  const isPlain = Object.keys(params).every((name) => known.includes(name));
  const isOn = member(asked, 'autoAttach') === true && member(asked, 'flatten') === true;
  return isPlain && isOn ? '' : 'Target.setAutoAttach is taken with autoAttach and flatten alone.';
}

/** Chrome's refusal as it says it; whatever else it says means that the tab is not attached. */
function failureOf(problem: string): CallFailure {
  const told = fields(json(problem));
  const code = number(told, 'code');
  const message = text(told, 'message');
  if (code !== undefined && message !== undefined) return { code, message };
  throw new Refusal('tab_suspended', problem);
}
