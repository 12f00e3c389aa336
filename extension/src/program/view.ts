import { at, textAt } from '../policy/json.ts';
import { judgeEvent, type Level } from '../policy/table.ts';
import type { Span } from './clock.ts';
import { Navigation } from './navigation.ts';
import { Requests } from './requests.ts';
import type { Dialog } from './types.ts';
import type { Place, World } from './world.ts';

/** Bounds what a page that opens dialogs without end adds to a result. */
const MAX_RECORDED_DIALOGS = 32;

/** The type of a navigation that brings back a document as it was left: it does not load. */
const RESTORED = 'BackForwardCacheRestore';

/** An out-of-process frame. */
export type ChildTarget = {
  session: string;
  frame: string;
  /** The target session it was announced in. */
  parent: string;
  /** It has been asked for its own events and frames. */
  isEnabled: boolean;
};

/** What the tab's events have told so far. */
export class View {
  mainFrame = '';
  url = '';
  /** In the order of their attachment. */
  children: ChildTarget[] = [];
  /** By frame id; gone as soon as the frame's document is. */
  readonly worlds = new Map<string, World>();
  // The rest counts from the program's start.
  readonly seen = new Map<string, unknown>();
  navigation = new Navigation();
  requests = new Requests(false);
  /** The frame, other than the main one, that the program last acted in. */
  acted: Place | undefined;
  dialogs: Dialog[] = [];
  /** How many dialogs have opened, ever. */
  opened = 0;
  /** How many had opened when the program began. */
  own = 0;
  /** The kinds of dialogs that stay open. */
  keep: readonly string[] = [];
  isBlocked: boolean = false;
  isEnded: boolean = false;
  /** Of the program under way. */
  level: Level = 'read';
  readonly #waiting = new Set<() => void>();

  /** Waits until `holds` answers true; rejects when the span is over first. */
  async until(span: Span, holds: () => boolean): Promise<void> {
    if (holds()) return;
    let look = () => {};
    const met = new Promise<void>((resolve) => {
      look = () => {
        if (holds()) resolve();
      };
    });
    this.#waiting.add(look);
    try {
      await span.bound(met);
    } finally {
      this.#waiting.delete(look);
    }
  }

  /** Changes what is known and wakes who waits for it. */
  update(change: () => void): void {
    change();
    for (const look of [...this.#waiting]) look();
  }

  /**
   * Starts the count of a program that keeps dialogs of some kinds open, which none does at level read. A dialog that is
   * open already is the program's to answer.
   */
  begin(level: Level, keep: readonly string[]): void {
    this.level = level;
    this.keep = level === 'act' ? keep : [];
    this.own = this.opened;
    this.isEnded = false;
    this.navigation = this.navigation.afterwards();
    this.requests = new Requests(false);
    this.acted = undefined;
    this.seen.clear();
    this.dialogs = this.isBlocked ? this.dialogs.slice(-1) : [];
  }

  /** Is a dialog open that stays so? */
  get isKept(): boolean {
    return this.isBlocked && this.keep.includes(this.dialogs.at(-1)?.type ?? '');
  }

  /** The dialogs of the program, as they are told. */
  recorded(): Dialog[] {
    const last = this.dialogs.length - 1;
    return this.dialogs.map((dialog, i) => ({
      ...dialog,
      ...(this.isBlocked && i === last && { open: true as const }),
    }));
  }

  /** Drops what was known of a tab that is being attached anew. */
  forget(): void {
    this.navigation = new Navigation();
    this.children = [];
    this.worlds.clear();
    this.dialogs = [];
    this.isBlocked = false;
  }

  /** Takes note of one event; one that is none of its business changes nothing. */
  apply(session: string, method: string, params: unknown): void {
    this.update(() => {
      if (
        session === '' &&
        !this.seen.has(method) &&
        judgeEvent(this.level, method).reason === ''
      ) {
        this.seen.set(method, params ?? null);
      }
      this.#applyFrame(session, method, params);
      if (session !== '') return;
      this.requests.apply(this.mainFrame, method, params);
      this.#applyMain(method, params);
      this.#applyDialog(method, params);
    });
  }

  /** Keeps the worlds and the child targets true. */
  #applyFrame(session: string, method: string, params: unknown): void {
    switch (method) {
      case 'Page.frameNavigated':
        this.worlds.delete(textAt(params, 'frame', 'id'));
        return;
      case 'Page.frameStoppedLoading':
        this.requests.arrive(textAt(params, 'frameId'));
        return;
      case 'Page.frameDetached': {
        const frame = textAt(params, 'frameId');
        this.requests.arrive(frame);
        if (this.worlds.get(frame)?.child === session) this.worlds.delete(frame);
        return;
      }
      case 'Target.attachedToTarget':
        this.requests.arrive(textAt(params, 'targetInfo', 'targetId'));
        this.#addChild(session, params);
        return;
      case 'Target.detachedFromTarget':
        this.#dropChild(textAt(params, 'sessionId'));
        return;
      default:
        return;
    }
  }

  #addChild(parent: string, params: unknown): void {
    const session = textAt(params, 'sessionId');
    if (session === '' || textAt(params, 'targetInfo', 'type') !== 'iframe') return;
    if (this.children.some((child) => child.session === session)) return;
    const frame = textAt(params, 'targetInfo', 'targetId');
    this.children.push({ session, frame, parent, isEnabled: false });
  }

