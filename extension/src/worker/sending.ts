import { looseNode, withObject } from '../policy/nodes.ts';
import { toSend } from '../policy/table.ts';
import { answer, crashed, failureOf, refuse, unknownChild } from './answers.ts';
import {
  bind,
  isActing,
  isGone,
  isTheirs,
  noContext,
  noMain,
  noObject,
  type Place,
} from './binding.ts';
import { guarded } from './guarded.ts';
import type { Flight, Hold, Order } from './holds.ts';
import { fields, member, number, text } from './parse.ts';
import type { Seats } from './seats.ts';
import { asksForSource } from './sources.ts';
import type { Telling } from './telling.ts';
import { type CallFailure, Refusal } from './wire.ts';

/** What would act on a document that is not judged yet waits so long for it. */
const judgedMS = 5000;

/** What the worker itself needs in a tab stays as it is. */
const kept: ReadonlySet<string> = new Set([
  'Emulation.setFocusEmulationEnabled',
  'Inspector.disable',
  'Page.disable',
]);

/** A crashed page answers nothing but what loads another. */
const reviving: ReadonlySet<string> = new Set(['Page.navigate', 'Page.reload']);

const newScript = 'Page.addScriptToEvaluateOnNewDocument';

export type Rooms = {
  seats: Seats;
  telling: Telling;
  /** Throws where a command may not go to a tab now. */
  gate(tab: number, method: string, params: unknown): void;
  /** Throws where the table, or what the tab is, forbids a command now. */
  permit(hold: Hold, order: Order, params: object): void;
  painting(tab: number, capture: () => Promise<unknown>): Promise<unknown>;
  /** No page stands still for a debugger. */
  unpause(hold: Hold, child: string): void;
  /** Chrome answered a command. */
  returned(hold: Hold, flight: Flight): void;
};

/** A command that is permitted, on its way to Chrome. */
type Way = { hold: Hold; order: Order; params: object; flight: Flight };

/** The way of permitted commands to Chrome and of their answers back: each in the document that it is meant for. */
export class Sending {
  readonly #rooms: Rooms;

  constructor(rooms: Rooms) {
    this.#rooms = rooms;
  }

  send(way: Way): void {
    const { hold, order, params, flight } = way;
    const { method, child = '' } = order;
    const refused = this.#cannot(hold, method, child);
    if (refused !== undefined || kept.has(method)) {
      answer(hold, flight, refused, {});
    } else if (method === 'Target.setAutoAttach') {
      this.#autoAttach(way);
    } else if (method === 'Runtime.disable') {
      hold.contexts.unask(child); // the edge itself hears of contexts
      answer(hold, flight, undefined, {});
    } else if (hold.isCrossing && isActing(method)) {
      this.#park(way);
    } else {
      this.#bind({ ...way, params: this.#prepared(hold, method, toSend(method, params)) });
    }
  }

  /** Something came that commands of a target session may have waited for. */
  goOn(hold: Hold): void {
    if (hold.waiting.length === 0) return;
    const waiting = hold.waiting.splice(0).filter(({ flight }) => isUnderWay(hold, flight));
    for (const one of waiting) {
      if (one.isReady()) one.goOn();
      else hold.waiting.push(one);
    }
  }

  // ---- what waits

