/** Reading values of unknown shape: each function answers `undefined` where the shape is another. */

export type Fields = Readonly<Record<string, unknown>>;

export function fields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : undefined;
}

export function member(from: Fields | undefined, name: string): unknown {
  return from?.[name];
}

export function text(from: Fields | undefined, name: string): string | undefined {
  const value = from?.[name];
  return typeof value === 'string' ? value : undefined;
}

/** A number that is finite. */
export function number(from: Fields | undefined, name: string): number | undefined {
  const value = from?.[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function json(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}
