/** What the popup and the worker say to each other, over one port. */
import type { Level, Share } from '../worker/grants.ts';

export const portName = 'popup';

/** From the popup. `tab` is Chrome's id, `project` a project's key. */
export type Command =
  | { do: 'look'; tab: number }
  | { do: 'connect'; code: string }
  | { do: 'share'; tab: number; project: string; share: Share }
  | { do: 'new_tab'; project: string; share: Share }
  | { do: 'level'; tab: number; level: Level }
  | { do: 'unshare'; tab: number }
  | { do: 'may_open'; project: string; on: boolean }
  | { do: 'regroup'; project: string }
  | { do: 'again'; project: string }
  | { do: 'disconnect'; project: string }
  | { do: 'disconnect_all' };

/** From the worker, after each change. */
export type View = {
  projects: ProjectView[];
  current?: CurrentView;
  /** Why the last command was not done, or what went wrong by itself. */
  problem?: string;
  /** The project that the last command connected; told once. */
  connected?: string;
};

export type ProjectView = {
  key: string;
  name: string;
  /** Where the server is: an origin. */
  server: string;
  /** Who is connected there; empty until the server has said it. */
  account: string;
  link: LinkView;
  /** What the project permits at most. */
  ceiling: Level;
  mayOpen: boolean;
  tabs: TabView[];
};

export type LinkView =
  /** With `again`, after a connection was lost; the popup itself remembers that. */
  | { is: 'connecting'; again?: true }
  | { is: 'connected' }
  /** It dials again by itself, at this time. */
  | { is: 'waiting'; untilMS?: number }
  /** It does not dial again by itself. */
  | { is: 'refused'; code: string; why: string };

export type TabView = {
  tab: number;
  title: string;
  url: string;
  level: Level;
  stays: boolean;
  /** Opened by an agent. */
  made: boolean;
  /** A session has it and can use it: its server is connected and the tab attached. */
  used: boolean;
  suspended?: string;
};

/** The tab the popup was opened over. */
export type CurrentView = {
  tab: number;
  title: string;
  url: string;
  /** Why it cannot be shared. */
  unusable?: string;
  /** The project it is shared with. */
  project?: string;
};
