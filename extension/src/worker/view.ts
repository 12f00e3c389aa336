import type { CurrentView, ProjectView, TabView, View } from '../popup/contract.ts';
import type { LinkState } from './link.ts';
import type { Pairing } from './pairings.ts';
import type { Standing } from './standing.ts';

/** What a popup is about: Chrome's tab below it. */
export type Current = { tab: number; title: string; url: string };

type Known = {
  readonly pairings: readonly Pairing[];
  readonly standings: readonly Standing[];
  unusable(url: string): string | undefined;
};

/** What the popup shows. Tokens are not in it. */
export function viewOf(
  known: Known,
  links: (key: string) => LinkState,
  current: Current | undefined,
  problem: string | undefined,
): View {
  return {
    projects: known.pairings.map((pairing) => projectView(known, pairing, links(pairing.key))),
    ...(current === undefined ? {} : { current: currentView(known, current) }),
    ...(problem === undefined ? {} : { problem }),
  };
}

function projectView(known: Known, pairing: Pairing, link: LinkState): ProjectView {
  const why = pairing.refused?.message;
  return {
    key: pairing.key,
    name: pairing.name,
    server: new URL(pairing.server).host,
    link: why === undefined ? linkView(link) : 'refused',
    ...(why === undefined ? {} : { why }),
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
    ...current,
    ...(problem === undefined ? {} : { unusable: problem }),
    ...(standing === undefined ? {} : { project: standing.grant.pairing }),
  };
}
