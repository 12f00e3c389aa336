/** Time, so that tests can bring their own. */
export type Clock = {
  /** Milliseconds, of which only differences count. */
  now(): number;
  /** Calls back once after `ms`; the returned function forgets it. */
  after(ms: number, callBack: () => void): () => void;
};

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, callBack) {
    const timer = setTimeout(callBack, ms);
    return () => clearTimeout(timer);
  },
};

/** Why a wait ended without what it waited for. */
export type End = 'time' | 'cancelled';

/** The time that is left for something; a part of it can be given to a part of the work. */
export class Span {
  readonly #clock: Clock;
  readonly #until: number;
  readonly #signal: AbortSignal;

  constructor(clock: Clock, ms: number, signal: AbortSignal) {
    this.#clock = clock;
    this.#until = clock.now() + ms;
    this.#signal = signal;
  }

  /** At most `ms` of what is left. */
  part(ms: number): Span {
    return new Span(this.#clock, Math.min(ms, this.left()), this.#signal);
  }

  left(): number {
    return this.#until - this.#clock.now();
  }

  /** Why nothing more may begin; undefined while there is time. */
  over(): End | undefined {
    if (this.#signal.aborted) return 'cancelled';
    return this.left() <= 0 ? 'time' : undefined;
  }

  /** Waits for a promise, but no longer than the span: then it rejects with an Ended. */
  bound<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const finish = () => {
        forget();
        this.#signal.removeEventListener('abort', cancel);
      };
      const cancel = () => {
        finish();
        reject(new Ended('cancelled'));
      };
      const forget = this.#clock.after(Math.max(0, this.left()), () => {
        finish();
        reject(new Ended('time'));
      });
      this.#signal.addEventListener('abort', cancel, { once: true });
      if (this.#signal.aborted) cancel();
      promise.then(
        (value) => {
          finish();
          resolve(value);
        },
        (cause: unknown) => {
          finish();
          reject(cause);
        },
      );
    });
  }
}

/** Rejects when the span is over. */
export function stopIfOver(span: Span): void {
  const end = span.over();
  if (end !== undefined) throw new Ended(end);
}

export class Ended extends Error {
  readonly end: End;

  constructor(end: End) {
    super(end === 'time' ? 'the time is up' : 'nobody waits any more');
    this.end = end;
  }
}
