import { computeAccessibleName } from 'dom-accessibility-api';
import { cut, LONGEST_NAME } from './bounds.ts';
import { isA, isElement, isText, own, real, tagOf } from './dom.ts';
import { childrenOf, fold } from './flat.ts';
import { isNamedByText } from './roles.ts';

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
  const tag = tagOf(el);
  if (tag !== 'a' && tag !== 'button' && !/^h[1-6]$/.test(tag)) return null;
  if (el.shadowRoot || NAMING_ATTRIBUTES.some((name) => el.hasAttribute(name))) return null;
  // Not el.labels: it searches the document for each button.
  if (tag === 'button' && (el.id !== '' || el.closest('label'))) return null;
  const texts = Array.from(el.childNodes, (node) => (isText(node) ? node.data : null));
  const name = texts.includes(null) ? '' : texts.join('');
  return fold(name) === '' ? null : name;
}

function computed(el: Element, role: string): string {
  const name = byRules(el, role);
  if (name !== '') return name;
  // Naming says nothing of a control that is not rendered; its label still names it to a person.
  if (isA(el, 'input') && el.labels?.[0]) return textOf(el.labels[0]);
  if (role === 'generic' || own(el).getAttribute('aria-hidden') === 'true') return textOf(el);
  if (role === 'iframe') return own(el).getAttribute('name') ?? '';
  return own(el).getAttribute('placeholder') ?? shadowText(el);
}

/** By accname, but not through a form, which its fields' names disguise, nor where aria-owns leads in circles. */
function byRules(el: Element, role: string): string {
  try {
    if (isNamedByText(role) && holdsForm(el)) return textOf(el);
    return computeAccessibleName(own(el), {
      getComputedStyle: styleForNames(el),
      computedStyleSupportsPseudoElements: false,
    });
  } catch {
    return textOf(el);
  }
}

function holdsForm(el: Element): boolean {
  const isNamed = NAMING_ATTRIBUTES.some((name) => own(el).hasAttribute(name));
  return !isNamed && own(el).querySelector('form') !== null;
}

const UNSEEN = { display: 'none', visibility: 'hidden', content: 'none' } as const;

/** Styles as naming sees them: a password field inside a label is not there, nor is transparent text. */
function styleForNames(root: Element): typeof getComputedStyle {
  return (given, pseudo) => {
    const el = real(given);
    const style = getComputedStyle(el, pseudo);
    const secret = isA(el, 'input') && el.type === 'password';
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
  return own(el).shadowRoot || own(el).querySelector('slot') ? textOf(el) : '';
}

/** All text of the flat tree beneath el that is laid out. */
export function textOf(el: Element): string {
  const parts: string[] = [];
  collect(el, parts);
  return fold(parts.join(' '));
}

function collect(el: Element, parts: string[]): void {
  for (const child of childrenOf(el)) {
    if (isText(child)) parts.push(child.data);
    else if (
      isElement(child) &&
      own(child).checkVisibility({ visibilityProperty: true, opacityProperty: true })
    ) {
      collect(child, parts);
    }
  }
}
