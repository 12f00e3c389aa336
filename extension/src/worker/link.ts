import { linkAddress } from './code.ts';
import type { Pairing, Refused } from './pairings.ts';
import { isProof, newNonce, prove, tokenID } from './proof.ts';
import { frame, type Header, readMessage, type ServerMessage, type Tab } from './wire.ts';

/** The part of a WebSocket that a link uses. */
export type Socket = Pick<
  WebSocket,
  'send' | 'close' | 'bufferedAmount' | 'onopen' | 'onmessage' | 'onclose'
>;

export type LinkState =
  | { is: 'connecting' }
  | { is: 'connected' }
  | { is: 'waiting' }
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
  received(message: ServerMessage): void;
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
  #nonce = '';
  /** The socket at whose other end the server has proved itself. */
  #proven: Socket | undefined;

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
    if (this.#state.is === 'connected') this.#socket?.send(frame(header, body));
  }

  /** Bytes handed over that the network has not taken yet. */
  get backlog(): number {
    return this.#socket?.bufferedAmount ?? 0;
  }

  #open(): void {
    clearTimeout(this.#wait);
    this.#become({ is: 'connecting' });
    const socket = this.#dial(linkAddress(this.#pairing.server));
    this.#socket = socket;
    this.#wait = setTimeout(() => this.#lost(), openingMS);
    socket.onopen = () => void this.#hello(socket);
    socket.onmessage = (event) => {
      if (this.#socket === socket && typeof event.data === 'string') this.#hear(event.data);
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
      features: [],
    };
    if (this.#socket === socket) socket.send(frame(header));
  }

  #hear(data: string): void {
    this.#heardAt = Date.now();
    const message = readMessage(data);
    if (message === undefined) return;
    if (message.t === 'refused') {
      this.#refusedBy(message);
    } else if (this.#state.is === 'connected') {
      this.#owner.received(message);
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
        message: 'Whoever answers at this address is not the server you connected to.',
      });
    }
  }

  /** Only a server that has proved itself is believed. */
  #pairedWith(paired: Paired): void {
    if (this.#proven !== this.#socket || paired.project.id !== this.#pairing.project) {
      this.#refuse(closeProtocol, {
        code: 'bad_request',
        message: 'The server spoke out of turn.',
      });
      return;
    }
    clearTimeout(this.#wait);
    this.#failures = 0;
    this.#beat = setInterval(() => this.#heartbeat(), Math.min(paired.heartbeatMS, heartbeatMS));
    this.#become({ is: 'connected' });
    this.#owner.paired(paired);
  }

  #heartbeat(): void {
    if (Date.now() - this.#heardAt > silencesUntilDead * heartbeatMS) this.#lost();
    else this.send({ t: 'ping' });
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
      this.#hangUp(1000, '');
      this.#open();
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
    const wait = Math.min(longestWaitMS, firstWaitMS * 2 ** this.#failures);
    this.#failures += 1;
    this.#wait = setTimeout(() => this.#open(), wait * (0.5 + Math.random() / 2));
    this.#become({ is: 'waiting' });
  }

  #hangUp(code: number, reason: string): void {
    clearTimeout(this.#wait);
    clearInterval(this.#beat);
    const socket = this.#socket;
    this.#socket = undefined;
    this.#proven = undefined;
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
