import { linkAddress } from './code.ts';
import { Line, type Socket } from './line.ts';
import type { Pairing, Refused } from './pairings.ts';
import { isProof, newNonce, prove, tokenID } from './proof.ts';
import {
  frame,
  type Header,
  isOversized,
  readMessage,
  type ServerMessage,
  type Tab,
} from './wire.ts';

export type LinkState =
  | { is: 'connecting' }
  | { is: 'connected' }
  | { is: 'waiting'; untilMS: number }
  | { is: 'refused'; why: Refused }
  | { is: 'stopped' };

export type Paired = Extract<ServerMessage, { t: 'paired' }>;

/** What a link says of the browser it lives in. */
export type Identity = {
  extension: string;
  browser: { name: string; version: string };
  install: string;
};

/** Whoever owns a link. */
export type LinkOwner = {
  /** The grants to tell once the server has proved itself. */
  tabs(): Tab[];
  changed(state: LinkState): void;
  paired(paired: Paired): void;
  /** A request, and the line its answer goes to. */
  received(message: ServerMessage, line: Line): void;
};

export type Dial = (address: string) => Socket;

const firstWaitMS = 500;
const longestWaitMS = 60_000;
const openingMS = 15_000; // the server gives a hello ten seconds; slower than this is a dead network
const heartbeatMS = 20_000; // messages at least every 30 s keep Chrome from stopping the worker
const silencesUntilDead = 3;

const closeRevoked = 4001;
const closeReplaced = 4002;
const closeExpired = 4003;
const closeProtocol = 4004;

/**
 * One pairing's connection to its server (docs/relay.md). It dials, proves, keeps alive and dials again until it is
 * refused or stopped.
 */
export class Link {
  readonly #pairing: Pairing;
  readonly #identity: Identity;
  readonly #owner: LinkOwner;
  readonly #dial: Dial;
  #socket: Socket | undefined;
  #state: LinkState = { is: 'stopped' };
  #failures = 0;
  #wait: ReturnType<typeof setTimeout> | undefined;
  #beat: ReturnType<typeof setInterval> | undefined;
  #heardAt = 0;
  #beatAt = 0;
  #nonce = '';
  /** The socket at whose other end the server has proved itself. */
  #proven: Socket | undefined;
  /** Open while connected. */
  #line: Line | undefined;

  constructor(pairing: Pairing, identity: Identity, owner: LinkOwner, dial: Dial) {
    this.#pairing = pairing;
    this.#identity = identity;
    this.#owner = owner;
    this.#dial = dial;
  }

  get state(): LinkState {
    return this.#state;
  }

