import { cut, LONGEST_NAME } from './bounds.ts';
import type { FocusArgs, Focused, SelectArgs, Selected, Value, ValueArgs } from './contract.ts';
import { isA, isHTML, own } from './dom.ts';
import { Refusal } from './failure.ts';
import { resolve } from './find.ts';
import { fold } from './flat.ts';
import { doc, numberOf } from './nodes.ts';
import { isEditingHost } from './roles.ts';
import { isDisabled, isSecret } from './states.ts';

/** Twice what may be entered, so that what a field holds can be told from what was meant. */
const LONGEST_HELD = 200_000;
const LONGEST_OPTION = 80;

/** Fields whose parts are typed into one by one, in an order that depends on the locale. */
const SET = ['date', 'time', 'month', 'week', 'datetime-local', 'color', 'range'];

export function focus(args: FocusArgs): Focused {
  const el = resolve(args.target, args.expect);
  if (isDisabled(el)) throw new Refusal('not_enabled', 'The field is disabled.');
  if (!('focus' in own(el))) throw notAField();
  own(el).scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
  if (args.set !== undefined && isA(el, 'input') && SET.includes(el.type)) {
    set(el, args.set);
    return { doc, node: numberOf(el), done: true };
  }
  if (args.set !== undefined && !takesText(el)) throw notAField();
  own(el as HTMLElement).focus({ preventScroll: true });
  if (args.select === true) selectAll(el);
  return { doc, node: numberOf(el), done: false };
}

function notAField(): Refusal {
  return new Refusal('not_enabled', 'The element is not a field that text can be entered into.');
}

const TEXTLESS = ['checkbox', 'radio', 'file', 'submit', 'button', 'reset', 'image', 'hidden'];

function takesText(el: Element): boolean {
  if (isA(el, 'input')) return !(TEXTLESS.includes(el.type) || el.readOnly);
  if (isA(el, 'textarea')) return !el.readOnly;
  return isHTML(el) && own(el).isContentEditable;
}

function set(input: HTMLInputElement, value: string): void {
  const before = input.value;
  input.focus({ preventScroll: true });
  input.value = value;
  if (input.value !== value) {
    const kept = input.value;
    input.value = before;
    throw new Refusal('bad_request', `The ${input.type} field does not take this value.`, {
      would_hold: cut(kept, LONGEST_NAME),
    });
  }
  announce(input);
}

function announce(el: Element): void {
  el.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  el.dispatchEvent(new Event('change', { bubbles: true }));
}

function selectAll(el: Element): void {
  if (isA(el, 'input') || isA(el, 'textarea')) {
    el.select();
    return;
  }
  getSelection()?.selectAllChildren(el);
}

/** What the field holds; of a secret only whether it holds anything. */
export function value(args: ValueArgs): Value {
  const el = resolve(args.target);
  if (isSecret(el)) return { value: '', secret: true };
  if (isA(el, 'input') || isA(el, 'textarea') || isA(el, 'select')) {
    return { value: cut(el.value, LONGEST_HELD), secret: false };
  }
  // biome-ignore lint/performance/useDomNodeTextContent: the lines of an editor are layout, not text nodes
  const held = isEditingHost(el) && isHTML(el) ? own(el).innerText : own(el).textContent;
  return { value: cut(held ?? '', LONGEST_HELD), secret: false };
}

export function select(args: SelectArgs): Selected {
  const el = resolve(args.target, args.expect);
  if (!isA(el, 'select')) {
    throw new Refusal(
      'bad_request',
      'The element is not a native select; click it and then the option.',
    );
  }
  if (isDisabled(el)) throw new Refusal('not_enabled', 'The select is disabled.');
  if (!el.multiple && args.values.length !== 1) {
    throw new Refusal('bad_request', 'This select takes exactly one value.');
  }
  const chosen = args.values.map((wanted) => optionOf(el, wanted));
  el.focus({ preventScroll: true });
  for (const option of el.options) option.selected = chosen.includes(option);
  announce(el);
  const selected = Array.from(el.selectedOptions).slice(0, args.values.length);
  return { values: selected.map((option) => cut(option.label, LONGEST_NAME)) };
}

function optionOf(el: HTMLSelectElement, wanted: string): HTMLOptionElement {
  const options = Array.from(el.options).filter((option) => !option.disabled);
  const found =
    options.find((option) => option.value === wanted) ??
    options.find((option) => fold(option.label) === fold(wanted));
  if (found) return found;
  throw new Refusal('not_found', 'The select has no such option that can be chosen.', {
    options: options.slice(0, 30).map((option) => cut(fold(option.label), LONGEST_OPTION)),
  });
}
