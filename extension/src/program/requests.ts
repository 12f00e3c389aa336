import { at, textAt } from '../policy/json.ts';
import type { Answer } from './types.ts';

/** Bounds what is kept of a server's challenge. */
const MAX_CHALLENGE = 300;

/** Bounds how many requests are waited for; a page that sends more is not. */
const MAX_REQUESTS = 200;

/** How often an address is waited for: who asks there again is asking over and over. */
const MOST_ASKED = 3;

/** The types of requests whose answers change what a page says or can do. */
const CHANGING = ['Document', 'XHR', 'Fetch', 'Script', 'Stylesheet'];

/** The requests of the page itself since the program began to hear of them. */
export class Requests {
  /** What is sent now is the program's doing. */
  counts: boolean;
  /** What became of the latest request for the main frame's document. */
  answer: Answer | undefined;
  /** By id: the address without its query. */
  readonly #open = new Map<string, string>();
  /** How often addresses were waited for. */
  readonly #over = new Map<string, number>();
  /** By frame: the id of the request for its document, which may end where nobody listens. */
  readonly #frames = new Map<string, string>();
  /** The id of the latest request for the main frame's document. */
  #document = '';

  constructor(counts: boolean) {
    this.counts = counts;
  }

  /** How many requests of the program have no answer yet. */
  get underWay(): number {
    return this.#open.size;
  }

  /** A browser with a window asks the person for a user and a password, and nothing comes until that is done. */
  get isChallenged(): boolean {
    return this.answer?.challenge !== undefined && this.answer.status === undefined;
  }

  /** Takes note of one Network event of the page's own target session. */
  apply(mainFrame: string, method: string, params: unknown): void {
    const id = textAt(params, 'requestId');
    switch (method) {
      case 'Network.requestWillBeSent':
        this.#sent(mainFrame, id, params);
        return;
      case 'Network.responseReceived':
        this.#received(id, at(params, 'response'));
        return;
      case 'Network.responseReceivedExtraInfo':
        if (id === this.#document && [401, 407].includes(Number(at(params, 'statusCode')))) {
          this.#challenge(at(params, 'headers'));
        }
        return;
      case 'Network.loadingFinished':
      case 'Network.loadingFailed':
        this.#finish(id, textAt(params, 'errorText'));
        return;
      default:
        return;
    }
  }

  /** A frame's document is there, or in a process of its own. */
  arrive(frame: string): void {
    const id = this.#frames.get(frame);
    if (id === undefined) return;
    this.#frames.delete(frame);
    this.#finish(id, '');
  }

  /** Forgets the requests of a document that is gone. */
  leave(): void {
    this.#open.clear();
    this.#over.clear();
    this.#frames.clear();
    this.counts = true;
  }

  #sent(mainFrame: string, id: string, params: unknown): void {
    const type = textAt(params, 'type');
    const url = textAt(params, 'request', 'url');
    if (type === 'Document' && textAt(params, 'frameId') === mainFrame) {
      const isSentOn = id === this.#document && at(params, 'redirectResponse') !== undefined;
      const from = isSentOn ? (this.answer?.from ?? this.answer?.url) : undefined;
      this.#document = id;
      this.answer = { url, ...(from !== undefined && { from }) };
      return;
    }
    const [address = ''] = url.split('?', 1);
    const isOne =
      this.counts && CHANGING.includes(type) && (this.#over.get(address) ?? 0) < MOST_ASKED;
    if (!isOne || this.#open.size >= MAX_REQUESTS) return;
    this.#open.set(id, address);
    if (type === 'Document') this.#frames.set(textAt(params, 'frameId'), id);
  }

  #received(id: string, response: unknown): void {
    const type = textAt(response, 'mimeType');
    if (type === 'text/event-stream') this.#open.delete(id); // it ends when the page does
    if (id !== this.#document || this.answer === undefined) return;
    const status = Number(at(response, 'status'));
    if (status !== 0) this.answer.status = status;
    if (type !== '') this.answer.type = type;
    this.#challenge(at(response, 'headers'));
  }

  /** What the page sends on an answer is still the program's doing. */
  #finish(id: string, error: string): void {
    if (id === this.#document && this.answer !== undefined && error !== '') {
      this.answer.error = error;
    }
    const address = this.#open.get(id);
    if (address === undefined) return;
    this.#open.delete(id);
    this.#over.set(address, (this.#over.get(address) ?? 0) + 1);
    this.counts = true;
  }

  #challenge(headers: unknown): void {
    if (this.answer === undefined || typeof headers !== 'object' || headers === null) return;
    for (const [name, value] of Object.entries(headers)) {
      if (/^(www|proxy)-authenticate$/i.test(name)) {
        this.answer.challenge = String(value).slice(0, MAX_CHALLENGE);
      }
    }
  }
}
