/** An answer of Chrome that takes longer says that more events wait for the worker than it can take. */
export const slowMS = 1000;

/** A tab that told less meanwhile is not what it waits for. */
export const fewEvents = 1500;

/** As much text in an event that clients can do without is as much work as one event more. */
export const bytesAnEvent = 4096;

/**
 * Finds the tab that keeps all others waiting. Chrome's answers and events come to the worker one after the other, so that
 * the time of an answer is the time that an event of any tab waits.
 */
export class Pulse {
  readonly #ask: () => Promise<unknown>;
  readonly #nowMS: () => number;
  #askedMS: number | undefined;
  #events = 0;
  #told = new WeakMap<object, number>();

  constructor(ask: () => Promise<unknown>, nowMS: () => number) {
    this.#ask = ask;
    this.#nowMS = nowMS;
  }

  /** Counts one event of a tab; whether that tab is what others wait for. */
  isHeldUpBy(tab: object): boolean {
    if (this.#askedMS === undefined) this.#begin();
    const told = (this.#told.get(tab) ?? 0) + 1;
    this.#told.set(tab, told);
    this.#events += 1;
    const waitedMS = this.#nowMS() - (this.#askedMS ?? this.#nowMS());
    return waitedMS > slowMS && told > fewEvents && told * 2 > this.#events;
  }

  #begin(): void {
    this.#askedMS = this.#nowMS();
    this.#events = 0;
    this.#told = new WeakMap();
    const end = () => {
      this.#askedMS = undefined;
    };
    this.#ask().then(end, end);
  }

  /** Counts what an event that clients can do without holds: a few long ones are as much work as many short ones. */
  weigh(tab: object, bytes: number): void {
    if (this.#askedMS === undefined) return;
    const more = Math.floor(bytes / bytesAnEvent);
    this.#told.set(tab, (this.#told.get(tab) ?? 0) + more);
    this.#events += more;
  }
}
