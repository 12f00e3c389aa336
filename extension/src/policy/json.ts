/** Reading JSON of unknown shape. */

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What stands at a path of object keys; undefined where nothing does. */
export function at(message: unknown, ...path: string[]): unknown {
  let value = message;
  for (const name of path) {
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

/** The text at a path; empty where there is none. */
export function textAt(message: unknown, ...path: string[]): string {
  const value = at(message, ...path);
  return typeof value === 'string' ? value : '';
}
