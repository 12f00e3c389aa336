/**
 * Elements as the browser has them, whatever the page made of them. A form gives the names of its fields precedence
 * over its own properties, in our world too (`<input name="childNodes">`), and an element that came over from another
 * document is of that window's classes. So the page script reads an element only through `own`, where it may be a form,
 * and asks here what it is.
 */

const HTML = 'http://www.w3.org/1999/xhtml';
const SHADOW_OR_FRAGMENT = 11;

const nodeType = getter<number>(Node.prototype, 'nodeType');
const parentNode = getter<Node | null>(Node.prototype, 'parentNode');
const localName = getter<string>(Element.prototype, 'localName');
const namespace = getter<string | null>(Element.prototype, 'namespaceURI');

/** A class's own getter, which works on objects of other windows' classes too. */
function getter<T>(prototype: object, name: string): (of: unknown) => T {
  const get = Object.getOwnPropertyDescriptor(prototype, name)?.get;
  if (get === undefined) throw new Error(`no getter ${name}`);
  return (of) => Reflect.apply(get, of, []) as T;
}

function typeOf(value: unknown): number {
  try {
    return nodeType(value);
  } catch {
    return 0; // no node
  }
}

export function isElement(value: unknown): value is Element {
  return typeOf(value) === Node.ELEMENT_NODE;
}

export function isText(value: unknown): value is Text {
  const type = typeOf(value);
  return type === Node.TEXT_NODE || type === Node.CDATA_SECTION_NODE;
}

/** The element's local name. */
export function tagOf(el: Element): string {
  return localName(el);
}

export function isHTML(el: Element): el is HTMLElement {
  return namespace(el) === HTML;
}

/** Whether it is an HTML element of that tag. */
export function isA<Tag extends keyof HTMLElementTagNameMap>(
  value: unknown,
  tag: Tag,
): value is HTMLElementTagNameMap[Tag] {
  return isElement(value) && tagOf(value) === tag && isHTML(value);
}

/** What holds the node, through the edge of a shadow tree, though not by way of its slot. */
export function holderOf(node: Node): Element | null {
  const parent = parentNode(node);
  if (typeOf(parent) === SHADOW_OR_FRAGMENT) return (parent as ShadowRoot).host ?? null;
  return isElement(parent) ? parent : null;
}

const views = new WeakMap<Element, Element>();
const forms = new WeakMap<Element, Element>();

/** The element to read and to call: itself, or a view of a form that its fields' names do not reach. */
export function own<E extends Element>(el: E): E {
  // The name first: this is asked of every element, and hardly any is a form.
  return (localName(el) === 'form' && isA(el, 'form') ? viewOf(el) : el) as E;
}

/** The element itself, where a view of it has been handed on. */
export function real(el: Element): Element {
  return forms.get(el) ?? el;
}

function viewOf(form: HTMLFormElement): Element {
  const known = views.get(form);
  if (known !== undefined) return known;
  const view: Element = new Proxy(Object.create(HTMLFormElement.prototype), {
    get(_, name) {
      const value: unknown = Reflect.get(HTMLFormElement.prototype, name, form);
      return typeof value === 'function' ? value.bind(form) : value;
    },
  });
  views.set(form, view);
  forms.set(view, form);
  return view;
}
