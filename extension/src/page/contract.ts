/**
 * What the page script answers, and to which questions. The edge calls `globalThis.chaperone(name, args)` in its
 * isolated world of one frame and gets one JSON string back: an `Answer`. server/browse decodes the same shapes.
 */

/** An element as the page script knows it: the document's random id and a number never given to another element. */
export type NodeRef = { doc: string; node: number };

/** An element by what a person calls it; `nth` counts from 0 in document order. */
export type Described = { role: string; name: string; nth?: number };

export type Answer = { value: unknown } | { error: Failure };

export type Failure = {
  code:
    | 'bad_request'
    | 'stale_ref'
    | 'ambiguous'
    | 'not_found'
    | 'not_visible'
    | 'not_enabled'
    | 'covered'
    | 'form_refused'
    | 'timeout'
    | 'internal';
  message: string;
  detail?: unknown;
};

/** `@state` */
export type State = {
  doc: string;
  url: string;
  title: string;
  ready: DocumentReadyState;
  /** HTTP status of the document; 0 where the browser does not tell. */
  status: number;
  width: number;
  height: number;
};

/**
 * `@snapshot`. The walk describes elements until `budget` characters of rendered lines are full and then only
 * counts. `skip` lines at the start are counted but not described (paging).
 */
export type SnapshotArgs = { full?: boolean; scope?: NodeRef; budget: number; skip?: number };

export type Snapshot = {
  doc: string;
  url: string;
  title: string;
  lines: Line[];
  /** Lines that did not fit. */
  more: number;
};

/** One element. `depth` counts from 0. */
export type Line = {
  depth: number;
  role: string;
  name?: string;
  /** Absent where there is nothing to operate and nothing to scope to. */
  node?: number;
  /** "checked", "disabled", "expanded", "level=2", "offscreen", … in the order they are shown. */
  states?: string[];
  value?: string;
  url?: string;
  /** A frame's element: its document goes below this line. */
  frame?: true;
};

/**
 * `@locate` brings the element into view, waits until it stands still, is enabled and would be hit, and starts to
 * watch whether the next click lands on it. At level read (`read_only: true`, set by the edge itself, whatever the
 * program says) an element whose click would plainly submit a form that is not GET is `form_refused`.
 */
export type LocateArgs = { target: NodeRef | Described; read_only?: boolean; wait_ms?: number };

export type Located = { x: number; y: number; node: number; doc: string; role: string; name: string };

/** `@landed`, after the click: did a trusted event reach the element that the last `@locate` in this frame chose? */
export type Landed = { landed: boolean };

/** `@text`: readable text, of the whole document or of one element, from character `from`. */
export type TextArgs = { scope?: NodeRef; from?: number; limit: number };
export type Text = { url: string; title: string; text: string; more: number };

/** `@scroll` */
export type ScrollArgs = { to: 'up' | 'down' | 'top' | 'bottom' | 'node'; node?: NodeRef; amount?: number };
export type Scrolled = { moved: number; x: number; y: number; more_above: number; more_below: number };

/** `@history`: -1 back, 1 forward. */
export type HistoryArgs = { delta: -1 | 1 };

/** `@has_text`: truthy when the visible text contains it, spaces folded. */
export type HasTextArgs = { text: string };

/** `@quiet`: resolves once the document has not changed for `quiet_ms`, or after `max_ms`. */
export type QuietArgs = { quiet_ms: number; max_ms: number };
export type Quiet = { quiet: boolean };

/** `@focus`: gives the element the keyboard; `select` also selects what it holds. `@value` reads it back. */
export type FocusArgs = { target: NodeRef | Described; select?: boolean };
export type ValueArgs = { target: NodeRef | Described };
export type Value = { value: string };

/** `@select`: native select elements; values are option values or labels. */
export type SelectArgs = { target: NodeRef | Described; values: string[] };
