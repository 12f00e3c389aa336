import { at, isObject } from '../policy/json.ts';
import { refusal } from './failure.ts';
import type { Args, Pick, Program, Step, Work } from './types.ts';

/** Reads a program as it came over the wire, once; everything it does not know is refused. */
export function parseProgram(value: unknown): Program {
  const fields = read(value, ['tab', 'active', 'deadline_ms', 'keep_dialogs', 'steps']);
  const steps = at(fields, 'steps');
  if (!Array.isArray(steps)) throw refusal('steps is not a list');
  return {
    tab: text(fields, 'tab'),
    active: flag(fields, 'active'),
    deadlineMS: integer(fields, 'deadline_ms'),
    keepDialogs: texts(fields, 'keep_dialogs'),
    steps: steps.map(parseStep),
  };
}

const KINDS = ['run', 'call', 'settle', 'await', 'stop_if', 'eval'];

function parseStep(value: unknown): Step {
  const fields = read(value, [...KINDS, 'if', 'args', 'frame', 'each_frame', 'pick', 'params']);
  const kinds = KINDS.filter((kind) => fields[kind] !== undefined && fields[kind] !== '');
  if (kinds.length !== 1) {
    throw refusal('a step is exactly one of run, call, settle, await, stop_if and eval');
  }
  const [kind] = kinds;
  if (
    kind !== 'run' &&
    (has(fields, 'args') || (kind !== 'eval' && has(fields, 'frame')) || has(fields, 'each_frame'))
  ) {
    throw refusal('args, frame and each_frame belong to run');
  }
  if (kind !== 'run' && has(fields, 'pick')) throw refusal('pick belongs to run');
  if (kind !== 'call' && has(fields, 'params')) throw refusal('params belong to call');
  const onlyIf = has(fields, 'if') ? pathOf(at(fields, 'if')) : null;
  if (kind === 'stop_if' && onlyIf !== null) throw refusal('if and stop_if exclude each other');
  return { ...parseWork(kind, fields), onlyIf };
}

function parseWork(kind: string | undefined, fields: Args): Work {
  switch (kind) {
    case 'run':
      return parseRun(fields);
    case 'call':
      return { kind, method: text(fields, 'call'), params: args(fields, 'params') };
    case 'settle':
      return parseSettle(at(fields, 'settle'));
    case 'await':
      return parseAwait(at(fields, 'await'));
    case 'eval':
      return parseEval(at(fields, 'eval'), text(fields, 'frame'));
    default:
      return { kind: 'stop_if', path: pathOf(at(fields, 'stop_if')) };
  }
}

function pathOf(reference: unknown): string {
  return text(read(reference, ['$']), '$');
}

function parseRun(fields: Args): Work {
  const frame = text(fields, 'frame');
  const eachFrame = flag(fields, 'each_frame');
  if (frame !== '' && eachFrame) throw refusal('frame and each_frame exclude each other');
  const name = text(fields, 'run');
  const pick = has(fields, 'pick') ? parsePick(at(fields, 'pick')) : null;
  if (pick !== null && (name !== '@find' || !eachFrame)) {
    throw refusal('pick belongs to a run of @find in each frame');
  }
  return { kind: 'run', name, args: args(fields, 'args'), frame, eachFrame, pick };
}

function parsePick(value: unknown): Pick {
  const fields = read(value, ['nth']);
  if (!has(fields, 'nth')) return { nth: null };
  const nth = integer(fields, 'nth');
  if (nth < 0) throw refusal('nth is not negative');
  return { nth };
}

function parseSettle(value: unknown): Work {
  const fields = read(value, ['quiet_ms', 'max_ms', 'begun']);
  return {
    kind: 'settle',
    quietMS: integer(fields, 'quiet_ms'),
    maxMS: integer(fields, 'max_ms'),
    begun: flag(fields, 'begun'),
  };
}

function parseAwait(value: unknown): Work {
  const fields = read(value, ['event', 'run', 'args', 'each_frame', 'max_ms']);
  const event = text(fields, 'event');
  const name = text(fields, 'run');
  const maxMS = integer(fields, 'max_ms');
  if ((event === '') === (name === '')) throw refusal('await is exactly one of event and run');
  const eachFrame = flag(fields, 'each_frame');
  if (name !== '') return { kind: 'await_run', name, args: args(fields, 'args'), eachFrame, maxMS };
  if (has(fields, 'args') || eachFrame) throw refusal('args and each_frame belong to run');
  return { kind: 'await_event', event, maxMS };
}

function parseEval(value: unknown, frame: string): Work {
  const fields = read(value, ['expression', 'max_chars']);
  return {
    kind: 'eval',
    expression: text(fields, 'expression'),
    maxChars: integer(fields, 'max_chars'),
    frame,
  };
}

function read(value: unknown, known: readonly string[]): Args {
  if (!isObject(value)) throw refusal('a program, a step or a part of one is not an object');
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) throw refusal(`unknown field ${name}`);
  }
  return value;
}

/** Is the field there and not its own empty value? */
function has(fields: Args, name: string): boolean {
  const value = fields[name];
  return value !== undefined && value !== '' && value !== false;
}

function text(fields: Args, name: string): string {
  const value = fields[name] ?? '';
  if (typeof value !== 'string') throw refusal(`${name} is not a text`);
  return value;
}

function texts(fields: Args, name: string): string[] {
  const value = fields[name] ?? [];
  const isList = (list: unknown): list is string[] =>
    Array.isArray(list) && list.every((item) => typeof item === 'string');
  if (!isList(value)) throw refusal(`${name} is not a list of texts`);
  return value;
}

function flag(fields: Args, name: string): boolean {
  const value = fields[name] ?? false;
  if (typeof value !== 'boolean') throw refusal(`${name} is not true or false`);
  return value;
}

function integer(fields: Args, name: string): number {
  const value = fields[name] ?? 0;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw refusal(`${name} is not an integer`);
  }
  return value;
}

function args(fields: Args, name: string): Args {
  const value = fields[name];
  if (value === undefined) return {};
  if (!isObject(value)) throw refusal('args and params are JSON objects');
  return value;
}
