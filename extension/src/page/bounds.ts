/** What a page says about itself has bounds, in UTF-16 units; what is cut ends in an ellipsis. */
export const LONGEST_NAME = 200;
export const LONGEST_ROLE = 40;
const LONGEST_TITLE = 300;
const LONGEST_URL = 4000;

/** At most `most` units of the text, its ellipsis among them, and never half of a surrogate pair. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 2);
  const splits = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, splits ? most - 2 : most - 1)}…`;
}

/** Where the document stands and what it is called. `site` is whose it is, whatever the address looks like. */
export function whereabouts(): { url: string; site: string; title: string } {
  return { url: address(), site: site(), title: cut(document.title, LONGEST_TITLE) };
}

export function address(): string {
  return cut(location.href, LONGEST_URL);
}

/**
 * The document's origin; empty where it has none of its own. A blank document has that of whoever filled it, a
 * sandboxed one that of its address.
 */
export function site(): string {
  if (location.protocol === 'http:' || location.protocol === 'https:') return location.origin;
  return self.origin === 'null' ? '' : self.origin;
}