  /** Forgets a child target and all that were announced in it. */
  #dropChild(session: string): void {
    const gone = new Set([session]);
    this.children = this.children.filter((child) => {
      if (gone.has(child.parent)) gone.add(child.session);
      return !gone.has(child.session);
    });
    for (const [frame, { child }] of this.worlds) if (gone.has(child)) this.worlds.delete(frame);
  }

  /** Follows the main frame's navigations. */
  #applyMain(method: string, params: unknown): void {
    if (method === 'Page.loadEventFired') this.navigation.load();
    if (method === 'Page.domContentEventFired') this.navigation.parse();
    if (method === 'Page.frameNavigated' && textAt(params, 'frame', 'parentId') === '') {
      this.mainFrame = textAt(params, 'frame', 'id');
      this.url = textAt(params, 'frame', 'url');
      this.navigation.commit(textAt(params, 'frame', 'loaderId'));
      this.requests.leave();
      if (textAt(params, 'type') === RESTORED) this.navigation.stop();
    }
    if (textAt(params, 'frameId') === this.mainFrame) this.#applyNavigation(method, params);
  }

  #applyNavigation(method: string, params: unknown): void {
    switch (method) {
      case 'Page.frameRequestedNavigation':
        if (['', 'currentTab'].includes(textAt(params, 'disposition'))) this.navigation.request();
        return;
      case 'Page.frameStartedNavigating': {
        const type = textAt(params, 'navigationType');
        if (type === 'sameDocument' || type === 'historySameDocument') return;
        this.navigation.start(textAt(params, 'loaderId'));
        return;
      }
      case 'Page.frameStartedLoading':
        this.navigation.startLoading();
        return;
      case 'Page.navigatedWithinDocument':
        this.url = textAt(params, 'url');
        this.navigation.move();
        return;
      case 'Page.frameStoppedLoading':
        this.navigation.stop();
        return;
      default:
        return;
    }
  }

  /** Records a dialog as it opens; what became of it is known when it closes. */
  #applyDialog(method: string, params: unknown): void {
    if (method === 'Page.javascriptDialogOpening') {
      const given = textAt(params, 'defaultPrompt');
      const dialog = {
        type: textAt(params, 'type'),
        message: textAt(params, 'message'),
        ...(given !== '' && { default: given }),
      };
      this.dialogs = [...this.dialogs, { ...dialog, accepted: false }].slice(-MAX_RECORDED_DIALOGS);
      this.isBlocked = true;
      this.opened += 1;
    }
    if (method === 'Page.javascriptDialogClosed') {
      const last = this.dialogs.at(-1);
      if (this.isBlocked && last !== undefined) last.accepted = at(params, 'result') === true;
      this.isBlocked = false;
    }
  }
}