  /** A command that acts on whatever is there waits until it is known what that is. */
  #park(way: Way): void {
    const { hold, flight } = way;
    const why = new Refusal('tab_suspended', 'The tab is on its way to another page.');
    const timer = setTimeout(() => {
      if (isUnderWay(hold, flight)) refuse(hold, flight, why);
    }, judgedMS);
    const goOn = () => {
      clearTimeout(timer);
      this.#again(way);
    };
    hold.waiting.push({ flight, isReady: () => !hold.isCrossing, goOn });
  }

  /** Goes on with a command that waited, as if it came now. */
  #again(way: Way): void {
    const { hold, order, params, flight } = way;
    try {
      this.#rooms.permit(hold, order, params);
      this.send(way);
    } catch (cause) {
      refuse(hold, flight, cause);
    }
  }

  /** Binds a command to its context. It waits alone where there is none yet, and is sent again where that has gone. */
  #bind(way: Way, past?: string): void {
    const { hold, order, params, flight } = way;
    const found = bind(this.#place(hold, order), order.method, params, past);
    if (found.is === 'refused') {
      answer(hold, flight, found.error);
    } else if (found.is === 'early') {
      this.#await(way, past);
    } else {
      this.#toNode({ ...way, params: found.params }, (problem) => {
        const isLost = found.unique !== undefined && isGone(problem ?? '');
        if (!isLost || !isUnderWay(hold, flight)) return false;
        if (namesContext(params)) answer(hold, flight, noContext);
        else this.#rebind(way, found.unique);
        return true;
      });
    }
  }

  #await(way: Way, past?: string): void {
    const { hold, order, flight } = way;
    const child = this.#rooms.seats.children(hold.tab)?.get(order.child ?? '');
    if (child?.isWaiting) {
      answer(hold, flight, noMain); // as Chrome does
      return;
    }
    const isReady = () => {
      const { contexts, session, reach } = this.#place(hold, order);
      const main = contexts.main(session, reach);
      return main !== undefined && main.unique !== past;
    };
    hold.waiting.push({ flight, isReady, goOn: () => this.#rebind(way, past) });
  }

  #rebind(way: Way, past?: string): void {
    const { hold, order, params, flight } = way;
    try {
      this.#rooms.permit(hold, order, params);
      this.#bind(way, past);
    } catch (cause) {
      refuse(hold, flight, cause);
    }
  }

  // ---- what is sent

  /** A client's script for documents to come is not handed to Chrome as it is. */
  #prepared(hold: Hold, method: string, params: object): object {
    if (method !== newScript) return params;
    return { ...params, source: guarded(text(fields(params), 'source') ?? '', hold.rules) };
  }

  #place(hold: Hold, { child = '' }: Order): Place {
    return { contexts: hold.contexts, session: child, reach: this.#rooms.telling.reach(hold) };
  }

  /** What Chrome would never answer. */
  #cannot(hold: Hold, method: string, child: string): CallFailure | undefined {
    const { seats } = this.#rooms;
    if (child !== '') return seats.children(hold.tab)?.has(child) ? undefined : unknownChild;
    return seats.isCrashed(hold.tab) && !reviving.has(method) ? crashed : undefined;
  }

  #autoAttach(way: Way): void {
    const { hold, order, params, flight } = way;
    const wait = member(fields(params), 'waitForDebuggerOnStart') === true;
    const wanted = this.#rooms.seats.children(hold.tab)?.ask(order.child ?? '', wait);
    if (wanted === undefined) answer(hold, flight, undefined, {});
    else this.#pass({ ...way, params: wanted });
  }

  /** Passes a command on, with an object in place of a node's number, which could be one of another tab. */
  #toNode(way: Way, isTaken: (problem?: string) => boolean): void {
    const { hold, order, params } = way;
    const { method, child = '' } = order;
    if (method === 'Runtime.runIfWaitingForDebugger') {
      this.#rooms.seats.children(hold.tab)?.resumed(child);
    }
    const node = looseNode(method, params) ?? contextNode(method, params);
    if (node === undefined) this.#pass(way, isTaken);
    else this.#passNode(way, node);
    if (method === 'Debugger.enable') this.#rooms.unpause(hold, child);
  }

  #passNode(way: Way, node: number): void {
    const { hold, order, params, flight } = way;
    const resolve = { backendNodeId: node, objectGroup: 'chaperone' };
    const { tab } = hold;
    const { child } = order;
    const { seats } = this.#rooms;
    seats.command(tab, child, 'DOM.resolveNode', resolve, (result, problem) => {
      const objectId = text(fields(member(fields(result), 'object')), 'objectId');
      if (objectId === undefined) {
        this.#returned(way, {}, problem ?? noNode);
        return;
      }
      if (!isUnderWay(hold, flight)) return;
      try {
        const isResolve = order.method === 'DOM.resolveNode';
        const isTheir = isTheirs(this.#place(hold, order), objectId);
        if (!isTheir) answer(hold, flight, noObject);
        else this.#pass({ ...way, params: isResolve ? params : withObject(params, objectId) });
        seats.command(tab, child, 'Runtime.releaseObject', { objectId }, () => undefined);
      } catch (cause) {
        refuse(hold, flight, cause);
      }
    });
  }

  #pass(way: Way, isTaken: (problem?: string) => boolean = () => false): void {
    const { hold, order, params, flight } = way;
    const { tab } = hold;
    const { method, child } = order;
    const send = () =>
      new Promise<void>((resolve) => {
        this.#rooms.seats.command(tab, child, method, params, (result, problem) => {
          if (!isTaken(problem)) this.#returned(way, result, problem);
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

  #returned({ hold, order, params, flight }: Way, result: unknown, problem?: string): void {
    const { method, child = '' } = order;
    if (!isUnderWay(hold, flight)) return; // it was answered already
    this.#rooms.returned(hold, flight);
    try {
      this.#rooms.gate(hold.tab, method, undefined); // what may not be seen any more stays here
      if (asksForSource(method) || 'frameId' in params) this.#rooms.permit(hold, order, params);
      if (problem !== undefined) {
        answer(hold, flight, failureOf(problem));
        return;
      }
      const clean = this.#rooms.telling.cleaned(hold, method, result);
      if (method === newScript) {
        hold.scripts.add(`${child} ${text(fields(result), 'identifier') ?? ''}`);
      }
      if (method === 'Runtime.enable') this.#rooms.telling.tellContexts(hold, child);
      answer(hold, flight, undefined, clean);
    } catch (cause) {
      refuse(hold, flight, cause);
    }
  }
}

function isUnderWay(hold: Hold, flight: Flight): boolean {
  return hold.flights.get(flight.id) === flight;
}

function namesContext(params: object): boolean {
  return ['contextId', 'executionContextId', 'uniqueContextId'].some((name) => name in params);
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
