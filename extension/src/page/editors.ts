/** Editors and terminals that draw their text themselves, and take the keys in a field that nobody sees. */

import { isA, own } from './dom.ts';
import { closest, parentOf } from './flat.ts';
import { isVisible } from './sight.ts';

/** How far around the field its editor is looked for. */
const LEVELS = 4;
const LEAST_PX = 18;

/** Whether the keyboard reaches the field, which is not seen itself, where the editor around it is. */
export function isOfEditor(el: Element): boolean {
  if (!takesKeys(el) || own(el).getClientRects().length === 0) return false;
  if (getComputedStyle(el).visibility !== 'visible') return false;
  let levels = 0;
  const editor = closest(parentOf(el), (at) => {
    levels += 1;
    return levels > LEVELS || isEditorLike(at);
  });
  return editor !== null && levels <= LEVELS;
}

function takesKeys(el: Element): boolean {
  if (own(el).getAttribute('aria-hidden') === 'true') return false;
  if (isA(el, 'textarea')) return !el.readOnly && !el.disabled && el.tabIndex >= 0;
  return 'editContext' in el && el.editContext !== null;
}

function isEditorLike(at: Element): boolean {
  if (at === document.body || at === document.documentElement || isA(at, 'form')) return false;
  const { width, height } = own(at).getBoundingClientRect();
  return width >= 2 * LEAST_PX && height >= LEAST_PX && isVisible(at);
}
