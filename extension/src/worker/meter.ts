/** A tab tells at most so many events a second that clients can do without; the others of that second are dropped. */
export const mostDroppable = 1000;
/** A tab that tells more than this in a second, dropped ones included, is let go. */
export const mostEvents = 20_000;
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

export type Verdict = 'told' | 'dropped' | 'flood';

/** Counts what one tab tells, second by second. */
export class Meter {
  #second = 0;
  #events = 0;
  #spared = 0;
  /** How many events were dropped, ever. */
  dropped = 0;

  /** Judges one event of so many characters. */
  judge(method: string, nowMS: number, backlogBytes: number): Verdict {
    const second = Math.floor(nowMS / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#events = 0;
      this.#spared = 0;
    }
    this.#events += 1;
    if (this.#events > mostEvents) return 'flood';
    if (!droppable.has(method)) return backlogBytes > fullBytes ? 'flood' : 'told';
    this.#spared += 1;
    if (this.#spared <= mostDroppable && backlogBytes <= crowdedBytes) return 'told';
    this.dropped += 1;
    return 'dropped';
  }
}
