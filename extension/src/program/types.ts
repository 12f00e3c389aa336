/** The wire shapes of relay/program, as the extension uses them. */

export type Ref = { $: string };

/** A step, with the kind that the wire tells by which field is there. */
export type Step = Work & {
  /** The path of what has to be truthy for the step not to be left out; null for none. */
  onlyIf: string | null;
};

export type Work =
  | { kind: 'run'; name: string; args: Args; frame: string; eachFrame: boolean; pick: Pick | null }
  | { kind: 'call'; method: string; params: Args }
  | { kind: 'settle'; quietMS: number; maxMS: number; begun: boolean }
  | { kind: 'await_event'; event: string; maxMS: number }
  | { kind: 'await_run'; name: string; args: Args; eachFrame: boolean; maxMS: number }
  | { kind: 'stop_if'; path: string }
  | { kind: 'eval'; expression: string; maxChars: number; frame: string };

/** Chooses an element by its number, from 0 in document order; null wants it to be the only one. */
export type Pick = { nth: number | null };

/** A JSON object in which `$` references may stand. */
export type Args = Record<string, unknown>;

export type Program = {
  tab: string;
  active: boolean;
  deadlineMS: number;
  /** The kinds of dialogs that stay open, at level act, and end the program. */
  keepDialogs: string[];
  steps: Step[];
};

export type Result = {
  tab: string;
  /** One per finished step; null where a step has no result. */
  steps: unknown[];
  stopped?: true;
  error?: Failure;
  dialogs?: Dialog[];
  opened?: unknown[];
  elapsed_ms: number;
};

export type Failure = { step: number; code: string; message: string; detail?: unknown };

/** `default` is what a prompt's field holds at first; `open` while nobody has answered it. */
export type Dialog = {
  type: string;
  message: string;
  accepted: boolean;
  default?: string;
  open?: true;
};

/** The rest is told by a settle that waits for what the program began. */
export type Settled = {
  navigated: boolean;
  quiet: boolean;
  /** Another document is on its way, and before it is there the page answers nothing. */
  waiting?: boolean;
  moved?: true;
  loading?: true;
  under_way?: number;
  answer?: Answer;
};

/** What became of the latest request for the main frame's document, as the server that was asked put it. */
export type Answer = {
  url: string;
  /** The address that was asked for first, where the server sent on from there. */
  from?: string;
  status?: number;
  type?: string;
  /** Chrome's own name for what went wrong. */
  error?: string;
  /** How the server asked for a user and a password. */
  challenge?: string;
};

export type FrameResult = {
  frame: string;
  parent?: string;
  owner?: number;
  x: number;
  y: number;
  value: unknown;
  /** In the main frame's: how many frames did not answer in time, or are too many. */
  left_out?: number;
};

/** The value as JSON text, which undefined and NaN are not and are told by name, or what the script threw. */
export type Evaluated = { value?: string; thrown?: string; more?: number; opaque?: true };
