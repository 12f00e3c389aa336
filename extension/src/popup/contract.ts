/** What the popup and the worker say to each other, over one port. */
import type { Level } from '../worker/grants.ts';

export const portName = 'popup';

/** From the popup. `tab` is Chrome's id, `project` a project's key. */
export type Command =
  | { do: 'look'; tab: number }
  | { do: 'connect'; code: string }
  | { do: 'share'; tab: number; project: string; level: Level }
  | { do: 'level'; tab: number; level: Level }
  | { do: 'unshare'; tab: number }
  | { do: 'may_open'; project: string; on: boolean }
  | { do: 'again'; project: string }
  | { do: 'disconnect'; project: string };

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
  server: string;
  link: 'connecting' | 'connected' | 'waiting' | 'refused';
  /** Why the connection is refused. */
  why?: string;
  /** Only another connection code helps. */
  needsCode: boolean;
  /** What the project permits at most. */
  ceiling: Level;
  mayOpen: boolean;
  tabs: TabView[];
};

export type TabView = {
  tab: number;
  title: string;
  url: string;
  level: Level;
  /** Opened by an agent. */
  made: boolean;
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
