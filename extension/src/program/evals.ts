import { at, isObject, textAt } from '../policy/json.ts';
import type { Span } from './clock.ts';
import { CallError, Fault, refusal } from './failure.ts';
import { Layout } from './layout.ts';
import type { Evaluated, Step } from './types.ts';
import type { View } from './view.ts';
import type { Place, Worlds } from './world.ts';

/** What an eval step's answer has at most, in characters. */
const MAX_CHARS = 2 ** 20;
const MAX_THROWN = 1000;

export function checkEval(expression: string, maxChars: number): void {
  if (expression === '' || maxChars < 1 || maxChars > MAX_CHARS) {
    throw refusal(`eval has an expression, and max_chars between 1 and ${MAX_CHARS}`);
  }
}

/**
 * Runs a script in the world of a frame's own document. An object is fetched only once it is known to be one that can be:
 * Chrome fails the whole call for one that it cannot copy, and copies most others to an empty one.
 */
export async function evaluate(
  { worlds, view }: { worlds: Worlds; view: View },
  span: Span,
  step: Extract<Step, { kind: 'eval' }>,
): Promise<Evaluated> {
  const { child, reply } = await run({ worlds, view }, span, step);
  const objectId = textAt(reply, 'result', 'objectId');
  if (objectId === '') return shown(reply, step.maxChars);
  try {
    const copied = isData(reply) ? await copyOf(worlds, span, child, objectId) : undefined;
    const said = shown(copied ?? reply, step.maxChars);
    return copied === undefined && said.thrown === undefined ? { ...said, opaque: true } : said;
  } finally {
    // Or the page has done so.
    await worlds.ask(span, child, 'Runtime.releaseObject', { objectId }).catch(() => undefined);
  }
}

/** A copy of the object; nothing where there can be none. */
async function copyOf(
  worlds: Worlds,
  span: Span,
  child: string,
  objectId: string,
): Promise<unknown> {
  const asked = { objectId, functionDeclaration: 'function(){return this}', returnByValue: true };
  try {
    return await worlds.ask(span, child, 'Runtime.callFunctionOn', asked);
  } catch (cause) {
    if (cause instanceof CallError) return undefined;
    throw cause;
  }
}

/** Whether it is an object of which a copy says what it is. */
function isData(reply: unknown): boolean {
  const isPlain = ['', 'array', 'typedarray'].includes(textAt(reply, 'result', 'subtype'));
  return (
    isPlain &&
    textAt(reply, 'result', 'type') === 'object' &&
    at(reply, 'exceptionDetails') === undefined
  );
}

/** Also tells the target session that the script ran in. */
async function run(
  { worlds, view }: { worlds: Worlds; view: View },
  span: Span,
  { expression, frame: id }: Extract<Step, { kind: 'eval' }>,
): Promise<{ child: string; reply: unknown }> {
  const outermost = async (child: string) => {
    const asked = { expression, awaitPromise: true };
    return { child, reply: await worlds.ask(span, child, 'Runtime.evaluate', asked) };
  };
  if (id === '' || id === view.mainFrame) return await outermost('');
  const layout = await Layout.of(worlds, view, span);
  const frame = layout.frames.get(id);
  if (frame === undefined) throw new Fault('not_found', 'the frame is gone');
  if (layout.frames.get(frame.parent)?.child !== frame.child) return await outermost(frame.child);
  return { child: frame.child, reply: await inside(worlds, span, frame, expression) };
}

/**
 * Runs it in a frame that shares its target session with the document around it. Chrome evaluates there only by the
 * number of a context, which it tells nobody who does not watch all contexts come: so a function is called on the
 * frame's document as its own world has it. A script that is no expression is the function's body.
 */
async function inside(
  worlds: Worlds,
  span: Span,
  frame: Place,
  expression: string,
): Promise<unknown> {
  const objectId = await ownDocument(worlds, span, frame);
  let reply: unknown;
  for (const body of [`return (${expression}\n)`, `${expression}\n`]) {
    reply = await worlds.ask(span, frame.child, 'Runtime.callFunctionOn', {
      objectId,
      functionDeclaration: `async function(){${body}}`,
      awaitPromise: true,
    });
    if (textAt(reply, 'exceptionDetails', 'exception', 'className') !== 'SyntaxError') break;
  }
  return reply;
}

/** The handle of a frame's document in the page's own world. */
async function ownDocument(worlds: Worlds, span: Span, frame: Place): Promise<string> {
  const { context } = await worlds.world(span, frame);
  const asked = { expression: 'document', contextId: context };
  const seen = await worlds.ask(span, frame.child, 'Runtime.evaluate', asked);
  const described = await worlds.ask(span, frame.child, 'DOM.describeNode', {
    objectId: textAt(seen, 'result', 'objectId'),
  });
  const resolved = await worlds.ask(span, frame.child, 'DOM.resolveNode', {
    backendNodeId: at(described, 'node', 'backendNodeId'),
  });
  return textAt(resolved, 'object', 'objectId');
}

/** An answer within its bounds. */
function shown(reply: unknown, most: number): Evaluated {
  const exception = at(reply, 'exceptionDetails');
  if (exception !== undefined) {
    const value = at(exception, 'exception', 'value');
    const described = textAt(exception, 'exception', 'description');
    const bare = `${textAt(exception, 'text')} ${value === undefined ? '' : JSON.stringify(value)}`;
    return { thrown: cut(described === '' ? bare.trim() : described, MAX_THROWN).text };
  }
  const { text, more } = cut(textOf(at(reply, 'result')), most);
  return { ...(text !== '' && { value: text }), ...(more > 0 && { more }) };
}

function textOf(result: unknown): string {
  const bare = textAt(result, 'unserializableValue');
  if (bare !== '') return bare;
  if (isObject(result) && Object.hasOwn(result, 'value'))
    return JSON.stringify(at(result, 'value'));
  const described = textAt(result, 'description');
  return described === '' ? textAt(result, 'type') : described;
}

/** The first characters of a text and how many are left; a character is never split. */
function cut(text: string, most: number): { text: string; more: number } {
  if (text.length <= most) return { text, more: 0 };
  const all = Array.from(text);
  return { text: all.slice(0, most).join(''), more: Math.max(0, all.length - most) };
}
