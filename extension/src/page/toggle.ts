import type { ToggleArgs, Toggled, ToggledArgs, Toggling } from './contract.ts';
import { isA, own } from './dom.ts';
import { Refusal } from './failure.ts';
import { resolve } from './find.ts';
import { elementsOf } from './flat.ts';
import { ready } from './keyboard.ts';
import { frame } from './locate.ts';
import { doc, numberOf } from './nodes.ts';
import { roleOf } from './roles.ts';
import { labelsOf } from './walk.ts';

type State = 'true' | 'false' | 'mixed';

/** A page may ask its server before it shows the new state. */
const PATIENCE_MS = 1000;

/** What has to be pressed for the element to be checked, or not to be; nothing where it is so already. */
export async function toggle(args: ToggleArgs): Promise<Toggling> {
  const el = boxOf(resolve(args.target, args.expect));
  const state = stateOf(el);
  if (state === null) {
    throw new Refusal('bad_request', 'The element is nothing that can be checked: use click.');
  }
  const target = { doc, node: numberOf(el) };
  if (state === String(args.on)) return { target };
  if (!args.on && isRadio(el)) {
    throw new Refusal('bad_request', 'A radio is unchecked only by checking another one.');
  }
  // A hidden input has a label that is seen, of which @locate knows.
  if (labelsOf(el).length === 0) await ready(el);
  return { target, press: target };
}

/** The box itself, or the one box in what was named. */
function boxOf(el: Element): Element {
  if (stateOf(el) !== null) return el;
  if (isA(el, 'label') && el.control !== null) return el.control;
  const inner = [...elementsOf(el)].filter((at) => stateOf(at) !== null);
  return inner.length === 1 && inner[0] !== undefined ? inner[0] : el;
}

function isRadio(el: Element): boolean {
  return ['radio', 'menuitemradio'].includes(roleOf(el));
}

const CHOSEN_ROLES = ['option', 'treeitem', 'row', 'gridcell'];

function stateOf(el: Element): State | null {
  if (isA(el, 'input') && (el.type === 'checkbox' || el.type === 'radio')) {
    if (el.indeterminate) return 'mixed';
    return el.checked ? 'true' : 'false';
  }
  return saidOf(el) ?? (['checkbox', 'radio', 'switch'].includes(roleOf(el)) ? 'false' : null);
}

/** What the element's attributes say. */
function saidOf(el: Element): State | undefined {
  const names = ['aria-checked', 'aria-pressed'];
  if (CHOSEN_ROLES.includes(roleOf(el))) names.push('aria-selected');
  const said = names.map((name) => own(el).getAttribute(name));
  return (['true', 'false', 'mixed'] as const).find((state) => said.includes(state));
}

/** How the element stands after it was pressed; it waits a moment for what was wanted. */
export async function toggled(args: ToggledArgs): Promise<Toggled> {
  const start = performance.now();
  for (;;) {
    const state = stateNow(args);
    if (state === undefined) return { gone: true };
    if (state === String(args.on) || performance.now() - start > PATIENCE_MS) return { state };
    await frame();
  }
}

function stateNow(args: ToggledArgs): State | undefined {
  try {
    return stateOf(resolve(args.target)) ?? undefined;
  } catch {
    return undefined;
  }
}
