import { computeAccessibleName } from 'dom-accessibility-api';
import { cut, LONGEST_NAME } from './bounds.ts';
import { childrenOf, fold } from './flat.ts';

const NAMING_ATTRIBUTES = ['aria-label', 'aria-labelledby', 'title', 'aria-owns'];

/**
 * The element's name by accname, folded and cut to a length a line can bear. Nothing typed into a password field is
 * ever part of a name.
 */
export function nameOf(el: Element, role: string): string {
  return cut(fold(plainName(el) ?? computed(el, role)), LONGEST_NAME);
}

/** The common case at a hundredth of the cost: a button or link that holds nothing but text. */
function plainName(el: Element): string | null {
  if (el.localName !== 'a' && el.localName !== 'button' && !/^h[1-6]$/.test(el.localName))
    return null;
  if (el.shadowRoot || NAMING_ATTRIBUTES.some((name) => el.hasAttribute(name))) return null;
  // Not el.labels: it searches the document for each button.
  if (el.localName === 'button' && (el.id !== '' || el.closest('label'))) return null;
  const texts = Array.from(el.childNodes, (node) => (node instanceof Text ? node.data : null));
  const name = texts.includes(null) ? '' : texts.join('');
  return fold(name) === '' ? null : name;
}

function computed(el: Element, role: string): string {
  const name = computeAccessibleName(el, {
    getComputedStyle: styleForNames(el),
    computedStyleSupportsPseudoElements: false,
  });
  if (name !== '') return name;
  // Naming says nothing of a control that is not rendered; its label still names it to a person.
  if (el instanceof HTMLInputElement && el.labels?.[0]) return textOf(el.labels[0]);
  if (role === 'generic' || el.getAttribute('aria-hidden') === 'true') return textOf(el);
  if (role === 'iframe') return el.getAttribute('name') ?? '';
  return el.getAttribute('placeholder') ?? shadowText(el);
}

const UNSEEN = { display: 'none', visibility: 'hidden', content: 'none' } as const;

/** Styles as naming sees them: a password field inside a label is not there, nor is transparent text. */
function styleForNames(root: Element): typeof getComputedStyle {
  return (el, pseudo) => {
    const style = getComputedStyle(el, pseudo);
    const secret = el instanceof HTMLInputElement && el.type === 'password';
    if (el === root || pseudo || !(secret || style.opacity === '0' || style.fontSize === '0px'))
      return style;
    return new Proxy(style, {
      get: (target, key) => (key === 'getPropertyValue' ? unseen : Reflect.get(target, key)),
    });
  };
}

function unseen(property: string): string {
  return property in UNSEEN ? UNSEEN[property as keyof typeof UNSEEN] : '';
}

function shadowText(el: Element): string {
  return el.shadowRoot || el.querySelector('slot') ? textOf(el) : '';
}

/** All text of the flat tree beneath el that is laid out. */
export function textOf(el: Element): string {
  const parts: string[] = [];
  collect(el, parts);
  return fold(parts.join(' '));
}

function collect(el: Element, parts: string[]): void {
  for (const child of childrenOf(el)) {
    if (child instanceof Text) parts.push(child.data);
    else if (
      child instanceof Element &&
      child.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    ) {
      collect(child, parts);
    }
  }
}
