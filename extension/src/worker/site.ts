/** The site that a person keeps a tab to. */

/** The site of a web page: its host and port, without a leading `www.`; `undefined` of what is no web page. */
export function siteOf(url: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) return undefined;
  return parsed.host.replace(/^www\.(?=.*\.)/, '');
}

/** Whether a page is on a site or a part of it. A tab that is nowhere yet has not left. */
export function isOn(site: string, url: string): boolean {
  if (url === '' || url === 'about:blank') return true;
  const host = siteOf(url);
  return host !== undefined && (host === site || host.endsWith(`.${site}`));
}

/** Whose an address is: a blob is its maker's. */
export function makerOf(url: string): string {
  return url.replace(/^(blob:)+/, '');
}

/** An address without its path. */
export function originOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed === undefined ? '' : `${parsed.protocol}//${parsed.host}/`;
}

/** Why nothing runs elsewhere, in words. */
export function staysWords(site: string): string {
  return `This tab stays on ${site}. Other sites are not for agents.`;
}
