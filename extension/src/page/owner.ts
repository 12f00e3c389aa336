import type { Owner } from './contract.ts';
import { isElement } from './dom.ts';
import { Refusal } from './failure.ts';
import { numberOf } from './nodes.ts';

/** The frame element's number and the corner of its content box, which is where its document's viewport begins. */
export function owner(el: unknown): Owner {
  if (!isElement(el)) throw new Refusal('bad_request', 'The owner of a frame is an element.');
  const box = el.getBoundingClientRect();
  const style = getComputedStyle(el);
  return {
    node: numberOf(el),
    x: box.x + el.clientLeft + Number.parseFloat(style.paddingLeft || '0'),
    y: box.y + el.clientTop + Number.parseFloat(style.paddingTop || '0'),
  };
}
