import type { Book } from './book.ts';
import type { Hold } from './holds.ts';
import { type Fields, fields, member, text } from './parse.ts';
import { Root } from './root.ts';
import type { Seats } from './seats.ts';
import { Refusal } from './wire.ts';

/** A tab that is on its way somewhere when its clients come has arrived by then, or they come later. */
const arrivesMS = 5000;
const lookMS = 25;

/** Documents wait for the edge before they are asked for, from wherever: redirects, forms and files too. */
const documents = {
  patterns: [{ urlPattern: '*', resourceType: 'Document', requestStage: 'Request' }],
};

/** Where an attached tab can go and stay attached. The other schemes load nothing, or only what is the page's own. */
const loading = /^(https?|file|filesystem|chrome-extension|view-source):/;

/** Pages whose documents wait for nobody, so that a tab with one behind it could go there unasked. */
const unasked = /^chrome-extension:/;

/** By these a page has arrived, or stays where it is. */
const arriving: ReadonlySet<string> = new Set([
  'Page.frameNavigated',
  'Page.frameStoppedLoading',
  'Page.navigatedWithinDocument',
]);

/** What Chrome tells of a tab beside the debugger. */
export type Sight = {
  /** Where the tab is, `undefined` while it is on its way to another page. */
  at(tab: number): Promise<string | undefined>;
  /** Where all its frames are. */
  frames(tab: number): Promise<string[]>;
};

type Rooms = {
  book: Book;
  seats: Seats;
  sight: Sight;
  /** Lets a tab go that is about to be where its grant does not reach. */
  leaving(tab: number, url: string): void;
  /** A page of Chaperone's own server is in a frame all the same. */
  intruded(hold: Hold): void;
  /** Another page is in the place of a held one, with nothing told of how it came. */
  replaced(hold: Hold): void;
};

/**
 * Stands before each document that a held tab loads. Chrome carries a client's scripts and commands along into whatever
 * document comes next; so a tab is let go before one that its grant does not reach, and no page of Chaperone's own
 * server is loaded in a frame of it.
 */
export class Passage {
  readonly #rooms: Rooms;
  readonly #root: Root;