  /** Dials, unless it is connected or about to be. */
  start(): void {
    if (this.#socket === undefined) this.#open();
  }

  /** Ends for good; a last header is sent first. */
  stop(last?: Header): void {
    if (last !== undefined) this.send(last);
    this.#hangUp(1000, 'stopped');
    this.#become({ is: 'stopped' });
  }

  /** Sends when connected; otherwise the message is dropped, because its request went with the connection. */
  send(header: Header, body?: string): void {
    this.#line?.send(header, body);
  }

  #open(): void {
    clearTimeout(this.#wait);
    this.#become({ is: 'connecting' });
    const socket = this.#dial(linkAddress(this.#pairing.server));
    this.#socket = socket;
    this.#wait = setTimeout(() => this.#lost(), openingMS);
    socket.onopen = () => void this.#hello(socket);
    socket.onmessage = (event) => {
      if (this.#socket === socket) this.#take(event.data);
    };
    socket.onclose = (event) => {
      if (this.#socket === socket) this.#closed(event.code, event.reason);
    };
  }

  async #hello(socket: Socket): Promise<void> {
    this.#nonce = newNonce();
    const header = {
      t: 'hello',
      v: 1,
      ...this.#identity,
      token_id: await tokenID(this.#pairing.token),
      nonce: this.#nonce,
      project: this.#pairing.project,
      features: ['cdp'],
    };
    if (this.#socket === socket) socket.send(frame(header));
  }

  /** A server that sends what is no message of the protocol is not listened to any further. */
  #take(data: unknown): void {
    this.#heardAt = Date.now();
    if (typeof data === 'string' && !isOversized(data)) {
      this.#hear(data);
      return;
    }
    const message = 'The server sent more than the protocol permits.';
    this.#refuse(closeProtocol, { code: 'bad_request', message });
  }

  #hear(data: string): void {
    const message = readMessage(data);
    if (message === undefined) return;
    if (message.t === 'refused') {
      this.#refusedBy(message);
    } else if (this.#line !== undefined) {
      this.#owner.received(message, this.#line);
    } else if (message.t === 'challenge') {
      void this.#answer(message.nonce, message.mac);
    } else if (message.t === 'paired') {
      this.#pairedWith(message);
    }
  }

  async #answer(nonce: string, mac: string): Promise<void> {
    const socket = this.#socket;
    const { token, project } = this.#pairing;
    const challenge = { project, extension: this.#nonce, server: nonce };
    const proven = await isProof(token, 'server', challenge, mac);
    const proof = proven ? await prove(token, 'extension', challenge) : '';
    if (socket === undefined || this.#socket !== socket) return;
    if (proven) {
      this.#proven = socket;
      socket.send(frame({ t: 'proof', mac: proof, tabs: this.#owner.tabs() }));
    } else {
      this.#refuse(closeRevoked, {
        code: 'unauthorised',
        message:
          'This connection code is no longer valid, or another server answers at this address.',
      });
    }
  }

  /** Only a server that has proved itself is believed. */
  #pairedWith(paired: Paired): void {
    const socket = this.#socket;
    const isExpected = this.#proven === socket && paired.project.id === this.#pairing.project;
    if (socket === undefined || !isExpected) {
      this.#refuse(closeProtocol, {
        code: 'bad_request',
        message: 'The server spoke out of turn.',
      });
      return;
    }
    clearTimeout(this.#wait);
    this.#failures = 0;
    this.#line = new Line(socket);
    this.#beatAt = Date.now();
    this.#beat = setInterval(() => this.#heartbeat(), Math.min(paired.heartbeatMS, heartbeatMS));
    this.#become({ is: 'connected' });
    this.#owner.paired(paired);
  }

  /**
   * Looks at the clock, because the worker was woken: while a computer sleeps, timers stand still and connections end
   * without a word.
   */
  look(): void {
    if (this.#state.is === 'waiting') {
      if (Date.now() >= this.#state.untilMS) this.#open();
    } else if (this.#line !== undefined && this.#isSilent()) {
      this.#renew();
    }
  }

  #heartbeat(): void {
    const hasSlept = Date.now() - this.#beatAt > 2 * heartbeatMS;
    this.#beatAt = Date.now();
    if (!this.#isSilent()) this.send({ t: 'ping' });
    else if (hasSlept) this.#renew();
    else this.#lost();
  }

  #isSilent(): boolean {
    return Date.now() - this.#heardAt > silencesUntilDead * heartbeatMS;
  }

  /** Dials anew without a wait. */
  #renew(): void {
    this.#hangUp(1000, '');
    this.#open();
  }

  #refusedBy(refused: Extract<ServerMessage, { t: 'refused' }>): void {
    if (refused.retry) this.#lost();
    else this.#refuse(1000, { code: refused.code, message: refused.message });
  }

  #closed(code: number, reason: string): void {
    const why = refusals.get(code);
    if (why !== undefined) {
      this.#refuse(1000, { code: why.code, message: reason || why.message });
    } else if (code === closeExpired && this.#state.is === 'connected') {
      this.#renew();
    } else {
      this.#lost();
    }
  }

  #refuse(code: number, why: Refused): void {
    this.#hangUp(code, '');
    this.#become({ is: 'refused', why });
  }

  #lost(): void {
    this.#hangUp(1000, '');
    const longest = Math.min(longestWaitMS, firstWaitMS * 2 ** this.#failures);
    const wait = longest * (0.5 + Math.random() / 2);
    this.#failures += 1;
    this.#wait = setTimeout(() => this.#open(), wait);
    this.#become({ is: 'waiting', untilMS: Date.now() + wait });
  }

  #hangUp(code: number, reason: string): void {
    clearTimeout(this.#wait);
    clearInterval(this.#beat);
    const socket = this.#socket;
    this.#socket = undefined;
    this.#proven = undefined;
    this.#line?.end();
    this.#line = undefined;
    socket?.close(code, reason);
  }

  #become(state: LinkState): void {
    this.#state = state;
    this.#owner.changed(state);
  }
}

const refusals: ReadonlyMap<number, Refused> = new Map([
  [
    closeRevoked,
    { code: 'unauthorised', message: 'The server no longer accepts this connection.' },
  ],
  [closeReplaced, { code: 'replaced', message: 'Another browser took this connection over.' }],
  [
    closeProtocol,
    { code: 'update_required', message: 'The extension and the server are of different versions.' },
  ],
]);
