/** A window that a page asked for while a session's program ran in it. */
export type Opening = { tab: number; session: string; url: string };

/** Chrome makes the tab some 15 ms after the page asked; on a busy machine it takes longer. */
const freshMS = 2000;

/**
 * Windows that pages asked for and whose tabs are yet to come. Chrome's own openerTabId does not tell who asked: for a
 * page in the background it names the tab in front.
 */
export class Openings {
  #asked: (Opening & { at: number })[] = [];

  /** The page of a tab asks for a window (CDP: Page.windowOpen). */
  ask(opening: Opening): void {
    this.#asked.push({ ...opening, at: Date.now() });
  }

  /** Who asked for a new tab that is going to url, empty where Chrome does not say yet; each is answered once. */
  take(url: string): Opening | undefined {
    const now = Date.now();
    this.#asked = this.#asked.filter(({ at }) => now - at < freshMS);
    const found = this.#asked.find((asked) => url === '' || url === asked.url);
    this.#asked = this.#asked.filter((asked) => asked !== found);
    return found;
  }
}
