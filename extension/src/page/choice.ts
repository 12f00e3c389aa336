import { cut, LONGEST_NAME } from './bounds.ts';
import type { Chosen, SelectArgs, Selecting, Target } from './contract.ts';
import { isA, own } from './dom.ts';
import { Refusal } from './failure.ts';
import { resolve } from './find.ts';
import { fold } from './flat.ts';
import { giveKeyboard, ready, selectAll } from './keyboard.ts';
import { frame } from './locate.ts';
import { announce } from './set.ts';

/** As many as one program presses, one after the other. */
const MOST_PRESSED = 10;
const MOST_OPTIONS = 30;
const LONGEST_OPTION = 80;

/** Options that a page fetches when another list has changed come a moment later. */
const PATIENCE_MS = 1000;

/** Chooses in a list of the browser's own at once; of one that the page made, says that it is to be opened and pressed. */
export async function select(args: SelectArgs): Promise<Selecting> {
  const el = resolve(args.target, args.expect);
  await ready(el);
  if (isA(el, 'select')) return { done: true, values: await chooseIn(el, args.values) };
  if (isA(el, 'input') && el.list !== null) {
    return { done: true, values: [await enterListed(el, el.list, args.values)] };
  }
  if (args.values.length > MOST_PRESSED) {
    throw new Refusal('bad_request', `This list takes at most ${MOST_PRESSED} options at once.`);
  }
  return { aria: true };
}

async function chooseIn(el: HTMLSelectElement, values: string[]): Promise<string[]> {
  if (!el.multiple && values.length !== 1) {
    throw new Refusal('bad_request', 'This list takes exactly one value.');
  }
  const options = () => Array.from(el.options).filter((option) => !option.matches(':disabled'));
  const chosen = await found(values, options);
  el.focus({ preventScroll: true });
  for (const option of el.options) option.selected = chosen.includes(option);
  given = valuesOf(el);
  announce(el);
  return labelsOf(el);
}

function labelsOf(el: HTMLSelectElement): string[] {
  return Array.from(el.selectedOptions, (option) => cut(fold(option.label), LONGEST_NAME));
}

/** The page may take back what was set, or set something else, once it has been told. */
let given: string[] = [];

function valuesOf(el: HTMLSelectElement | HTMLInputElement): string[] {
  return isA(el, 'select') ? Array.from(el.selectedOptions, ({ value }) => value) : [el.value];
}

/** What stands there now, and whether that is what was set. */
export function kept(target: Target): Chosen {
  const el = elementNow(target);
  if (!(isA(el, 'select') || isA(el, 'input'))) {
    return { values: [], shown: false, landed: true, gone: true };
  }
  const values = isA(el, 'select') ? labelsOf(el) : [cut(el.value, LONGEST_NAME)];
  const now = valuesOf(el);
  const shown = now.length === given.length && now.every((value, i) => value === given[i]);
  return { values, shown, landed: true };
}

/** The element meant; null where it is no longer there. */
export function elementNow(target: Target): Element | null {
  try {
    return resolve(target);
  } catch {
    return null;
  }
}

/** The options of these values, once they are all there. */
async function found(
  values: string[],
  options: () => HTMLOptionElement[],
): Promise<HTMLOptionElement[]> {
  const start = performance.now();
  for (;;) {
    const all = options();
    const chosen = values.map((wanted) => optionOf(all, wanted));
    if (!chosen.includes(undefined)) return chosen.filter((option) => option !== undefined);
    if (performance.now() - start > PATIENCE_MS) throw noSuch(all.map((option) => option.label));
    await frame();
  }
}

function optionOf(all: HTMLOptionElement[], wanted: string): HTMLOptionElement | undefined {
  const label = fold(wanted);
  const loose = label.toLowerCase();
  return (
    all.find((option) => option.value === wanted) ??
    all.find((option) => fold(option.label) === label) ??
    all.find((option) => fold(option.label).toLowerCase() === loose)
  );
}

export function noSuch(labels: string[]): Refusal {
  const options = labels.slice(0, MOST_OPTIONS).map((label) => cut(fold(label), LONGEST_OPTION));
  return new Refusal('not_found', 'The list has no such option that can be chosen.', {
    options: options.filter((label) => label !== ''),
  });
}

/** A field with suggestions takes one of them as if it had been typed. */
async function enterListed(
  el: HTMLInputElement,
  list: HTMLDataListElement,
  values: string[],
): Promise<string> {
  if (values.length !== 1) throw new Refusal('bad_request', 'This field takes exactly one value.');
  const [option] = await found(values, () => Array.from(list.options));
  await giveKeyboard(el);
  given = [option?.value ?? ''];
  enterAsTyped(el, option?.value ?? '');
  return cut(el.value, LONGEST_NAME);
}

/** Replaces what a field holds, with the events that typing has. */
export function enterAsTyped(field: Element, text: string): void {
  selectAll(field);
  const { ownerDocument } = own(field);
  if (text === '') ownerDocument.execCommand('delete');
  else ownerDocument.execCommand('insertText', false, text);
}
