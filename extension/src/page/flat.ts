/** The flat tree: what is rendered, with open shadow roots and slots resolved. */

export function childrenOf(node: Element): Node[] {
  if (node.shadowRoot) return Array.from(node.shadowRoot.childNodes);
  if (node instanceof HTMLSlotElement) {
    const assigned = node.assignedNodes();
    if (assigned.length > 0) return assigned;
  }
  return Array.from(node.childNodes);
}

export function parentOf(node: Node): Element | null {
  if (node instanceof Element && node.assignedSlot) return node.assignedSlot;
  if (node instanceof Text && node.assignedSlot) return node.assignedSlot;
  const parent = node.parentNode;
  if (parent instanceof ShadowRoot) return parent.host;
  return parent instanceof Element ? parent : null;
}

/** The nearest of node and what holds it that fits. */
export function closest(node: Node | null, fits: (el: Element) => boolean): Element | null {
  let at = node instanceof Element ? node : node && parentOf(node);
  while (at && !fits(at)) at = parentOf(at);
  return at;
}

/** Whether el is outer or within it. */
export function within(el: Node, outer: Element): boolean {
  return closest(el, (at) => at === outer) !== null;
}

/** Every element of the flat tree beneath root, in document order. */
export function* elementsOf(root: Element): Generator<Element> {
  for (const child of childrenOf(root)) {
    if (!(child instanceof Element)) continue;
    yield child;
    yield* elementsOf(child);
  }
}

/** The innermost element at a point of the viewport. */
export function elementAt(x: number, y: number): Element | null {
  let hit = document.elementFromPoint(x, y);
  while (hit?.shadowRoot) {
    const inner: Element | null = hit.shadowRoot.elementFromPoint(x, y);
    if (inner === null || inner === hit) break;
    hit = inner;
  }
  return hit;
}

export function fold(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
