import type { ProjectView, View } from './contract.ts';

/** The projects in the order they are offered: the one that has the current tab first. */
export function offered(view: View): ProjectView[] {
  const own = view.projects.filter(({ key }) => key === view.current?.project);
  return [...own, ...view.projects.filter((one) => !own.includes(one))];
}

/** The project to show: the chosen one, that of the current tab, or the last connected that no server refuses. */
export function shown(view: View, chosen: string | undefined): ProjectView | undefined {
  const keyed = (wanted: string | undefined) => view.projects.find(({ key }) => key === wanted);
  const good = view.projects.findLast(({ link }) => link.is !== 'refused');
  return keyed(chosen) ?? keyed(view.current?.project) ?? good ?? view.projects.at(-1);
}

/** A view after another: what is dialled again after a failure goes on being a lost connection until it is back. */
export function after(before: View, now: View): View {
  return {
    ...now,
    projects: now.projects.map((project) => {
      const was = before.projects.find(({ key }) => key === project.key)?.link;
      const isLost = was?.is === 'waiting' || (was?.is === 'connecting' && was.again === true);
      const isAgain = isLost && project.link.is === 'connecting';
      return isAgain ? { ...project, link: { is: 'connecting', again: true } } : project;
    }),
  };
}
