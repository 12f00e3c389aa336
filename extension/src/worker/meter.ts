/** A tab tells at most so many events a second that clients can do without; the others of that second are dropped. */
export const mostDroppable = 1000;
/** A tab that tells so many events by their weight, dropped ones included, beyond steadyEvents a second is let go. */
export const burstEvents = 10_000;
export const steadyEvents = 2000;
/** While this much waits to be sent, what clients can do without is dropped. */
export const crowdedBytes = 4 << 20;
/** While this much waits to be sent, a tab that tells more is let go. */
export const fullBytes = 48 << 20;

/** Events that no client's picture of the page depends on. */
const droppable: ReadonlySet<string> = new Set([
  'Log.entryAdded',
  'Network.dataReceived',
  'Network.eventSourceMessageReceived',
  'Network.resourceChangedPriority',
  'Network.webSocketFrameReceived',
  'Network.webSocketFrameSent',
  'Performance.metrics',
  'Runtime.consoleAPICalled',
]);

/** Whether no client's picture of the page depends on an event. */
export function isDroppable(method: string): boolean {
  return droppable.has(method);
}

export type Verdict = 'told' | 'dropped' | 'flood';

/** Counts what one tab tells. */
export class Meter {
  #second = 0;
  #spared = 0;
  /** The weight of what came that steadyEvents a second has not made up for yet. */
  #ahead = 0;
  #countedMS = 0;

  /** Judges one event of a weight. */
  judge(method: string, weight: number, nowMS: number, backlogBytes: number): Verdict {
    const made = ((nowMS - this.#countedMS) / 1000) * steadyEvents;
    this.#ahead = Math.max(0, this.#ahead - Math.max(0, made)) + weight;
    this.#countedMS = nowMS;
    if (this.#ahead > burstEvents) return 'flood';
    if (!isDroppable(method)) return backlogBytes > fullBytes ? 'flood' : 'told';
    return this.#isSpared(nowMS) && backlogBytes <= crowdedBytes ? 'told' : 'dropped';
  }

  #isSpared(nowMS: number): boolean {
    const second = Math.floor(nowMS / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#spared = 0;
    }
    this.#spared += 1;
    return this.#spared <= mostDroppable;
  }
}
