/**
 * How far the main frame's latest navigation is: `requested`, the page asked for it and it may never begin; `loading`, a
 * load began, perhaps only within the document; `started`, the browser fetches another document; `committed`, that
 * document is there and loads.
 */
export type Phase = 'none' | 'requested' | 'loading' | 'started' | 'committed';

/**
 * Follows the main frame from a program's start, by what the browser tells in this order: requested, started navigating
 * (with the loader's id), started loading, navigated, load event, stopped loading. A download or an answer without a
 * document goes from started loading to stopped loading.
 */
export class Navigation {
  phase: Phase = 'none';
  commits = 0;
  /** Of the navigation under way, where known. */
  #loader = '';
  #committed = '';

  request(): void {
    if (this.phase === 'none') this.phase = 'requested';
  }

  /** Begins the navigation of a loader, once. */
  start(loader: string): void {
    if (loader !== '' && (loader === this.#committed || loader === this.#loader)) return;
    this.phase = 'started';
    this.#loader = loader;
  }

  startLoading(): void {
    if (this.phase === 'none' || this.phase === 'requested') this.phase = 'loading';
  }

  /** Ends the fetching, unless it brings an earlier navigation's document while another is under way. */
  commit(loader: string): void {
    this.commits += 1;
    this.#committed = loader;
    if (this.phase !== 'started' || this.#loader === '' || this.#loader === loader) {
      this.phase = 'committed';
      this.#loader = '';
    }
  }

  load(): void {
    if (this.phase === 'committed') this.phase = 'none';
  }

  /** What began was a move within the document, which nobody waits for. */
  stay(): void {
    if (this.phase === 'requested' || this.phase === 'loading') this.phase = 'none';
  }

  stop(): void {
    this.phase = 'none';
    this.#loader = '';
  }
}
