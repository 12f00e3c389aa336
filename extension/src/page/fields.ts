import { cut } from './bounds.ts';
import { enterAsTyped } from './choice.ts';
import type {
  Entered,
  EnteredArgs,
  FocusArgs,
  Focused,
  Target,
  Value,
  ValueArgs,
} from './contract.ts';
import { isA, isHTML, own, tagOf } from './dom.ts';
import { arrived, begin, entryAt, lastEntry } from './entry.ts';
import { Refusal } from './failure.ts';
import { resolve } from './find.ts';
import { within } from './flat.ts';
import {
  contextOf,
  fieldOf,
  focusedElement,
  giveKeyboard,
  isField,
  isStandIn,
  notAField,
  selectAll,
  toEnd,
} from './keyboard.ts';
import { frame } from './locate.ts';
import { doc, numberOf } from './nodes.ts';
import { announce, complaintOf, isSetWhole, setWhole } from './set.ts';
import { isSecret } from './states.ts';

/** More than an answer shows of what a field holds. */
const LONGEST_HELD = 8000;

const FRAMES = ['iframe', 'frame', 'fencedframe', 'object', 'embed'];

/** Gives a field the keyboard for what the edge enters next; without a target, tells who has it. */
export async function focus(args: FocusArgs): Promise<Focused> {
  if (args.target === undefined) {
    const field = focusedElement();
    return inserting(focused(field), field, args.insert);
  }
  const el = resolve(args.target, args.expect);
  const had = focusedElement();
  if (args.fill === undefined) {
    const field = await giveKeyboard(el, args.wait_ms);
    if (field !== had) toEnd(field);
    return inserting(focused(field), field, args.insert);
  }
  refuseOther(el);
  const field = fieldOf(await giveKeyboard(el, args.wait_ms));
  await writable(field);
  return await fill(field, args.fill);
}

function focused(field: Element | null): Focused {
  const at = performance.timeOrigin + performance.now();
  if (field === null) return { doc, node: 0, at };
  if (FRAMES.includes(tagOf(field))) return { doc, node: numberOf(field), at, elsewhere: true };
  begin({ field, text: undefined, before: held(field) });
  return { doc, node: numberOf(field), at };
}

/** What the edge inserts at the caret. Many lines at once would keep the browser busy for minutes: they are put there. */
function inserting(answer: Focused, field: Element | null, text: string | undefined): Focused {
  if (text === undefined) return answer;
  if (field === null || !isA(field, 'textarea') || !isLong(text)) {
    return { ...answer, enter: text };
  }
  const { selectionStart, selectionEnd } = field;
  field.setRangeText(text, selectionStart, selectionEnd, 'end');
  announce(field);
  arrived();
  return { ...answer, done: true };
}

const MOST_LINES = 200;

function isLong(text: string): boolean {
  return text.split('\n', MOST_LINES + 1).length > MOST_LINES;
}

const TEXTLESS = ['submit', 'button', 'reset', 'image', 'hidden'];

/** Fields that are filled by another action. */
function refuseOther(el: Element): void {
  if (isA(el, 'select')) throw new Refusal('bad_request', 'The element is a list: use select.');
  if (!isA(el, 'input')) return;
  if (el.type === 'checkbox' || el.type === 'radio') {
    throw new Refusal('bad_request', 'The element is a box to check: use check.');
  }
  if (el.type === 'file') throw new Refusal('bad_request', 'The field takes files: use upload.');
  if (TEXTLESS.includes(el.type)) throw notAField();
}

/** Some fields are read-only until they have the keyboard. */
async function writable(field: Element): Promise<void> {
  if (!isField(field)) throw notAField();
  if (!isReadOnly(field)) return;
  await frame();
  if (isReadOnly(field)) {
    throw new Refusal(
      'not_enabled',
      'The field is read-only; the page may offer another way to fill it.',
    );
  }
}

function isReadOnly(field: Element): boolean {
  return (isA(field, 'input') || isA(field, 'textarea')) && field.readOnly;
}

async function fill(field: Element, text: string): Promise<Focused> {
  begin({ field, text, before: held(field) });
  const at = performance.timeOrigin + performance.now();
  const answer: Focused = { doc, node: numberOf(field), at };
  if (isA(field, 'input') && isSetWhole(field, text)) {
    setWhole(field, text);
    return { ...answer, done: true };
  }
  const rich = isEditor(field);
  if (isStandIn(field)) answer[isMac() ? 'allMeta' : 'allControl'] = true;
  await select(field, rich);
  if (isA(field, 'textarea') && isLong(text)) return inserting(answer, field, text);
  if (text === '') return { ...answer, ...(held(field) === '' ? { done: true } : { clear: true }) };
  return { ...answer, enter: text, ...(rich && { editor: true }) };
}

async function select(field: Element, rich: boolean): Promise<void> {
  selectAll(field);
  // An editor takes note of a selection when it is told, which is not at once.
  if (rich) for (let i = 0; i < 2; i += 1) await frame();
}

function isMac(): boolean {
  return navigator.platform.startsWith('Mac');
}

/** What the field holds, as it stands there. */
function held(field: Element): string {
  if (isA(field, 'input') || isA(field, 'textarea') || isA(field, 'select')) return field.value;
  const context = contextOf(field);
  if (context !== null) return context.text;
  if (!isHTML(field)) return '';
  // biome-ignore lint/performance/useDomNodeTextContent: the lines of an editor are layout, not text nodes
  return own(field).innerText;
}

/**
 * After text was entered into an editor that keeps a model of its own: one that has not taken it, or has lost its lines,
 * gets it once more the way such editors take many lines, by paste. Nothing is read from the clipboard.
 */
