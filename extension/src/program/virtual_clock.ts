import { setImmediate } from 'node:timers/promises';
import type { Clock } from './clock.ts';

type Timer = { at: number; callBack: () => void };

/** A clock whose time passes only while nothing else happens. */
export class VirtualClock implements Clock {
  #now = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  after(ms: number, callBack: () => void): () => void {
    const timer = { at: this.#now + ms, callBack };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Lets time pass until the promise is settled. */
  async runUntil<T>(promise: Promise<T>): Promise<T> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    promise.then(done, done);
    await setImmediate();
    while (!isDone) {
      this.#next();
      await setImmediate();
    }
    return await promise;
  }

  #next(): void {
    const [first] = [...this.#timers].sort((a, b) => a.at - b.at);
    if (first === undefined) throw new Error('nothing is left to happen');
    this.#timers.delete(first);
    this.#now = first.at;
    first.callBack();
  }
}
