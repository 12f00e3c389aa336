import type { Book } from './book.ts';
import { update } from './grants.ts';

/** Shows a tab in one of these groups that its window has, or in a new one; the answer is which, where there is one. */
type Show = (tab: number, title: string, ours: readonly number[]) => Promise<number | undefined>;

/** The groups that shared tabs are shown in, by project. They are a display only. */
export class Groups {
  readonly #book: Book;
  readonly #show: Show;
  /** One tab after the other is shown, so that a window gets no two groups for a project. */
  #shown: Promise<void> = Promise.resolve();

  constructor(book: Book, show: Show) {
    this.#book = book;
    this.#show = show;
  }

  show(tab: number): void {
    this.#shown = this.#shown.then(() => this.#group(tab));
  }

  async #group(tab: number): Promise<void> {
    const key = this.#book.ofTab(tab)?.grant.pairing;
    const title = this.#book.pairing(key ?? '')?.name;
    const ours = this.#book.grants.flatMap((grant) =>
      grant.pairing === key ? (grant.group ?? []) : [],
    );
    const group = title === undefined ? undefined : await this.#show(tab, title, ours);
    if (group !== undefined) this.#book.writeGrants(update(this.#book.grants, tab, { group }));
  }
}
