import { within } from './attach.ts';
import type { Hold } from './holds.ts';
import { type Fields, fields, member, text } from './parse.ts';

/** A page that does not answer sooner hangs, and is held as one like any other. */
const tellsMS = 500;
/** A document waits so long for a page to say whose it is; then it is taken for the page's own. */
const placedMS = 2000;

/** More frames than this are not remembered. */
const mostFrames = 2000;

/** By these Chrome tells of a frame that is there; after a page that was loaded ahead is shown, of its own alone. */
const naming: ReadonlySet<string> = new Set([
  'Page.frameStartedLoading',
  'Page.frameStoppedLoading',
  'Runtime.executionContextCreated',
]);

type Known = {
  /** Where the frames below the page's own went last, as far as their documents waited. */
  below: Map<string, string>;
  /** Being asked; whether the page told. */
  asked?: Promise<boolean>;
};

type Rooms = {
  /** Asks the page of a tab for its frames. */
  frameTree(hold: Hold): Promise<Fields | undefined>;
  /** Another page is in the place of a held one, with nothing told of how it came. */
  replaced(hold: Hold): void;
};

/**
 * Which frame of a held tab is the page's own, and which are below it. The page's own is mostly called as the tab's target
 * is; that of a page which Chrome had loaded ahead keeps the name that it had then.
 */
export class Root {
  readonly #rooms: Rooms;
  readonly #known = new WeakMap<Hold, Known>();

  constructor(rooms: Rooms) {
    this.#rooms = rooms;
  }

  /** The tab is attached anew: what was known of its frames is over. */
  begin(hold: Hold): void {
    this.#known.set(hold, { below: new Map() });
    hold.frame = hold.target;
  }

  /** Learns which frame is the page's own, where the page tells. */
  async learn(hold: Hold): Promise<void> {
    let root: string | undefined;
    const asked = this.#ask(hold).then((id) => {
      root = id;
    });
    await within(tellsMS, asked);
    hold.frame = root ?? hold.target;
  }

  /** Takes note of the frames that the page's own target session tells of. */
  event(hold: Hold, method: string, params: unknown): void {
    const told = fields(params);
    const frame = frameIn(told);
    if (method === 'Page.frameAttached') this.note(hold, frame, '');
    if (method === 'Page.frameNavigated') this.#navigated(hold, told);
    if (naming.has(method) && this.#isUnknown(hold, frame)) void this.#look(hold);
  }

  /** Calls `then` with whether a frame of the page's target session is the page's own, at once where that is known. */
  whenPlaced(hold: Hold, frame: string, then: (isOwn: boolean) => void): void {
    if (!this.#isUnknown(hold, frame)) {
      then(frame === hold.frame);
      return;
    }
    const known = this.#known.get(hold);
    void this.#look(hold).then((isTold) => {
      // Of another attachment, or of a page that is no more, nobody waits.
      if (this.#known.get(hold) !== known) return;
      // One that the page does not know of any more is gone.
      then(frame === hold.frame || (!isTold && this.#isUnknown(hold, frame)));
    });
  }

  /** Remembers where a frame goes. Of one beyond the bound nobody knows, and then clients are not in it. */
  note(hold: Hold, frame: string, url: string): void {
    const below = this.#known.get(hold)?.below;
    if (below?.has(frame) || (below?.size ?? 0) < mostFrames) below?.set(frame, url);
  }

  /** A frame is no more; one that another process takes over goes on. */
  detached(hold: Hold, params: unknown): void {
    const told = fields(params);
    if (text(told, 'reason') !== 'swap') this.#known.get(hold)?.below.delete(frameIn(told));
  }

  /** Where a frame is going or has gone, as far as its documents waited. */
  boundFor(hold: Hold, frame: string): string {
    return this.#known.get(hold)?.below.get(frame) ?? '';
  }

  #isUnknown(hold: Hold, frame: string): boolean {
    return frame !== '' && frame !== hold.frame && !this.#known.get(hold)?.below.has(frame);
  }

  #navigated(hold: Hold, told: Fields | undefined): void {
    const frame = fields(member(told, 'frame'));
    if (text(frame, 'parentId') !== undefined) return;
    if (text(frame, 'id') === hold.frame) this.#known.get(hold)?.below.clear();
    else void this.#look(hold);
  }

  /** Asks the page for its frames, once at a time, and says so where it is another page. Whether it answered in time. */
  async #look(hold: Hold): Promise<boolean> {
    const known = this.#known.get(hold);
    if (known === undefined) return false;
    known.asked ??= this.#ask(hold).then((root) => {
      const isOther = root !== undefined && root !== hold.frame && hold.state === 'held';
      if (isOther && this.#known.get(hold) === known) this.#rooms.replaced(hold);
      return root !== undefined;
    });
    const { asked } = known;
    let isTold = false;
    const told = asked.then((is) => {
      isTold = is;
    });
    await within(placedMS, told);
    if (known.asked === asked) delete known.asked; // what comes later is asked for anew
    return isTold;
  }

  /** The id of the page's own frame, where it answers; those below it are taken down. */
  async #ask(hold: Hold): Promise<string | undefined> {
    const known = this.#known.get(hold);
    const tree = await this.#rooms.frameTree(hold).catch(() => undefined);
    if (tree === undefined || this.#known.get(hold) !== known) return undefined;
    for (const below of childrenOf(tree)) this.#place(hold, below);
    return text(fields(member(tree, 'frame')), 'id');
  }

  #place(hold: Hold, tree: Fields): void {
    const id = text(fields(member(tree, 'frame')), 'id') ?? '';
    if (this.#isUnknown(hold, id)) this.note(hold, id, '');
    for (const below of childrenOf(tree)) this.#place(hold, below);
  }
}

/** The frame that an event is about. */
function frameIn(told: Fields | undefined): string {
  const context = fields(member(fields(member(told, 'context')), 'auxData'));
  return text(told, 'frameId') ?? text(context, 'frameId') ?? '';
}

function childrenOf(tree: Fields): Fields[] {
  const below = member(tree, 'childFrames');
  const all: unknown[] = Array.isArray(below) ? below : [];
  return all.map(fields).filter((child) => child !== undefined);
}
