import type { CurrentView, ProjectView, TabView } from './contract.ts';

/** The state of a connection, as short as the header has room for. */
export function statusWords(link: ProjectView['link']): string {
  switch (link.is) {
    case 'connected':
      return 'Connected';
    case 'connecting':
      return 'Connecting…';
    case 'waiting':
      return 'Reconnecting…';
    case 'refused':
      return 'Not connected';
    default:
      return link satisfies never;
  }
}

/** What is wrong with a connection and what happens next; empty while nothing is. */
export function troubleWords(project: ProjectView): string {
  switch (project.link.is) {
    case 'connected':
    case 'connecting':
      return '';
    case 'waiting':
      return `${hostWords(project.server)} does not answer. Chaperone keeps trying by itself; your shared tabs stay as they are.`;
    case 'refused':
      return [
        sentence(project.link.why || 'The server refused this browser'),
        ...(needsCode(project) ? [codeWords] : []),
      ].join(' ');
    default:
      return project.link satisfies never;
  }
}

/** A server's words as a sentence. */
function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`;
}

const codeWords = 'Copy a new code, from the dashboard or with “chaperone pair”.';

/** Whether only another connection code helps. */
export function needsCode({ link }: ProjectView): boolean {
  return link.is === 'refused' && link.code === 'unauthorised';
}

/** What to know about the current tab before and while it is shared; empty where nothing is. */
export function noteWords(
  current: CurrentView,
  chosen: ProjectView,
  other: string | undefined,
): string {
  if (current.unusable !== undefined) {
    return current.project === undefined
      ? current.unusable
      : `Paused: ${current.unusable} Agents can go on once the tab is back on a page of yours.`;
  }
  if (other !== undefined) return `This tab is shared with ${other}. A tab belongs to one project.`;
  if (current.project === undefined && chosen.link.is === 'refused') {
    return 'Connect again before you share a tab.';
  }
  return '';
}

/** What a project is called among others: with its server where their names do not tell them apart. */
export function choiceWords(project: ProjectView, all: readonly ProjectView[]): string {
  const isUnique = all.every(({ key, name }) => key === project.key || name !== project.name);
  return isUnique ? project.name : `${project.name} (${hostWords(project.server)})`;
}

/** What acting means in this project. */
export function actWords(project: ProjectView): string {
  return project.ceiling === 'act'
    ? 'Also type, submit forms and run scripts, as you could yourself.'
    : 'This project permits reading only.';
}

export function hostWords(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed !== undefined && /^https?:$/.test(parsed.protocol) ? parsed.host : url;
}

/** What the list says below a tab's title. */
export function tabWords(tab: TabView, isCurrent: boolean): string {
  return [
    ...(isCurrent ? ['This tab'] : []),
    ...(tab.made ? ['Opened by an agent'] : []),
    tab.suspended === undefined ? hostWords(tab.url) : 'Paused',
  ].join(' · ');
}
