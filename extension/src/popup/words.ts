import type { CurrentView, LinkView, ProjectView, TabView, View } from './contract.ts';

/** The state of a connection, as short as the header has room for. */
export function statusWords(link: LinkView): string {
  switch (link.is) {
    case 'connected':
      return 'Connected';
    case 'connecting':
      return link.again ? 'Reconnecting…' : 'Connecting…';
    case 'waiting':
      return 'Reconnecting…';
    case 'refused':
      return 'Not connected';
    default:
      return link satisfies never;
  }
}

/** What is wrong with a connection and what to do; empty while nothing is. `version` is the extension's own. */
export function troubleWords({ link, server }: ProjectView, version: string): string {
  switch (link.is) {
    case 'connected':
      return '';
    case 'connecting':
      return link.again ? lostWords(server) : '';
    case 'waiting':
      return lostWords(server);
    case 'refused':
      return [
        sentence(link.why || 'The server refused this browser'),
        ...remedy(link.code, version),
      ]
        .join(' ')
        .trim();
    default:
      return link satisfies never;
  }
}

function lostWords(server: string): string {
  return `${hostWords(server)} does not answer. Your shared tabs stay as they are.`;
}

/** What a person can do about a refusal; nothing where only its own words help. */
function remedy(code: string, version: string): string[] {
  switch (code) {
    case 'unauthorised':
      return ['Copy a new code, from the dashboard or with “chaperone pair”.'];
    case 'replaced':
      return ['Connect again to use this browser instead.'];
    case 'update_required':
      return [
        `This is extension ${version}. If the server is newer: get its extension, unpack it over this one and reload it on Chrome’s extensions page. If the server is older, update the server.`,
      ];
    default:
      return [];
  }
}

/** Whether only another connection code helps. */
export function needsCode({ link }: ProjectView): boolean {
  return link.is === 'refused' && link.code === 'unauthorised';
}

/** Where the extension that fits the server is; empty where another would not help. */
export function downloadOf({ link, server }: ProjectView): string {
  const isOther = link.is === 'refused' && link.code === 'update_required';
  return isOther ? new URL('/api/downloads/chrome-extension.zip', server).href : '';
}

/** A server's words as a sentence. */
function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`;
}

/** When a lost connection is tried again; empty where it is not waiting. */
export function retryWords(link: LinkView, now: number): string {
  if (link.is === 'connecting' && link.again) return 'Trying now…';
  if (link.is !== 'waiting') return '';
  const seconds = Math.ceil(((link.untilMS ?? now) - now) / 1000);
  return seconds > 0 ? `Next try in ${seconds} s.` : 'Trying soon…';
}

/** Which server, and who is known there. */
export function serverWords({ server, account }: ProjectView): string {
  return account === '' ? hostWords(server) : `${hostWords(server)} · account ${account}`;
}

/** What to know about the current tab before and while it is shared; empty where nothing is. */
export function noteWords(
  current: CurrentView,
  chosen: ProjectView,
  other: string | undefined,
): string {
  const shared = chosen.tabs.find(({ tab }) => tab === current.tab);
  if (shared?.suspended !== undefined) return pausedWords(shared.suspended);
  if (current.unusable !== undefined && current.project === undefined) return current.unusable;
  if (other !== undefined) return `This tab is shared with ${other}. A tab belongs to one project.`;
  if (current.project === undefined && chosen.link.is === 'refused') {
    return 'Connect again before you share a tab.';
  }
  return '';
}

/** Why nothing runs in a shared tab for now. */
export function pausedWords(suspended: string): string {
  return `Paused: ${suspended} Agents can go on once the tab is back.`;
}

/** What the list below is called; `others` are the shared tabs that are not the current one. */
export function listWords(all: number, others: number): string {
  const words = others === all ? 'Shared tabs' : 'Also shared';
  return others === 0 ? words : `${words} (${others})`;
}

/** What stands in place of an empty list, and what to do; empty where the list is not. */
export function emptyWords({ tabs }: ProjectView, current: CurrentView | undefined): string {
  const others = tabs.filter(({ tab }) => tab !== current?.tab);
  if (others.length > 0) return '';
  if (tabs.length > 0) return 'No other tab is shared.';
  const canShare = current?.project === undefined && current?.unusable === undefined;
  return current !== undefined && canShare
    ? 'Nothing is shared yet.'
    : 'Nothing is shared yet. Go to a web page and share it from here, or open a new shared tab.';
}

/** Offers that a tab stays on its site. */
export const staysOffer = 'Pause when it leaves this site';

/** Says that a tab stays on its site. */
export const staysWords = 'Pauses when it leaves its site';

/** What reading means. */
export const readWords =
  'Read, follow links and press buttons; nothing is typed. Forms that send data are blocked, for you too; what a page’s script sends is not.';

/** The project's name is not in it: nobody pastes what another has named. */
const permitMore = 'To change that: “chaperone project set NAME --policy interactive”';

/** What acting means in this project. */
export function actWords(project: ProjectView): string {
  return project.ceiling === 'act'
    ? 'Also type, submit forms and run scripts, as you could yourself.'
    : `This project permits reading only. ${permitMore}.`;
}

/** What agents may do in a tab that is shared. */
export function levelWords(project: ProjectView, { level }: TabView): string {
  if (project.ceiling === 'read')
    return `${readWords} This project permits no more. ${permitMore}.`;
  return level === 'act' ? `Read, ${lowered(actWords(project))}` : readWords;
}

function lowered(words: string): string {
  return words.replace(/^Also /, '');
}

/** What it means that agents may open tabs. */
export function mayOpenWords(project: ProjectView): string {
  if (!project.mayOpen)
    return 'Off: agents use only the tabs you share, and windows that those open.';
  return project.ceiling === 'act'
    ? 'With your sign-ins. They may act there.'
    : 'With your sign-ins. They may only read there.';
}

/** What is asked before all is disconnected. */
export function confirmWords({ projects }: View): string {
  const tabs = projects.reduce((sum, project) => sum + project.tabs.length, 0);
  const tabWords = tabs === 0 ? '' : ` ${counted(tabs, 'shared tab')} will be unshared.`;
  return `Disconnect ${counted(projects.length, 'project')}?${tabWords} Each needs its connection code again.`;
}

export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

export function hostWords(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed !== undefined && /^https?:$/.test(parsed.protocol) ? parsed.host : url;
}

/** What a shared tab has besides its address. */
export function tabWords(tab: TabView): string {
  return [...(tab.made ? ['Opened by an agent'] : []), ...(tab.stays ? [staysWords] : [])].join(
    ' · ',
  );
}
