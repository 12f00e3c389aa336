import { at, isObject } from '../policy/json.ts';
import { refusal } from './failure.ts';
import type { Args } from './types.ts';

type Path = { step: number; keys: string[] };

/** Takes "N.path" apart. Numbers are written without leading zeros. */
export function parsePath(path: string): Path {
  const [first, ...keys] = path.split('.');
  const step = index(first ?? '');
  if (step === undefined || keys.includes('')) {
    throw refusal(`reference "${path}" is not a step's number and a path`);
  }
  return { step, keys };
}

/** Lists the references in a value, and throws where an object holds "$" and is not a reference. */
export function pathsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(pathsIn);
  if (!isObject(value)) return [];
  const path = at(value, '$');
  if (path === undefined) return Object.values(value).flatMap(pathsIn);
  if (typeof path !== 'string' || Object.keys(value).length !== 1) {
    throw refusal('an object with "$" is a reference and holds nothing but a path');
  }
  return [path];
}

/** A copy of the object in which the references are filled with the results of earlier steps. */
export function resolve(args: Args, results: readonly unknown[]): Args {
  const filled: Args = {};
  for (const [name, value] of Object.entries(args)) define(filled, name, fill(value, results));
  return filled;
}

function fill(value: unknown, results: readonly unknown[]): unknown {
  if (Array.isArray(value)) return value.map((item) => fill(item, results));
  if (!isObject(value)) return value;
  const path = at(value, '$');
  return typeof path === 'string' ? lookUp(path, results) : resolve(value, results);
}

/** Assignment would give __proto__ a meaning. */
function define(target: Args, name: string, value: unknown): void {
  Object.defineProperty(target, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

/** Follows a path into the results. */
export function lookUp(path: string, results: readonly unknown[]): unknown {
  const { step, keys } = parsePath(path);
  if (step >= results.length) {
    throw refusal(`reference "${path}" leads to a step without a result`);
  }
  let value = results[step];
  for (const key of keys) {
    const place = Array.isArray(value) ? index(key) : key;
    if (place === undefined || !isIndexable(value) || !Object.hasOwn(value, place)) {
      throw refusal(`reference "${path}" leads nowhere`);
    }
    value = value[place];
  }
  return value;
}

/** Does a path lead to something truthy? */
export function holds(path: string, results: readonly unknown[]): boolean {
  try {
    return Boolean(lookUp(path, results));
  } catch {
    return false;
  }
}

function isIndexable(value: unknown): value is Record<string | number, unknown> {
  return typeof value === 'object' && value !== null;
}

function index(text: string): number | undefined {
  return /^(0|[1-9][0-9]{0,8})$/.test(text) ? Number(text) : undefined;
}

/** The reference that stands for a frame, empty where an id does. */
export function framePath(frame: string): string {
  return frame.startsWith('$') ? frame.slice(1) : '';
}

/** The frame that a step names, by its id or by a reference to an earlier step's result. */
export function frameOf(frame: string, results: readonly unknown[]): string {
  const path = framePath(frame);
  if (path === '') return frame;
  const id = lookUp(path, results);
  if (typeof id !== 'string') throw refusal(`reference "${path}" leads to no frame`);
  return id;
}
