/** Elements of popup.html. */

/** The element of this id; one that is missing or of another kind is a fault of the popup itself. */
export function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`popup.html has no ${kind.name} #${id}`);
}

/** Shows words in an element, which is hidden where there are none. */
export function say(into: HTMLElement, words: string): void {
  if (into.textContent !== words) into.textContent = words;
  into.hidden = words === '';
}

export function make(kind: string, className: string, words: string): HTMLElement {
  const made = document.createElement(kind);
  made.className = className;
  made.textContent = words;
  return made;
}
