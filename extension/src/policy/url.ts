const CONTROL = /\p{Cc}/u;

/**
 * Would a browser open `text` as an http or https page, or as exactly about:blank? What the URL standard strips or
 * folds before it looks at the scheme (leading space, tabs, line ends, backslashes, missing slashes) is refused rather
 * than followed, and so is user info.
 */
export function isPageURL(text: string): boolean {
  if (text === 'about:blank') return true;
  if (text !== text.trim() || CONTROL.test(text) || text.includes('\\')) return false;
  const found = /^https?:\/\/([^/?#]*)/i.exec(text);
  const authority = found?.[1] ?? '';
  return authority !== '' && !authority.includes('@');
}
