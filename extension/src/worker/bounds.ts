/** The bounds of what is taken in, kept and told (docs/relay.md), and how texts are held to them. */
import { type Grant, type Grants, maxGrants } from './grants.ts';

/** The largest message taken from a server. */
export const maxReceivedBytes = 2 << 20;
/** The largest first line of one. */
export const maxReceivedHeaderBytes = 64 << 10;
/** The largest message sent: 16 MiB. */
export const maxSentBytes = 16 << 20;

export const maxAddress = 4096;
export const maxTitle = 300;
/** Of a project's or a server's name. */
export const maxLabel = 100;
/** Of a sentence for a person. */
export const maxSentence = 300;

/** Whether a text is longer than this in UTF-8. */
export function isLonger(text: string, bytes: number): boolean {
  if (text.length > bytes) return true;
  return text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes;
}

/** Whether a text can be the id of a project, a session or a browser. */
export function isName(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}

/** The beginning of a text; no character is cut in two. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');
}

/** A server's words as a person may read them: in one line, without what turns the text around it. */
export function readable(words: string, most: number): string {
  return cut(words.replace(/\p{Bidi_Control}/gu, '').replace(/[\s\p{Cc}]+/gu, ' '), most).trim();
}

/** An address of at most 4 KiB. What was too long keeps its origin: that says who may work in the page. */
export function cutAddress(address: string): string {
  if (address.length <= maxAddress) return address;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return cut(address, maxAddress);
  return cut(`${url.origin}${url.pathname}${url.search}${url.hash}`, maxAddress);
}

/** Grants as they are kept and told: whatever a page calls itself, all of them fit. */
export function held(grants: Grants): Grants {
  return grants.slice(0, maxGrants).map(heldGrant);
}

function heldGrant(grant: Grant): Grant {
  if (grant.url.length <= maxAddress && grant.title.length <= maxTitle) return grant;
  return { ...grant, url: cutAddress(grant.url), title: cut(grant.title, maxTitle) };
}
