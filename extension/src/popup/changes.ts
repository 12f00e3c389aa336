import type { ProjectView, TabView, View } from './contract.ts';

/** What a person who does not see the popup is told of a change. */
export function changeWords(before: View | undefined, now: View): string {
  if (before === undefined) return '';
  const gone = before.projects.filter((project) => same(now.projects, project) === undefined);
  return [
    ...gone.map(({ name }) => `${name} is disconnected.`),
    ...now.projects.flatMap((project) => projectChanges(same(before.projects, project), project)),
  ].join(' ');
}

function projectChanges(before: ProjectView | undefined, now: ProjectView): string[] {
  if (before === undefined) return [`${now.name} is added.`];
  const stopped = before.tabs.filter((tab) => sameTab(now.tabs, tab) === undefined);
  return [
    ...stopped.map(({ title }) => `“${title}” is no longer shared.`),
    ...now.tabs.flatMap((tab) => tabChanges(sameTab(before.tabs, tab), tab)),
  ];
}

function tabChanges(before: TabView | undefined, now: TabView): string[] {
  const name = `“${now.title}”`;
  if (before === undefined) {
    return [now.made ? `An agent opened ${name}.` : `${name} is shared.`, levelWords(now)];
  }
  return [
    ...(before.level === now.level ? [] : [`${name}: ${levelWords(now)}`]),
    ...(before.suspended === now.suspended ? [] : [pauseWords(name, now)]),
  ];
}

function pauseWords(name: string, { suspended }: TabView): string {
  return suspended === undefined ? `${name} goes on.` : `${name} is paused. ${suspended}`;
}

function levelWords({ level }: TabView): string {
  return level === 'act' ? 'Agents may act.' : 'Agents may read.';
}

function same(all: readonly ProjectView[], one: ProjectView): ProjectView | undefined {
  return all.find(({ key }) => key === one.key);
}

function sameTab(all: readonly TabView[], one: TabView): TabView | undefined {
  return all.find(({ tab }) => tab === one.tab);
}
