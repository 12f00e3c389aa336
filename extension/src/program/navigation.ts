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
  /** How often the address changed within the document. */
  moves = 0;
  #isParsed: boolean = false;
  /** Of the navigation under way, where known. */
  #loader = '';
  #committed = '';

  /** What a later program finds: a document that is on its way still is, all else counts anew. */
  afterwards(): Navigation {
    const next = new Navigation();
    if (this.phase === 'started') next.start(this.#loader);
    return next;
  }

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
    this.#isParsed = false;
    if (this.phase !== 'started' || this.#loader === '' || this.#loader === loader) {
      this.phase = 'committed';
      this.#loader = '';
    }
  }

  load(): void {
    if (this.phase === 'committed') this.phase = 'none';
  }

  /** The document can be read. */
  parse(): void {
    this.#isParsed = this.phase === 'committed';
  }

  /** Is nothing but the rest of a document on its way? */
  get isReadable(): boolean {
    return this.phase === 'committed' && this.#isParsed;
  }

  /** Is another document on its way, or this one not readable or, unless that will do, not all there? */
  isUnderWay(readable: boolean): boolean {
    return this.phase !== 'none' && !(readable && this.isReadable);
  }

  /** A move within the document, which nobody waits for. */
  move(): void {
    this.moves += 1;
    this.stay();
  }

  /** What began brings no document. */
  stay(): void {
    if (this.phase === 'requested' || this.phase === 'loading') this.phase = 'none';
  }

  stop(): void {
    this.phase = 'none';
    this.#loader = '';
  }
}
