import { within } from './attach.ts';

/** The debugger, as far as closing uses it. */
export type Port = {
  attach(tab: number): Promise<void>;
  detach(tab: number): Promise<void>;
  send(tab: number, child: string | undefined, method: string, params: object): Promise<unknown>;
};

/** A page goes sooner than this, or is made to. */
const patienceMS = 1000;

/** A page without a process goes sooner than this, or there is nothing that can be done. */
const lastMS = 3000;

/** A tab on its way out: told when it is gone, and how its page is answered that asks whether to leave. */
type Leaving = { gone(): void; objected(): void; isForGood: boolean };

/** Closes tabs, whatever their pages do, or as long as their pages do not mind. */
export class Closing {
  readonly #port: Port;
  readonly #remove: (tab: number) => Promise<void>;
  readonly #leaving = new Map<number, Leaving>();

  constructor(port: Port, remove: (tab: number) => Promise<void>) {
    this.#port = port;
    this.#remove = remove;
  }

  /**
   * Closes a tab that is attached no more. A page that asks whether to leave is answered yes, so that no person is asked
   * about a tab they did not open; one that hangs loses its process. It resolves once the tab is gone, or cannot be
   * closed.
   */
  async close(tab: number): Promise<void> {
    const gone = new Promise<void>((resolve) => {
      this.#leaving.set(tab, { gone: resolve, objected: () => undefined, isForGood: true });
    });
    try {
      await this.#port.attach(tab).catch(() => undefined); // a page that cannot be attached asks nobody
      this.#tell(tab, 'Page.enable', {});
      void this.#remove(tab);
      if (await within(patienceMS, gone)) return;
      this.#tell(tab, 'Page.crash', {});
      void this.#remove(tab);
      await within(lastMS, gone);
    } finally {
      this.#leaving.delete(tab);
    }
  }

  /**
   * As close, for a tab that a person may have worked in: it is theirs where its page asks whether to leave, or hangs.
   */
  async ask(tab: number): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#leaving.set(tab, { gone: resolve, objected: resolve, isForGood: false });
    });
    try {
      await this.#port.attach(tab).catch(() => undefined);
      this.#tell(tab, 'Page.enable', {});
      void this.#remove(tab);
      await within(patienceMS, ended);
    } finally {
      this.#leaving.delete(tab);
      await this.#port.detach(tab);
    }
  }

  event(tab: number, method: string): void {
    const leaving = this.#leaving.get(tab);
    if (method !== 'Page.javascriptDialogOpening' || leaving === undefined) return;
    this.#tell(tab, 'Page.handleJavaScriptDialog', { accept: leaving.isForGood });
    leaving.objected();
  }

  removed(tab: number): void {
    this.#leaving.get(tab)?.gone();
  }

  #tell(tab: number, method: string, params: object): void {
    this.#port.send(tab, undefined, method, params).catch(() => undefined);
  }
}
