import { type Grant, type Grants, hostOf, type Level, lower, unusable } from './grants.ts';
import type { Pairing } from './pairings.ts';
import { isOn, originOf, staysWords } from './site.ts';
import type { Tab } from './wire.ts';

/** A grant as it counts now: below the policy's ceiling, and asleep where its page cannot be worked in. */
export type Standing = Readonly<{ grant: Grant; level: Level; suspended?: string }>;

/** What there is to do after a change. */
export type Differences = {
  /** Tabs unshared or closed, or known by another id now. */
  gone: Grant[];
  /** Tabs in which less is permitted than before. */
  lowered: Grant[];
  /** Tabs in which nothing may run any more, for now. */
  asleep: Grant[];
  /** Tabs in which programs may run again. */
  awake: Grant[];
  /** Tabs shared since. */
  fresh: Grant[];
  /** Keys of the pairings whose list of tabs reads otherwise now. */
  pairings: string[];
};

/** Where Chaperone's own servers are. */
export function hostsOf(pairings: readonly Pairing[]): readonly string[] {
  return pairings.map((pairing) => hostOf(new URL(pairing.server)));
}

export function standings(grants: Grants, pairings: readonly Pairing[]): Standing[] {
  const ownHosts = hostsOf(pairings);
  return grants.flatMap((grant) => {
    const pairing = pairings.find((one) => one.key === grant.pairing);
    if (pairing === undefined) return [];
    const suspended = problemAt(grant, grant.url, ownHosts);
    const level = lower(grant.level, pairing.ceiling);
    return [suspended === undefined ? { grant, level } : { grant, level, suspended }];
  });
}

/** Why nothing can run in a tab at an address, in words; `undefined` where it can. */
export function problemAt(
  grant: Grant,
  url: string,
  ownHosts: readonly string[],
): string | undefined {
  const problem = unusable(url, ownHosts);
  return problem ?? (hasLeft(grant, url) ? staysWords(grant.stays ?? '') : undefined);
}

/** Whether an address is beyond the site that a tab stays on. */
export function hasLeft({ stays }: Grant, url: string): boolean {
  return stays !== undefined && !isOn(stays, url);
}

export function differences(before: readonly Standing[], after: readonly Standing[]): Differences {
  const found: Differences = {
    gone: [],
    lowered: [],
    asleep: [],
    awake: [],
    fresh: after.filter((now) => same(before, now) === undefined).map((now) => now.grant),
    pairings: touched(before, after),
  };
  for (const was of before) compare(was, same(after, was), found);
  return found;
}

function compare(was: Standing, now: Standing | undefined, found: Differences): void {
  const { grant } = was;
  if (now === undefined || now.grant.tab !== grant.tab) {
    found.gone.push(grant);
    return;
  }
  if (was.level === 'act' && now.level === 'read') found.lowered.push(now.grant);
  if (was.suspended === undefined && now.suspended !== undefined) found.asleep.push(now.grant);
  if (was.suspended !== undefined && now.suspended === undefined) found.awake.push(now.grant);
}

function same(all: readonly Standing[], one: Standing): Standing | undefined {
  return all.find((other) => other.grant.name === one.grant.name);
}

/** A standing as the server reads it. Of a tab that has left the site it stays on, it reads where it is and no more. */
export function describe({ grant, level, suspended }: Standing): Tab {
  const seen = hasLeft(grant, grant.url) ? { url: originOf(grant.url), title: '' } : grant;
  return {
    id: grant.name,
    ...(grant.target === undefined ? {} : { target: grant.target }),
    url: seen.url || 'about:blank',
    title: seen.title,
    level,
    ...(suspended === undefined ? {} : { suspended }),
    ...(grant.session === undefined ? {} : { session: grant.session }),
    ...(grant.made === undefined ? {} : { made: grant.made }),
    ...(grant.opener === undefined ? {} : { opener: grant.opener }),
  };
}

export function tabsOf(all: readonly Standing[], pairing: string): Tab[] {
  return all.filter((standing) => standing.grant.pairing === pairing).map(describe);
}

function touched(before: readonly Standing[], after: readonly Standing[]): string[] {
  const keys = new Set([...before, ...after].map((standing) => standing.grant.pairing));
  return [...keys].filter(
    (key) => JSON.stringify(tabsOf(before, key)) !== JSON.stringify(tabsOf(after, key)),
  );
}
