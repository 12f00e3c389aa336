/** The wire shapes of relay/program, as the extension uses them. */

export type Ref = { $: string };

/** A step, with the kind that the wire tells by which field is there. */
export type Step =
  | { kind: 'run'; name: string; args: Args; frame: string; eachFrame: boolean }
  | { kind: 'call'; method: string; params: Args }
  | { kind: 'settle'; quietMS: number; maxMS: number }
  | { kind: 'await_event'; event: string; maxMS: number }
  | { kind: 'await_run'; name: string; args: Args; maxMS: number }
  | { kind: 'stop_if'; path: string };

/** A JSON object in which `$` references may stand. */
export type Args = Record<string, unknown>;

export type Program = { tab: string; active: boolean; deadlineMS: number; steps: Step[] };

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

export type Dialog = { type: string; message: string; accepted: boolean };

export type Settled = { navigated: boolean; quiet: boolean };

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
