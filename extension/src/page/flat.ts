/** The flat tree: what is rendered, with open shadow roots and slots resolved. */

import { holderOf, isA, isElement, isText, own } from './dom.ts';

/** No page nests deeper; a walk upwards ends there, whatever happens. */
const DEEPEST = 100_000;

export function childrenOf(node: Element): Node[] {
  const { shadowRoot, childNodes } = own(node);
  if (shadowRoot) return Array.from(shadowRoot.childNodes);
  if (isA(node, 'slot')) {
    const assigned = node.assignedNodes();
    if (assigned.length > 0) return assigned;
  }
  return Array.from(childNodes);
}

export function parentOf(node: Node): Element | null {
  const slot = isElement(node) ? own(node).assignedSlot : isText(node) && node.assignedSlot;
  return slot || holderOf(node);
}

/** The nearest of node and what holds it that fits. */
export function closest(node: Node | null, fits: (el: Element) => boolean): Element | null {
  let at = isElement(node) ? node : node && parentOf(node);
  for (let steps = 0; at && steps < DEEPEST; steps += 1) {
    if (fits(at)) return at;
    at = parentOf(at);
  }
  return null;
}

/** Whether el is outer or within it. */
export function within(el: Node, outer: Element): boolean {
  return closest(el, (at) => at === outer) !== null;
}

/** Every element of the flat tree beneath root, in document order. */
export function* elementsOf(root: Element): Generator<Element> {
  for (const child of childrenOf(root)) {
    if (!isElement(child)) continue;
    yield child;
    yield* elementsOf(child);
  }
}

/** The innermost element at a point of the viewport. */
export function elementAt(x: number, y: number): Element | null {
  let hit = document.elementFromPoint(x, y);
  for (let root = hit && own(hit).shadowRoot; root; root = hit && own(hit).shadowRoot) {
    const inner: Element | null = root.elementFromPoint(x, y);
    if (inner === null || inner === hit) break;
    hit = inner;
  }
  return hit;
}

export function fold(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
