/** An answer of Chrome that takes longer says that more events wait for the worker than it can take. */
export const slowMS = 300;

/** A tab that told less meanwhile, by the weight of its events, is not what it waits for. */
export const fewEvents = 1500;

/**
 * Finds the tab that keeps all others waiting. Chrome's answers and events come to the worker one after the other, so that
 * the time of an answer is the time that an event of any tab waits.
 */
export class Pulse {
  readonly #ask: () => Promise<unknown>;
  readonly #nowMS: () => number;
  #askedMS: number | undefined;
  /** What the loudest tab told since. */
  #most = 0;
  #told = new WeakMap<object, number>();

  constructor(ask: () => Promise<unknown>, nowMS: () => number) {
    this.#ask = ask;
    this.#nowMS = nowMS;
  }

  /** Counts one event of a tab by its weight; whether that tab is what others wait for: of several, the loudest. */
  isHeldUpBy(tab: object, weight: number): boolean {
    if (this.#askedMS === undefined) this.#begin();
    const told = (this.#told.get(tab) ?? 0) + weight;
    this.#told.set(tab, told);
    this.#most = Math.max(this.#most, told);
    const waitedMS = this.#nowMS() - (this.#askedMS ?? this.#nowMS());
    return waitedMS > slowMS && told > fewEvents && told >= this.#most;
  }

  #begin(): void {
    this.#askedMS = this.#nowMS();
    this.#most = 0;
    this.#told = new WeakMap();
    const end = () => {
      this.#askedMS = undefined;
    };
    this.#ask().then(end, end);
  }
}
