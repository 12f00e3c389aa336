/**
 * Which tabs a person shared with which project, as a plain value and functions from one value to the next. Nothing
 * here knows of Chrome: whoever changes the grants keeps the value, stores it and acts on the difference.
 */

export type Level = 'read' | 'act';

/** One shared tab. `name` is the edge's own (t1) and never used twice; `tab` is Chrome's id, which may change. */
export type Grant = Readonly<{
  name: string;
  tab: number;
  /** Key of the pairing whose project the tab is shared with. */
  pairing: string;
  level: Level;
  /** The site that the tab may be used on, where the person keeps it to one (site.ts). */
  stays?: string;
  url: string;
  title: string;
  session?: string;
  made?: true;
  opener?: string;
  /** The CDP target id of the tab's page, once Chrome has told it. */
  target?: string;
  /** The tab group that displays the grant, once the tab has been seen in it. */
  group?: number;
}>;

/** What a person chooses when sharing a tab: `stays` keeps it to the site it is on. */
export type Share = Readonly<{ level: Level; stays?: true }>;

export type Grants = readonly Grant[];

export const maxGrants = 32;

export function readLevel(value: unknown): Level | undefined {
  return value === 'read' || value === 'act' ? value : undefined;
}

/** The lower of two levels. */
export function lower(one: Level, other: Level): Level {
  return one === 'act' && other === 'act' ? 'act' : 'read';
}

export function ofTab(grants: Grants, tab: number): Grant | undefined {
  return grants.find((grant) => grant.tab === tab);
}

export function ofName(grants: Grants, pairing: string, name: string): Grant | undefined {
  return grants.find((grant) => grant.pairing === pairing && grant.name === name);
}

export function ofPairing(grants: Grants, pairing: string): Grants {
  return grants.filter((grant) => grant.pairing === pairing);
}

/** Adds a grant. A tab belongs to one project: an earlier grant of the tab goes. */
export function add(grants: Grants, grant: Grant): Grants {
  return [...drop(grants, grant.tab), grant];
}

export function drop(grants: Grants, tab: number): Grants {
  return grants.filter((grant) => grant.tab !== tab);
}

export function dropPairing(grants: Grants, pairing: string): Grants {
  return grants.filter((grant) => grant.pairing !== pairing);
}

/** Changes some fields of one tab's grant; the same value comes back where nothing changed. */
export function update(grants: Grants, tab: number, change: Partial<Grant>): Grants {
  const grant = ofTab(grants, tab);
  if (grant === undefined || isSame(grant, { ...grant, ...change })) return grants;
  return grants.map((other) => (other === grant ? { ...grant, ...change } : other));
}

/** Chrome gave a tab another id. */
export function replace(grants: Grants, from: number, to: number): Grants {
  return update(drop(grants, to), from, { tab: to });
}

/** Ends a session: the tabs it made are `closed`, the others stay shared and belong to nobody. */
export function endSession(
  grants: Grants,
  pairing: string,
  session: string,
): { grants: Grants; closed: Grants } {
  const mine = (grant: Grant) => grant.pairing === pairing && grant.session === session;
  const closed = grants.filter((grant) => mine(grant) && grant.made);
  const left = grants.filter((grant) => !(mine(grant) && grant.made));
  return { grants: left.map((grant) => (mine(grant) ? released(grant) : grant)), closed };
}

/** Why nothing can run in a page, in words; `undefined` for an ordinary web page. */
export function unusable(url: string, ownHosts: readonly string[]): string | undefined {
  if (url === '' || url === 'about:blank') return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    return 'This is not an ordinary web page. Only http and https pages can be shared.';
  }
  if (isOwn(url, ownHosts)) {
    return 'This is Chaperone’s own server. An agent never drives it.';
  }
  if (isStore(parsed)) return 'Chrome lets no extension work in the web store.';
  return undefined;
}

/** Whether an address is one of Chaperone's own servers'. */
export function isOwn(url: string, ownHosts: readonly string[]): boolean {
  return URL.canParse(url) && ownHosts.includes(hostOf(new URL(url)));
}

/** A host and port to compare: all names of this machine are one. */
export function hostOf(url: URL): string {
  const local = /^(localhost|.*\.localhost|\[::1\]|127(\.\d+){3})\.?$/.test(url.hostname);
  return `${local ? 'localhost' : url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}

function isStore(url: URL): boolean {
  return (
    url.hostname === 'chromewebstore.google.com' ||
    (url.hostname === 'chrome.google.com' && url.pathname.startsWith('/webstore'))
  );
}

function released(grant: Grant): Grant {
  const { session: _, ...rest } = grant;
  return rest;
}

function isSame(one: Grant, other: Grant): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
