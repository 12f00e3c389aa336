import { frame, type Header } from './wire.ts';

/** The part of a WebSocket that a link uses. */
export type Socket = Pick<
  WebSocket,
  'send' | 'close' | 'bufferedAmount' | 'onopen' | 'onmessage' | 'onclose'
>;

/**
 * One connection from its pairing to its end. Requests are numbered anew on each, so an answer goes to the line its
 * request came over or nowhere.
 */
export class Line {
  #socket: Socket | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  send(header: Header, body?: string): void {
    this.#socket?.send(frame(header, body));
  }

  /** Bytes handed over that the network has not taken yet. */
  get backlog(): number {
    return this.#socket?.bufferedAmount ?? 0;
  }

  /** What is sent from now on is dropped. */
  end(): void {
    this.#socket = undefined;
  }
}