export async function entered(args: EnteredArgs): Promise<Entered> {
  for (let i = 0; i < 2; i += 1) await frame();
  const entry = lastEntry();
  if (args.doc !== doc || entry?.text === undefined || !own(entry.field).isConnected) {
    return { pasted: false };
  }
  const now = held(entry.field);
  if (isSame(now, entry.text) || !isWorthPasting(now, entry.text, entry.before)) {
    return { pasted: false };
  }
  selectAll(entry.field);
  for (let i = 0; i < 2; i += 1) await frame();
  const pasted = paste(entry.field, entry.text);
  if (!pasted) enterLines(entry.field, entry.text);
  for (let i = 0; i < 2; i += 1) await frame();
  return { pasted };
}

/** Where there is no editor at all, only an element that may be edited: a line at a time, as a person would. */
function enterLines(field: Element, text: string): void {
  const [first = '', ...rest] = text.split(/\r\n?|\n/);
  if (rest.length > MOST_LINES) return;
  enterAsTyped(field, first);
  for (const line of rest) {
    document.execCommand('insertParagraph');
    if (line !== '') document.execCommand('insertText', false, line);
  }
}

/** Not where an editor has made something else of the text on purpose. */
function isWorthPasting(now: string, text: string, before: string): boolean {
  const bare = (of: string) => lines(of).replace(/\s+/g, '');
  return now === before || bare(now) === bare(text) || bare(now) === bare(text + text);
}

/** Whether the editor took it. */
function paste(field: Element, text: string): boolean {
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', text);
  const target = focusedElement() ?? field;
  const init = { bubbles: true, cancelable: true, composed: true, clipboardData };
  return !own(target).dispatchEvent(new ClipboardEvent('paste', init));
}

/** Text as it is compared: how a page parts lines and keeps spaces is its own affair. */
function lines(text: string): string {
  return text
    .replace(/[\u200b\ufeff]/g, '')
    .replace(/\u00a0/g, ' ')
    .replace(/\r\n?/g, '\n');
}

function isSame(now: string, wanted: string): boolean {
  const [a, b] = [lines(now), lines(wanted)];
  return a === b || a.replace(/\n+$/, '') === b.replace(/\n+$/, '');
}

/** An editor shows paragraphs with an empty line between them. */
function dense(text: string): string {
  return lines(text).replace(/\n+/g, '\n').trim();
}

function isSameInEditor(now: string, wanted: string): boolean {
  return dense(now) === dense(wanted);
}

function holdsInEditor(now: string, typed: string): boolean {
  return dense(now).includes(dense(typed));
}

/** What the field holds; of a secret only whether it is what was entered. */
export function value(args: ValueArgs): Value {
  const field = fieldNow(args.target);
  if (field === null) {
    const elsewhere = args.target !== undefined && 'node' in args.target && args.target.doc !== doc;
    // The document that came instead says whether it came of what was entered.
    const landed = elsewhere && args.at !== undefined && performance.timeOrigin >= args.at;
    return { gone: true, landed };
  }
  return describe(field, args.typed);
}

/** The field meant; null where it is no longer there. */
function fieldNow(target: Target | undefined): Element | null {
  if (target === undefined) {
    const field = focusedElement();
    return field !== null && isField(field) ? field : null;
  }
  try {
    const el = resolve(target);
    const entry = lastEntry();
    return entry !== null && within(entry.field, el) ? entry.field : fieldOf(el);
  } catch {
    return null;
  }
}

function describe(field: Element, typed: string | undefined): Value {
  const entry = entryAt(field);
  const reached = entry === null ? {} : { landed: entry.reached };
  if (!isField(field)) return reached;
  const now = held(field);
  const wanted = entry?.text;
  const same = isAsEntered(field, now, wanted, typed);
  const isDone = wanted !== undefined && same === true;
  // The lines of an editor stand apart in ways of its own: what it was given is easier to know again.
  const shown = isDone && isEditor(field) ? wanted : now;
  return {
    ...(isSecret(field) ? { secret: true } : { value: cut(shown, LONGEST_HELD) }),
    ...reached,
    ...(isDone && { landed: true }),
    ...(same !== undefined && { same }),
    ...(now === entry?.before && { unchanged: true }),
    ...objections(field, same),
  };
}

/** What is to be said of the field besides. */
function objections(field: Element, same: boolean | undefined): Partial<Value> {
  const invalid = complaintOf(field);
  const focused = focusedElement();
  const moved =
    entryAt(field) !== null && focused !== null && focused !== field && isField(focused);
  return {
    ...(moved && { moved }),
    ...(same === false && isStandIn(field) && { drawn: true }),
    ...(invalid !== undefined && { invalid }),
  };
}

/** Whether the field holds what it was to hold, or what was typed stands in it; undefined where neither is known. */
function isAsEntered(
  field: Element,
  now: string,
  wanted: string | undefined,
  typed: string | undefined,
): boolean | undefined {
  if (wanted !== undefined) {
    if (isSame(now, wanted)) return true;
    return isEditor(field) ? isSameInEditor(now, wanted) : isSetAlike(field, now, wanted);
  }
  if (typed === undefined) return undefined;
  return lines(now).includes(lines(typed)) || (isEditor(field) && holdsInEditor(now, typed));
}

/** Given as a whole, a value may be kept in another spelling: the field has judged it already. */
function isSetAlike(field: Element, now: string, wanted: string): boolean {
  return isA(field, 'input') && isSetWhole(field, wanted) && now !== '' && wanted !== '';
}

/** Whether it is an element whose content is edited. */
function isEditor(field: Element): boolean {
  return !(isA(field, 'input') || isA(field, 'textarea') || contextOf(field) !== null);
}
