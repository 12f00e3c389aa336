import { at, textAt } from '../policy/json.ts';
import { judgeEvent, type Level } from '../policy/table.ts';
import type { Span } from './clock.ts';
import { Navigation } from './navigation.ts';
import type { Dialog } from './types.ts';
import type { World } from './world.ts';

/** Bounds what a page that opens dialogs without end adds to a result. */
const MAX_RECORDED_DIALOGS = 32;

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
  dialogs: Dialog[] = [];
  /** How many dialogs have opened, ever. */
  opened = 0;
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

  /** Starts a program's count. A dialog that is open already is the program's to answer. */
  begin(level: Level): void {
    this.level = level;
    this.isEnded = false;
    this.navigation = new Navigation();
    this.seen.clear();
    this.dialogs = this.isBlocked ? this.dialogs.slice(-1) : [];
  }

  /** Drops what was known of a tab that is being attached anew. */
  forget(): void {
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
      case 'Page.frameDetached': {
        const frame = textAt(params, 'frameId');
        if (this.worlds.get(frame)?.child === session) this.worlds.delete(frame);
        return;
      }
      case 'Target.attachedToTarget':
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
    if (method === 'Page.frameNavigated' && textAt(params, 'frame', 'parentId') === '') {
      this.mainFrame = textAt(params, 'frame', 'id');
      this.url = textAt(params, 'frame', 'url');
      this.navigation.commit(textAt(params, 'frame', 'loaderId'));
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
        this.navigation.stay();
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
      const dialog = { type: textAt(params, 'type'), message: textAt(params, 'message') };
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
