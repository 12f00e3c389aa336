import type { Book } from './book.ts';
import { hasFrame, withoutFrames } from './frames.ts';
import { fields, member, text } from './parse.ts';
import { Refusal } from './wire.ts';

/** Sends a command to a target session of a tab. */
type Send = (
  tab: number,
  child: string | undefined,
  method: string,
  params: object | undefined,
) => Promise<unknown>;

/**
 * How far programs reach: no frame where the grant does not reach is told of, and nothing runs in one. Other sites' frames
 * in a tab that stays on its own are such, and Chaperone's own pages anywhere.
 */
export class Reach {
  readonly #book: Pick<Book, 'ofTab' | 'isAway'>;
  readonly #send: Send;

  constructor(book: Pick<Book, 'ofTab' | 'isAway'>, send: Send) {
    this.#book = book;
    this.#send = send;
  }

  /** Sends a command and answers what of its reply is within reach. */
  async send(...[tab, child, method, params]: Parameters<Send>): Promise<unknown> {
    const reply = await this.#send(tab, child, method, params);
    if (method === 'Page.getFrameTree') return { frameTree: this.#tree(tab, child, reply) };
    if (method === 'Page.createIsolatedWorld') await this.#stay(tab, child, fields(params));
    return reply;
  }

  /** The frame may have gone elsewhere since it was told of; a world goes with its document. */
  async #stay(
    tab: number,
    child: string | undefined,
    params: ReturnType<typeof fields>,
  ): Promise<void> {
    const reply = await this.#send(tab, child, 'Page.getFrameTree', {});
    if (!hasFrame(this.#tree(tab, child, reply), text(params, 'frameId') ?? '')) throw notThere();
  }

  #tree(tab: number, child: string | undefined, reply: unknown): unknown {
    const grant = this.#book.ofTab(tab)?.grant;
    const isBarred = (url: string) => grant === undefined || this.#book.isAway(grant, url);
    const frameTree = withoutFrames(member(fields(reply), 'frameTree'), isBarred);
    if (frameTree !== undefined) return frameTree;
    throw child === undefined
      ? new Refusal('tab_suspended', 'This page is not for agents.')
      : notThere();
  }
}

function notThere(): Refusal {
  return new Refusal('forbidden', 'This frame is not for agents.');
}