  constructor(rooms: Rooms) {
    this.#rooms = rooms;
    this.#root = new Root({
      frameTree: async (hold) =>
        fields(member(fields(await this.#call(hold, 'Page.getFrameTree', {})), 'frameTree')),
      replaced: (hold) => rooms.replaced(hold),
    });
  }

  /** Makes the documents of a tab wait. It rejects where one is there, or may come, that clients may not be in. */
  async close(hold: Hold): Promise<void> {
    this.#root.begin(hold);
    hold.isCrossing = false; // what the attachment before told last is over
    await this.#call(hold, 'Fetch.enable', documents);
    const url = await this.#arrived(hold.tab);
    const problem = url === undefined ? moving : this.#problemAt(hold, url);
    if (problem !== undefined) throw new Refusal('tab_suspended', problem);
    const frames = await this.#rooms.sight.frames(hold.tab);
    if (frames.some((frame) => this.#isOwn(frame))) throw new Refusal('tab_suspended', framed);
    const history = await this.#call(hold, 'Page.getNavigationHistory', {});
    const entries = member(fields(history), 'entries');
    const urls = Array.isArray(entries) ? entries.map((entry) => text(fields(entry), 'url')) : [];
    if (urls.some((entry = '') => unasked.test(entry))) throw new Refusal('tab_suspended', behind);
    if (urls.some((entry = '') => this.#isOwn(entry)))
      throw new Refusal('tab_suspended', ownBehind);
    await this.#root.learn(hold);
  }

  /** As close, for a frame that has a target session of its own; it resolves at once. */
  closeFrame(hold: Hold, child: string): void {
    this.#tell(hold, child, 'Fetch.enable', documents);
  }

  /** Lets documents of a tab pass again, in a target session of it that no client has been in. */
  open(hold: Hold, child: string): void {
    this.#tell(hold, child, 'Fetch.disable', {});
  }

  /** Judges a document that waits, or one that is there. */
  event(hold: Hold, child: string, method: string, params: unknown): void {
    if (method === 'Fetch.requestPaused') this.#judge(hold, child, params);
    if (method === 'Page.frameNavigated') this.#look(hold, child, params);
    if (method === 'Page.frameDetached') this.#root.detached(hold, params);
    if (child !== '') return;
    this.#follow(hold, method, fields(params));
    this.#root.event(hold, method, params);
  }

  /** Follows the page's own document: from when it begins to go until it is there, or is judged on its way. */
  #follow(hold: Hold, method: string, told: Fields | undefined): void {
    const navigated = fields(member(told, 'frame'));
    const frame = text(navigated, 'id') ?? text(told, 'frameId');
    if (frame !== hold.frame) return;
    if (method === 'Page.frameStartedNavigating') {
      hold.isCrossing = !/samedocument/i.test(text(told, 'navigationType') ?? '');
    }
    if (arriving.has(method)) hold.isCrossing = false;
  }

  /** A page of an attached tab goes somewhere; not all that it can go to is asked for by a request. */
  started(tab: number, main: string, params: unknown): void {
    const told = fields(params);
    const url = text(told, 'url') ?? '';
    const grant = this.#rooms.book.ofTab(tab)?.grant;
    if (grant === undefined || text(told, 'frameId') !== main || !loading.test(url)) return;
    if (this.#rooms.book.problemAt(grant, url) !== undefined) this.#rooms.leaving(tab, url);
  }

  /** Where a frame is going or has gone, as far as its documents waited. */
  boundFor(hold: Hold, frame: string): string {
    return this.#root.boundFor(hold, frame);
  }

  #judge(hold: Hold, child: string, params: unknown): void {
    const told = fields(params);
    const url = text(fields(member(told, 'request')), 'url') ?? '';
    const frame = text(told, 'frameId') ?? '';
    const pass = (isRefused: boolean) => this.#pass(hold, child, told, isRefused);
    if (child !== '') {
      this.#root.note(hold, frame, url);
      pass(this.#isOwn(url));
      return;
    }
    this.#root.whenPlaced(hold, frame, (isOwn) => {
      if (!isOwn) {
        this.#root.note(hold, frame, url);
        pass(this.#isOwn(url));
      } else if (this.#problemAt(hold, url) !== undefined) {
        this.#rooms.leaving(hold.tab, url); // with the attachment goes what holds the request
      } else {
        hold.isCrossing = false;
        pass(false);
      }
    });
  }

  #pass(hold: Hold, child: string, told: Fields | undefined, isRefused: boolean): void {
    const requestId = text(told, 'requestId') ?? '';
    const refusal = isRefused ? { errorReason: 'BlockedByClient' } : {};
    const method = isRefused ? 'Fetch.failRequest' : 'Fetch.continueRequest';
    this.#tell(hold, child, method, { requestId, ...refusal });
  }

  /** A frame of a child could be asked for before the child's documents waited. */
  #look(hold: Hold, child: string, params: unknown): void {
    const frame = fields(member(fields(params), 'frame'));
    const info = fields(
      member(this.#rooms.seats.children(hold.tab)?.get(child)?.params, 'targetInfo'),
    );
    const isWhole = text(frame, 'id') === (text(info, 'targetId') ?? hold.frame);
    if (!isWhole && this.#isOwn(text(frame, 'url') ?? '')) this.#rooms.intruded(hold);
  }

  /** Why clients may not be in a document of a tab; a tab that is shared no more is in none. */
  #problemAt(hold: Hold, url: string): string | undefined {
    const grant = this.#rooms.book.ofName(hold.key, hold.name)?.grant;
    return grant === undefined ? moving : this.#rooms.book.problemAt(grant, url);
  }

  #isOwn(url: string): boolean {
    return this.#rooms.book.isOwn(url);
  }

  /** Waits until the tab is somewhere: what was asked for before documents waited is not held back by them. */
  async #arrived(tab: number): Promise<string | undefined> {
    const until = Date.now() + arrivesMS;
    let url = await this.#rooms.sight.at(tab);
    while (url === undefined && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, lookMS));
      url = await this.#rooms.sight.at(tab);
    }
    return url;
  }

  #call({ tab }: Hold, method: string, params: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#rooms.seats.command(tab, undefined, method, params, (result, problem) => {
        if (problem === undefined) resolve(result);
        else reject(new Error(problem));
      });
    });
  }

  #tell({ tab }: Hold, child: string, method: string, params: object): void {
    try {
      this.#rooms.seats.command(tab, child || undefined, method, params, () => undefined);
    } catch {
      // The tab may not be seen any more: it is about to be let go.
    }
  }
}

const moving = 'The tab is on its way to another page.';
const framed = 'This page has Chaperone’s own pages in it.';
const behind =
  'A page of an extension is in this tab’s history. Open the page in a new tab and share that one.';
const ownBehind =
  'A page of Chaperone’s own server is in this tab’s history. Open the page in a new tab and share that one.';
