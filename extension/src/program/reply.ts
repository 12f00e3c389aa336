import { isObject } from '../policy/table.ts';

/** What stands at a path of a CDP message; undefined where nothing does. */
export function at(message: unknown, ...path: string[]): unknown {
  let value = message;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  return value;
}

/** The text at a path; empty where there is none. */
export function textAt(message: unknown, ...path: string[]): string {
  const value = at(message, ...path);
  return typeof value === 'string' ? value : '';
}
