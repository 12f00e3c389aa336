/** As much text in an event is as much work as one event more. */
export const textAnEvent = 1024;

/** No event weighs more: one may be of any length. */
export const heaviest = 256;

/** Each value is as much work as so much text. */
const textAValue = 16;

/** An event of more values weighs as much as one can. */
const mostValues = 1000;

/** How many short events one is as much work as: a few long ones are as much work as many short ones. */
export function weightOf(params: unknown): number {
  const values = [params];
  let length = 0;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (typeof value === 'string') length += value.length;
    else if (typeof value === 'object' && value !== null) {
      const inner = Object.values(value);
      if (values.length + inner.length > mostValues) return heaviest;
      values.push(...inner);
    }
  }
  const more = Math.floor((length + values.length * textAValue) / textAnEvent);
  return Math.min(1 + more, heaviest);
}
