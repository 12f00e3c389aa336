/**
 * Does something at once, and then no more often than once an interval, however often it is asked for. The last asking
 * is never lost.
 */
export class Paced {
  readonly #intervalMS: number;
  readonly #act: () => void;
  #rest: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  constructor(intervalMS: number, act: () => void) {
    this.#intervalMS = intervalMS;
    this.#act = act;
  }

  ask(): void {
    this.#asked += 1;
    if (this.#rest === undefined) this.#next();
  }

  #next(): void {
    this.#asked = 0;
    this.#rest = setTimeout(() => this.#rested(), this.#intervalMS);
    this.#act();
  }

  #rested(): void {
    this.#rest = undefined;
    if (this.#asked > 0) this.#next();
  }
}
