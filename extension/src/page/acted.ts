let latest: WeakRef<Element> | undefined;

/** Takes note of the element that an action is about, null for none any more, and answers it. */
export function actOn<E extends Element | null>(el: E): E {
  latest = el === null ? undefined : new WeakRef<Element>(el);
  return el;
}

/** The element that the action under way is about. */
export function actedOn(): Element | undefined {
  return latest?.deref();
}
