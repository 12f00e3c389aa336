import { type Fields, fields, member, text } from './parse.ts';

/** A target session below a tab's page: a cross-site frame, a worker, or one in such a child. */
export type Child = {
  session: string;
  /** The target session it was announced in; empty for the page's own. */
  parent: string;
  type: string;
  url: string;
  /** It stands still until it is told to run. */
  isWaiting: boolean;
  /** Of Target.attachedToTarget, as Chrome told it. */
  params: Fields;
};

/**
 * Service workers are never attached: one that waits makes its pages hang. The rest is what Chrome itself leaves out.
 */
const forClients = [
  { type: 'browser', exclude: true },
  { type: 'tab', exclude: true },
  { type: 'service_worker', exclude: true },
  {},
];

const forPrograms = [{ type: 'iframe' }];

/**
 * The children of one attached tab, and what they are attached by. Programs and clients share them: whoever begins later
 * is told of those that are there.
 */
export class Children {
  readonly #known = new Map<string, Child>();
  /** The target sessions whose children are attached: whether a client wants new ones to wait. */
  readonly #asked = new Map<string, boolean>();
  #isHeld: boolean = false;

  /** In the order of their attachment, so that a parent comes before its children. */
  get all(): Child[] {
    return [...this.#known.values()];
  }

  of(parent: string): Child[] {
    return this.all.filter((child) => child.parent === parent);
  }

  has(session: string): boolean {
    return this.#known.has(session);
  }

  get(session: string): Child | undefined {
    return this.#known.get(session);
  }

  /** Takes note of an event of the tab; the answer is a child that has come by it. */
  apply(parent: string, method: string, params: unknown): Child | undefined {
    const told = fields(params);
    const session = text(told, 'sessionId') ?? '';
    if (method === 'Target.attachedToTarget') return this.#add(parent, session, told);
    if (method === 'Target.detachedFromTarget') this.#drop(session);
    if (method === 'Target.targetInfoChanged') this.#rename(fields(member(told, 'targetInfo')));
    if (method === 'Page.frameNavigated') this.#navigate(parent, fields(member(told, 'frame')));
    return undefined;
  }

  /** The child runs: somebody told it to. */
  resumed(session: string): void {
    const child = this.#known.get(session);
    if (child !== undefined) child.isWaiting = false;
  }

  get waiting(): Child[] {
    return this.all.filter((child) => child.isWaiting);
  }

  /** Clients come, or the last of them goes. The answer is the target sessions whose children are to be asked for anew. */
  hold(isHeld: boolean): string[] {
    this.#isHeld = isHeld;
    const before = [...this.#asked.keys()];
    if (isHeld) return [...new Set(['', ...before, ...this.all.map(({ session }) => session)])];
    this.#asked.clear();
    for (const session of before) this.#asked.set(session, false);
    return before;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /**
   * Asks for a target session's children, on behalf of a client that wants them to wait or not, or of nobody in
   * particular. The answer is the parameters of Target.setAutoAttach, or `undefined` where it is so already.
   */
  ask(session: string, wait?: boolean): object | undefined {
    const before = this.#asked.get(session);
    const wanted = wait ?? before ?? false;
    if (before === wanted) return undefined;
    this.#asked.set(session, wanted);
    return this.attaching(session);
  }

  /** The parameters of Target.setAutoAttach as they count for a target session now. */
  attaching(session: string): object {
    return {
      autoAttach: true,
      waitForDebuggerOnStart: this.#isHeld && (this.#asked.get(session) ?? false),
      flatten: true,
      filter: this.#isHeld ? forClients : forPrograms,
    };
  }

  #add(parent: string, session: string, params: Fields | undefined): Child | undefined {
    if (params === undefined || session === '') return undefined;
    const info = fields(member(params, 'targetInfo'));
    const child = {
      session,
      parent,
      type: text(info, 'type') ?? '',
      url: text(info, 'url') ?? '',
      isWaiting: member(params, 'waitingForDebugger') === true,
      params,
    };
    this.#known.set(session, child);
    return child;
  }

  /** Forgets a child and all that were announced in it. */
  #drop(session: string): void {
    this.#known.delete(session);
    this.#asked.delete(session);
    for (const child of this.of(session)) this.#drop(child.session);
  }

  /** A frame that is a child's own is at another address. */
  #navigate(session: string, frame: Fields | undefined): void {
    const targetId = text(fields(member(this.get(session)?.params, 'targetInfo')), 'targetId');
    if (targetId !== undefined && targetId === text(frame, 'id')) {
      this.#rename({ targetId, url: text(frame, 'url') });
    }
  }

  #rename(info: Fields | undefined): void {
    const target = text(info, 'targetId');
    const url = text(info, 'url');
    for (const child of this.all) {
      const known = fields(member(child.params, 'targetInfo'));
      if (url === undefined || text(known, 'targetId') !== target) continue;
      child.url = url;
      child.params = { ...child.params, targetInfo: { ...known, url } };
    }
  }
}
