import type { CurrentView, LinkView, ProjectView, TabView, View } from '../popup/contract.ts';
import { cut, cutAddress, maxTitle } from './bounds.ts';
import type { Grant, Grants } from './grants.ts';
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

/** What goes on just now: how a pairing's link is, and which tabs are attached. */
type Live = {
  link(key: string): LinkState;
  isAttached(tab: number): boolean;
};

/** What the popup shows. Tokens are not in it, and no text in it is long, whoever wrote it. */
export function viewOf(
  known: Known,
  live: Live,
  current: Current | undefined,
  { problem = known.trouble, connected }: Outcome,
): View {
  return {
    projects: known.pairings.map((pairing) => projectView(known, pairing, live)),
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
  const projects = known.pairings.map((pairing): ProjectView => {
    const { key, name, server, account, ceiling, mayOpen } = pairing;
    const shared = known.grants.filter((grant) => grant.pairing === key);
    const tabs = shared.map((grant) => tabView({ grant, level: grant.level }, false));
    return { key, name, server, account, link: { is: 'waiting' }, ceiling, mayOpen, tabs };
  });
  return { projects, problem: cut(problem, maxTitle) };
}

function projectView(known: Known, pairing: Pairing, live: Live): ProjectView {
  const link = linkView(pairing, live.link(pairing.key));
  const isUsed = ({ grant: { session, tab } }: Standing) =>
    link.is === 'connected' && session !== undefined && live.isAttached(tab);
  const shared = known.standings.filter(({ grant }) => grant.pairing === pairing.key);
  return {
    key: pairing.key,
    name: pairing.name,
    server: new URL(pairing.server).origin,
    account: pairing.account,
    link,
    ceiling: pairing.ceiling,
    mayOpen: pairing.mayOpen,
    tabs: shared.map((standing) => tabView(standing, isUsed(standing))),
  };
}

function linkView({ refused }: Pairing, link: LinkState): LinkView {
  if (refused !== undefined) return { is: 'refused', code: refused.code, why: refused.message };
  switch (link.is) {
    case 'connecting':
    case 'connected':
    case 'waiting':
      return link;
    case 'stopped':
      return { is: 'waiting' };
    case 'refused':
      return { is: 'refused', code: link.why.code, why: link.why.message };
    default:
      return link satisfies never;
  }
}

function tabView({ grant, level, suspended }: Standing, used: boolean): TabView {
  return {
    tab: grant.tab,
    title: titleOf(grant),
    url: grant.url,
    level,
    stays: grant.stays !== undefined,
    made: grant.made === true,
    used,
    ...(suspended === undefined ? {} : { suspended }),
  };
}

function titleOf({ title, url }: Grant): string {
  const named = title || url;
  return named === '' || named === 'about:blank' ? 'Blank tab' : named;
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
