/** Chrome brings forward what a page opened sooner than this. */
const afterOpeningMS = 1000;

/** Chrome tells of the keyboard's new window this much before it tells of the new tab in it, at most. */
const beforehandMS = 100;

/** Between two windows Chrome says for a moment that none has the keyboard. */
const betweenMS = 250;

/** What is on the person's screen. */
export type Screen = {
  windowOf(tab: number): Promise<number | undefined>;
  /** Shows a tab in its window. */
  show(tab: number): Promise<void>;
  /** Gives a window the keyboard. */
  front(window: number): Promise<void>;
};

type Shown = { tab: number; before: number | undefined };

/**
 * Gives the person back what they looked at and where they typed, when the page of an agent's tab opened a window: Chrome
 * shows the new one at once. What another program's window lost cannot be given back.
 */
export class Views {
  readonly #screen: Screen;
  readonly #nowMS: () => number;
  /** The tab that each window shows, and the one it showed before. */
  readonly #shown = new Map<number, Shown>();
  /** Tabs that agents made pages open, since when, and in which window they are. */
  readonly #opened = new Map<number, { window: number; sinceMS: number }>();
  #keyboard: { window: number; before: number | undefined; sinceMS: number } | undefined;
  #lostMS: number | undefined;

  constructor(screen: Screen, nowMS: () => number) {
    this.#screen = screen;
    this.#nowMS = nowMS;
  }

  /** A window shows another tab. */
  shows(window: number, tab: number): void {
    const before = this.#shown.get(window)?.tab;
    if (before === tab) return;
    this.#shown.set(window, { tab, before });
    this.#giveBack();
  }

  /** Another window has the keyboard; -1 is none of the browser's. */
  focused(window: number): void {
    if (window < 0) {
      this.#lostMS ??= this.#nowMS();
      return;
    }
    const sinceMS = this.#nowMS();
    const wasElsewhere = this.#lostMS !== undefined && sinceMS - this.#lostMS > betweenMS;
    const from = this.#keyboard?.window;
    this.#lostMS = undefined;
    if (from === window) return;
    this.#keyboard = { window, before: wasElsewhere ? undefined : from, sinceMS };
    this.#giveBack();
  }

  /** The page of an agent's tab opened another, by the agent's doing. */
  async opened(tab: number): Promise<void> {
    const sinceMS = this.#nowMS();
    const window = await this.#screen.windowOf(tab);
    if (window === undefined) return;
    this.#opened.set(tab, { window, sinceMS });
    this.#giveBack();
  }

  #giveBack(): void {
    for (const [tab, { window, sinceMS }] of this.#opened) {
      if (this.#nowMS() - sinceMS > afterOpeningMS) {
        this.#opened.delete(tab);
        continue;
      }
      const shown = this.#shown.get(window);
      if (shown?.tab === tab && shown.before !== undefined) this.#do('show', shown.before);
      const keyboard = this.#keyboard;
      const isTaken = keyboard?.window === window && keyboard.sinceMS >= sinceMS - beforehandMS;
      if (isTaken && keyboard.before !== undefined) this.#do('front', keyboard.before);
    }
  }

  /** What is gone meanwhile needs nothing. */
  #do(what: 'show' | 'front', id: number): void {
    this.#screen[what](id).catch(() => undefined);
  }
}
