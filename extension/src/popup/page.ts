/** Elements of popup.html. */

/** The element of this id; one that is missing or of another kind is a fault of the popup itself. */
export function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`popup.html has no ${kind.name} #${id}`);
}

/** The element below another that a selector finds. */
export function part<T extends Element>(of: ParentNode, selector: string, kind: new () => T): T {
  const found = of.querySelector(selector);
  if (found instanceof kind) return found;
  throw new Error(`popup.html has no ${kind.name} ${selector}`);
}

/** Shows words in an element, which is hidden where there are none. */
export function say(into: HTMLElement, words: string): void {
  write(into, words);
  into.hidden = words === '';
}

/** Writes words into an element; where they stand already, nothing is read out again. */
export function write(into: HTMLElement, words: string): void {
  if (into.textContent !== words) into.textContent = words;
}

/** Writes words that may be cut where there is no room; all of them show under the pointer. */
export function writeCut(into: HTMLElement, words: string): void {
  write(into, words);
  into.title = words;
}

export function hide(id: string, isHidden: boolean): void {
  element(id, HTMLElement).hidden = isHidden;
}

export function make(kind: string, className: string, words: string): HTMLElement {
  const made = document.createElement(kind);
  made.className = className;
  made.textContent = words;
  return made;
}

/** How a list of elements stands for items: each has a key that no other has. */
export type Rows<T> = {
  key(item: T): string;
  make(item: T): HTMLElement;
  show(row: HTMLElement, item: T): void;
};

/** Brings a list in line with items, in their order. An element that stays is kept, and the focus in it. */
export function arrange<T>(list: HTMLElement, items: readonly T[], rows: Rows<T>): void {
  const before = new Map(rowsOf(list).map((row) => [row.getAttribute('data-row'), row]));
  const after = items.map((item) => {
    const row = before.get(rows.key(item)) ?? rows.make(item);
    row.setAttribute('data-row', rows.key(item));
    rows.show(row, item);
    return row;
  });
  for (const row of before.values()) if (!after.includes(row)) row.remove();
  after.forEach((row, index) => {
    const there = rowsOf(list)[index];
    if (there !== row) list.insertBefore(row, there ?? null);
  });
}

export function rowsOf(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>(':scope > [data-row]')];
}
