/** What the walk finds on a page, before it is named. */

import { isElement, isText, tagOf } from './dom.ts';
import { childrenOf } from './flat.ts';
import type { Kind } from './roles.ts';
import { kindOf, roleOf } from './roles.ts';
import type { Box } from './sight.ts';

/** One thing on the page, before it is named: names cost most, and most of a long page is never shown. */
export type Item = {
  kind: Kind | 'text' | 'option' | 'news';
  role: string;
  /** The element; null for text. */
  el: Element | null;
  text: string;
  /** What of the text is new since the last look. */
  news: string;
  states: string[];
  children: Item[];
  /** For text: what decides whether it labels something that can be operated. */
  near: Holder[];
  /** What is in the window of where it stands. */
  now: Box | null;
};

/** Something that holds text: the text labels what else is held, once there is a control in it. */
export type Holder = { labels: boolean };

/** Elements whose content is not shown as text. */
export const SKIPPED = new Set(
  'script style template noscript head meta link title desc datalist canvas video audio object embed'.split(
    ' ',
  ),
);

export function item(kind: Item['kind'], role: string, el: Element | null): Item {
  return { kind, role, el, text: '', news: '', states: [], children: [], near: [], now: null };
}

/** Whether the line stands for something to click although it is no control by its role. */
export function isPressable(it: Item): boolean {
  return it.states.includes('clickable') || it.states.includes('draggable');
}

/** What stands in a canvas is not drawn: only assistive technology and the keyboard reach it. */
export function fallback(node: Node, out: Item[]): void {
  if (isText(node) && node.data.trim() !== '') {
    out.push({
      ...item('text', 'text', null),
      text: node.data,
      states: ['fallback'],
      near: [{ labels: true }],
    });
  }
  if (!isElement(node) || SKIPPED.has(tagOf(node))) return;
  const role = roleOf(node);
  const isControl = kindOf(node, role) === 'control';
  if (isControl) out.push({ ...item('control', role, node), states: ['fallback'] });
  else for (const child of childrenOf(node)) fallback(child, out);
}
