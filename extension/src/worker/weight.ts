/** As much text in an event is as much work as one event more. */
export const textAnEvent = 4096;

/** Of more values than this the text is not counted. */
const mostValues = 1000;

/** How many short events one is as much work as: a few long ones are as much as many short ones. */
export function weightOf(params: unknown): number {
  const values = [params];
  let length = 0;
  for (let i = 0; i < values.length && i < mostValues; i += 1) {
    const value = values[i];
    if (typeof value === 'string') length += value.length;
    else if (typeof value === 'object' && value !== null) values.push(...Object.values(value));
  }
  return 1 + Math.floor(length / textAnEvent);
}
