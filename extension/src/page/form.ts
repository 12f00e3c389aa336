import { closest } from './flat.ts';

/** Whether a click on the element would plainly submit a form with another method than GET. */
export function submitsForm(el: Element): boolean {
  const button = closest(el, isSubmitter);
  if (!(button instanceof HTMLButtonElement || button instanceof HTMLInputElement)) return false;
  if (button.form === null) return false;
  // Attributes, not properties: a field named "method" hides the form's own property.
  const method = button.getAttribute('formmethod') ?? formAttribute(button.form, 'method') ?? 'get';
  return method.trim().toLowerCase() === 'post';
}

function formAttribute(form: HTMLFormElement, name: string): string | null {
  return Element.prototype.getAttribute.call(form, name);
}

function isSubmitter(el: Element): boolean {
  if (el instanceof HTMLButtonElement) return el.type === 'submit';
  return el instanceof HTMLInputElement && (el.type === 'submit' || el.type === 'image');
}
