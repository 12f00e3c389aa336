import { isA, own } from './dom.ts';
import { closest } from './flat.ts';

/** Whether a click on the element would plainly submit a form with another method than GET. */
export function submitsForm(el: Element): boolean {
  const button = submitterOf(el);
  if (!button?.form) return false;
  // Attributes, not properties: they are what the submission reads.
  const given = button.getAttribute('formmethod') ?? own(button.form).getAttribute('method');
  return (given ?? 'get').trim().toLowerCase() === 'post';
}

type Button = HTMLButtonElement | HTMLInputElement;

/** The submit button that a click on the element presses: the one around it, or that of the label around it. */
function submitterOf(el: Element): Button | null {
  const around = closest(el, (at) => isSubmitter(at) || isA(at, 'label'));
  const pressed = isA(around, 'label') ? around.control : around;
  return isSubmitter(pressed) ? pressed : null;
}

function isSubmitter(el: unknown): el is Button {
  if (isA(el, 'button')) return el.type === 'submit';
  return isA(el, 'input') && (el.type === 'submit' || el.type === 'image');
}
