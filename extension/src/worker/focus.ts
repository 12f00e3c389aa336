import { fields, text } from './parse.ts';

/** Chrome tells of the window that a press brought forward within some tens of milliseconds. */
const afterPressMS = 250;

/** A tab's window, and the window that has the keyboard, where it is one of the browser's. */
export type Sight = { window: number; minimised: boolean; focused: number | undefined };

export type Windows = {
  /** What is to be seen at the call, whatever is asked of Chrome next. */
  look(tab: number): Promise<Sight | undefined>;
  front(window: number): Promise<void>;
  minimise(window: number): Promise<void>;
};

type Press = Sight & { untilMS: number };

/**
 * Gives the keyboard back to the person. Chrome moves it into a window whose active tab is pressed in by a command, and
 * shows that window where it is minimised, while the person types in another. Where that is another program's, nothing
 * can be given back.
 */
export class Focus {
  readonly #windows: Windows;
  readonly #nowMS: () => number;
  #focused: number | undefined;
  #press: Press | undefined;

  constructor(windows: Windows, nowMS: () => number) {
    this.#windows = windows;
    this.#nowMS = nowMS;
  }

  /** Another window has the keyboard; -1 is none of the browser's. */
  changed(window: number): void {
    this.#focused = window;
    this.#giveBack();
  }

  /** A command is about to be sent to a tab. */
  sending(tab: number, method: string, params: object | undefined): void {
    if (isPress(method, params)) void this.#pressed(tab).catch(() => undefined);
  }

  async #pressed(tab: number): Promise<void> {
    this.#focused = undefined; // what was told before is no answer to this press
    const sight = await this.#windows.look(tab);
    if (sight === undefined) return;
    const before = this.#fresh(sight.window) ?? sight;
    if (before.focused === before.window) return;
    this.#press = { ...before, untilMS: this.#nowMS() + afterPressMS };
    this.#giveBack();
  }

  /** An earlier press in the same window, after which things may still be on their way back. */
  #fresh(window: number | undefined): Press | undefined {
    const press = this.#press;
    if (press === undefined || press.window !== window) return undefined;
    return this.#nowMS() < press.untilMS ? press : undefined;
  }

  #giveBack(): void {
    const press = this.#fresh(this.#focused);
    if (press !== undefined) void this.#restore(press).catch(() => undefined);
  }

  async #restore({ window, minimised, focused }: Press): Promise<void> {
    if (focused !== undefined) await this.#windows.front(focused);
    if (minimised) await this.#windows.minimise(window);
  }
}

function isPress(method: string, params: object | undefined): boolean {
  if (method === 'Input.synthesizeTapGesture') return true;
  const type = text(fields(params), 'type');
  return (
    (method === 'Input.dispatchMouseEvent' && type === 'mousePressed') ||
    (method === 'Input.dispatchTouchEvent' && (type === 'touchStart' || type === 'touchEnd'))
  );
}
