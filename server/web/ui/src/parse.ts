/** What comes from outside is `unknown` until one of these has looked at it. */

export class Malformed extends Error {}

export type Fields = Readonly<Record<string, unknown>>;

export function fields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Malformed('not an object');
  }
  return value as Fields;
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function number(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** A date, or undefined where there is none. */
export function moment(value: unknown): Date | undefined {
  const date = new Date(text(value));
  return Number.isNaN(date.getTime()) ? undefined : date;
}

export function list<T>(value: unknown, of: (item: unknown) => T): T[] {
  return Array.isArray(value) ? value.map(of) : [];
}
