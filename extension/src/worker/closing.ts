import { within } from './attach.ts';

/** The debugger, as far as closing uses it. */
export type Port = {
  attach(tab: number): Promise<void>;
  send(tab: number, child: string | undefined, method: string, params: object): Promise<unknown>;
};

/** A page goes sooner than this, or is made to. */
const patienceMS = 1000;

/** A page without a process goes sooner than this, or there is nothing that can be done. */
const lastMS = 3000;

/**
 * Closes tabs for good. A page that asks whether to leave is answered yes, so that no person is asked about a tab they
 * did not open; one that hangs loses its process.
 */
export class Closing {
  readonly #port: Port;
  readonly #remove: (tab: number) => Promise<void>;
  /** Tabs on their way out; each function is called when its tab is gone. */
  readonly #leaving = new Map<number, () => void>();

  constructor(port: Port, remove: (tab: number) => Promise<void>) {
    this.#port = port;
    this.#remove = remove;
  }

  /** Closes a tab that is attached no more. It resolves once the tab is gone, or cannot be closed. */
  async close(tab: number): Promise<void> {
    const gone = new Promise<void>((resolve) => this.#leaving.set(tab, resolve));
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

  event(tab: number, method: string): void {
    if (method !== 'Page.javascriptDialogOpening' || !this.#leaving.has(tab)) return;
    this.#tell(tab, 'Page.handleJavaScriptDialog', { accept: true });
  }

  removed(tab: number): void {
    this.#leaving.get(tab)?.();
  }

  #tell(tab: number, method: string, params: object): void {
    this.#port.send(tab, undefined, method, params).catch(() => undefined);
  }
}
