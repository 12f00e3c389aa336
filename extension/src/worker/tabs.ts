/** The one file that names chrome.tabs, chrome.tabGroups, chrome.windows and chrome.webNavigation. */
import type { Windows } from './focus.ts';
import type { Screen } from './views.ts';

export type TabListener = {
  created(tab: chrome.tabs.Tab): void;
  /** A tab's page goes to another. */
  began(tab: number): void;
  /** It has arrived there, or came to nothing. */
  ended(tab: number): void;
  /** A page of one tab opened another. Chrome tells it after `created` and before the new tab is anywhere. */
  opened(tab: number, by: number): void;
  changed(tab: chrome.tabs.Tab): void;
  /** A tab came into a group, or out of any. */
  regrouped(tab: number, group: number): void;
  replaced(from: number, to: number): void;
  removed(tab: number): void;
  /** Another window has the keyboard, or none of the browser's (-1). */
  focused(window: number): void;
  /** A window shows another tab. */
  shown(window: number, tab: number): void;
};

/** To be called synchronously when the worker starts, so that Chrome wakes it for events. */
export function listen(listener: TabListener): void {
  chrome.tabs.onCreated.addListener((tab) => listener.created(tab));
  chrome.webNavigation.onCreatedNavigationTarget.addListener(({ tabId, sourceTabId }) =>
    listener.opened(tabId, sourceTabId),
  );
  const page = (told: (tab: number) => void) => (details: { tabId: number; frameId: number }) => {
    if (details.frameId === 0) told(details.tabId);
  };
  chrome.webNavigation.onBeforeNavigate.addListener(page((tab) => listener.began(tab)));
  chrome.webNavigation.onCommitted.addListener(page((tab) => listener.ended(tab)));
  chrome.webNavigation.onErrorOccurred.addListener(page((tab) => listener.ended(tab)));
  chrome.tabs.onUpdated.addListener((id, change, tab) => {
    if (change.groupId !== undefined) listener.regrouped(id, change.groupId);
    listener.changed(tab);
  });
  chrome.tabs.onReplaced.addListener((to, from) => listener.replaced(from, to));
  chrome.tabs.onRemoved.addListener((tab) => listener.removed(tab));
  chrome.windows.onFocusChanged.addListener((window) => listener.focused(window));
  chrome.tabs.onActivated.addListener(({ windowId, tabId }) => listener.shown(windowId, tabId));
}

export function find(tab: number): Promise<chrome.tabs.Tab | undefined> {
  return chrome.tabs.get(tab).catch(() => undefined);
}

/** Where all frames of a tab are. */
export async function frames(tab: number): Promise<string[]> {
  const found = await chrome.webNavigation.getAllFrames({ tabId: tab });
  return found?.map(({ url }) => url) ?? [];
}

export function all(): Promise<chrome.tabs.Tab[]> {
  return chrome.tabs.query({});
}

/** The address a tab is at or, where it has none yet, going to. */
export function addressOf(tab: chrome.tabs.Tab): string {
  return tab.url || tab.pendingUrl || '';
}

/** A blank page is there sooner than this, or something is wrong with it that others will notice. */
const blankMS = 2000;

/**
 * Opens a blank tab, behind the person's own unless it is to be active; `undefined` where no window is open. Its page is
 * there: Chrome crashes a page whose focus is emulated before.
 */
export async function openBlank(
  { active }: { active: boolean } = { active: false },
): Promise<chrome.tabs.Tab | undefined> {
  const tab = await chrome.tabs.create({ active, url: 'about:blank' }).catch(() => undefined);
  if (tab?.id !== undefined && tab.status === 'loading') await loaded(tab.id);
  return tab;
}

async function loaded(tab: number): Promise<void> {
  const until = Date.now() + blankMS;
  while (Date.now() < until && (await find(tab))?.status === 'loading') {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export async function close(tab: number): Promise<void> {
  await chrome.tabs.remove(tab).catch(() => undefined);
}

/** Where the person's keyboard is; see Focus. */
export const windows: Windows = {
  look: async (id) => {
    const [tab, all] = await Promise.all([find(id), chrome.windows.getAll()]); // both asked before this returns
    if (tab === undefined) return undefined;
    const state = all.find((window) => window.id === tab.windowId)?.state;
    const focused = all.find((window) => window.focused)?.id;
    return { window: tab.windowId, minimised: state === 'minimized', focused };
  },
  front: async (window) => void (await chrome.windows.update(window, { focused: true })),
  minimise: async (window) => void (await chrome.windows.update(window, { state: 'minimized' })),
};

/** What the person looks at; see Views. */
export const screen: Screen = {
  windowOf: async (tab) => (await find(tab))?.windowId,
  show: async (tab) => void (await chrome.tabs.update(tab, { active: true })),
  front: windows.front,
};

/** The window that has the keyboard; -1 is none of the browser's. */
export async function focusedWindow(): Promise<number> {
  return (await chrome.windows.getAll()).find(({ focused }) => focused)?.id ?? -1;
}

export async function bringToFront(tab: chrome.tabs.Tab): Promise<void> {
  await chrome.tabs.update(tab.id, { active: true });
  await chrome.windows.update(tab.windowId, { focused: true });
}

/** Loads a discarded tab again: commands to it would hang. */
export async function wake(tab: chrome.tabs.Tab): Promise<void> {
  if (tab.discarded && tab.id !== undefined) await chrome.tabs.reload(tab.id);
}

/**
 * Shows a tab in that of our own groups which its window has, or else in a new one, called title. Groups are a display
 * only: where one cannot be made (a pinned tab, a popup window, a tab being dragged) the answer is `undefined`.
 */
export async function showInGroup(
  tab: number,
  title: string,
  ours: readonly number[],
): Promise<number | undefined> {
  try {
    const { windowId, pinned } = await chrome.tabs.get(tab);
    if (pinned) return undefined;
    const groups = await chrome.tabGroups.query({ windowId });
    const existing = groups.find(({ id }) => ours.includes(id));
    const group = await chrome.tabs.group(
      existing === undefined
        ? { tabIds: [tab], createProperties: { windowId } }
        : { tabIds: [tab], groupId: existing.id },
    );
    await chrome.tabGroups.update(group, { title, color: 'blue' });
    return group;
  } catch {
    return undefined;
  }
}

/** Takes a tab out of a group, where it is still in that one. */
export async function leaveGroup(tab: number, group: number): Promise<void> {
  if ((await find(tab))?.groupId !== group) return;
  await chrome.tabs.ungroup([tab]).catch(() => undefined);
}
