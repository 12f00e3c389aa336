import type { CurrentView, ProjectView, TabView, View } from '../popup/contract.ts';
import { cut, cutAddress, maxTitle } from './bounds.ts';
import type { Grants } from './grants.ts';
import type { LinkState } from './link.ts';
import type { Pairing } from './pairings.ts';
import type { Standing } from './standing.ts';

/** What a popup is about: Chrome's tab below it. */
export type Current = { tab: number; title: string; url: string };

/** What came of the popup's last command: why it was not done, or the project it connected. */
export type Outcome = { problem?: string; connected?: string };

type Known = {
  readonly trouble: string | undefined;
  readonly pairings: readonly Pairing[];
  readonly standings: readonly Standing[];
  unusable(url: string): string | undefined;
};

/** What the popup shows. Tokens are not in it, and no text in it is long, whoever wrote it. */
export function viewOf(
  known: Known,
  links: (key: string) => LinkState,
  current: Current | undefined,
  { problem = known.trouble, connected }: Outcome,
): View {
  return {
    projects: known.pairings.map((pairing) => projectView(known, pairing, links(pairing.key))),
    ...(current === undefined ? {} : { current: currentView(known, current) }),
    ...(problem === undefined ? {} : { problem: cut(problem, maxTitle) }),
    ...(connected === undefined ? {} : { connected }),
  };
}

/** The least a popup can show: what is shared, to be stopped, with whom, to be disconnected, and what went wrong. */
export function bareView(
  known: { readonly pairings: readonly Pairing[]; readonly grants: Grants },
  problem: string,
): View {
  const projects = known.pairings.map(({ key, name, server, ceiling, mayOpen }): ProjectView => {
    const tabs = known.grants.filter(({ pairing }) => pairing === key);
    const bare = tabs.map((grant) => tabView({ grant, level: grant.level }));
    return { key, name, server, link: 'waiting', needsCode: false, ceiling, mayOpen, tabs: bare };
  });
  return { projects, problem: cut(problem, maxTitle) };
}

function projectView(known: Known, pairing: Pairing, link: LinkState): ProjectView {
  const { refused } = pairing;
  return {
    key: pairing.key,
    name: pairing.name,
    server: new URL(pairing.server).host,
    link: refused === undefined ? linkView(link) : 'refused',
    ...(refused === undefined ? {} : { why: refused.message }),
    needsCode: refused?.code === 'unauthorised',
    ceiling: pairing.ceiling,
    mayOpen: pairing.mayOpen,
    tabs: known.standings.filter(({ grant }) => grant.pairing === pairing.key).map(tabView),
  };
}

function linkView(link: LinkState): ProjectView['link'] {
  return link.is === 'stopped' ? 'waiting' : link.is;
}

function tabView({ grant, level, suspended }: Standing): TabView {
  return {
    tab: grant.tab,
    title: grant.title || grant.url || 'Blank tab',
    url: grant.url,
    level,
    made: grant.made === true,
    ...(suspended === undefined ? {} : { suspended }),
  };
}

function currentView(known: Known, current: Current): CurrentView {
  const standing = known.standings.find(({ grant }) => grant.tab === current.tab);
  const problem = known.unusable(current.url);
  return {
    tab: current.tab,
    title: cut(current.title, maxTitle),
    url: cutAddress(current.url),
    ...(problem === undefined ? {} : { unusable: problem }),
    ...(standing === undefined ? {} : { project: standing.grant.pairing }),
  };
}
