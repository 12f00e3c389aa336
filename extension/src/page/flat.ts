/** The flat tree: what is rendered, with shadow roots and slots resolved. */

import { holderOf, isA, isElement, isText, own } from './dom.ts';
import { suspectCustom } from './hosts.ts';

/** No page nests deeper; a walk upwards ends there, whatever happens. */
const DEEPEST = 100_000;

/** The element's shadow root: an open one, or a closed one that the edge has handed in. */
export function rootOf(el: Element): ShadowRoot | null {
  const root = own(el).shadowRoot ?? closed.get(el) ?? null;
  if (root) met(root);
  return root;
}

function met(root: ShadowRoot): void {
  metRoot = true;
  if (known.has(root)) return;
  known.add(root);
  for (const heed of heeding) heed(root);
}

const known = new WeakSet<ShadowRoot>();
const heeding: ((root: ShadowRoot) => void)[] = [];

/** Calls back with each shadow root when it is first met. */
export function onRoot(heed: (root: ShadowRoot) => void): void {
  heeding.push(heed);
}

let metRoot = false;

/** Whether any shadow root has been met in this document. */
export function hasRoots(): boolean {
  return metRoot;
}

const closed = new WeakMap<Element, ShadowRoot>();
/** The slots of closed trees that nodes were found in: nodes themselves do not tell. */
const slots = new WeakMap<Node, HTMLSlotElement>();

/** Takes a closed root for known, for as long as its document lives. */
export function openUp(root: ShadowRoot): void {
  closed.set(root.host, root);
}

export function childrenOf(node: Element): Node[] {
  const root = rootOf(node);
  if (root) return listOf(root.childNodes);
  suspectCustom(node);
  if (isA(node, 'slot')) {
    const assigned = node.assignedNodes();
    if (assigned.length > 0) return noted(assigned, node);
  }
  return listOf(own(node).childNodes);
}

/** By index, which is several times faster than by iterator. */
function listOf(nodes: NodeListOf<ChildNode>): Node[] {
  const list: Node[] = [];
  for (let i = 0; i < nodes.length; i += 1) {
    const node = nodes[i];
    if (node) list.push(node);
  }
  return list;
}

function noted(assigned: Node[], slot: HTMLSlotElement): Node[] {
  const root = slot.getRootNode();
  if (root instanceof ShadowRoot && root.mode === 'closed')
    for (const node of assigned) slots.set(node, slot);
  return assigned;
}

export function parentOf(node: Node): Element | null {
  const slot = isElement(node) ? own(node).assignedSlot : isText(node) && node.assignedSlot;
  return slot || closedSlotOf(node) || holderOf(node);
}

function closedSlotOf(node: Node): HTMLSlotElement | null {
  const slot = slots.get(node);
  return slot?.isConnected && slot.assignedNodes().includes(node as Element | Text) ? slot : null;
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
  for (let root = hit && rootOf(hit); root; root = hit && rootOf(hit)) {
    const inner: Element | null = root.elementFromPoint(x, y);
    if (inner === null || inner === hit) break;
    hit = inner;
  }
  return hit;
}

export function fold(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The first characters, of which white space in front is none. */
export function head(text: string, most: number): string {
  if (text.length <= most) return text;
  const from = text.search(/\S/);
  return from < 0 ? '' : (from > 0 ? ' ' : '') + text.slice(from, from + most);
}
