/**
 * What the page script answers, and to which questions. The edge calls `globalThis.chaperone(name, args)` in its
 * isolated world of one frame and gets one JSON string back: an `Answer`. server/browse decodes the same shapes.
 */

/** An element as the page script knows it: the document's random id and a number never given to another element. */
export type NodeRef = { doc: string; node: number };

/** An element by what a person calls it; `nth` counts from 0 in document order. */
export type Described = { role: string; name: string; nth?: number };

/** Either; without `nth` exactly one element must fit, else `not_found` or `ambiguous`. */
export type Target = NodeRef | Described;

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

/**
 * `@state`. Here and below, `url` has at most 4,000 characters and `title` 300, an ellipsis at the end of what was cut;
 * `site` is the document's origin, empty where it has none of its own.
 */
export type State = {
  doc: string;
  url: string;
  site: string;
  title: string;
  /** Keys go to this document or to a frame in it. */
  focused: boolean;
  ready: DocumentReadyState;
  /** HTTP status of the document; 0 where the browser does not tell. */
  status: number;
  /** The egress proxy's own reason, where the document is its refusal instead of a page. */
  refused?: string;
  width: number;
  height: number;
};

/**
 * `@snapshot`. The walk describes elements until `budget` characters of rendered lines are full and then only
 * counts.
 */
export type SnapshotArgs = { full?: boolean; scope?: NodeRef; budget: number };

export type Snapshot = {
  doc: string;
  url: string;
  site: string;
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

/** `@find`: the elements that fit, in document order, at most `limit` (20); `total` is how many there are. */
export type FindArgs = { role: string; name: string; limit?: number };
export type Found = {
  doc: string;
  url: string;
  site: string;
  total: number;
  matches: { node: number; role: string; name: string }[];
};

/** `@owner`, which the edge calls with the frame's element itself; x and y are its content box in its own viewport. */
export type Owner = { node: number; x: number; y: number };

/**
 * `@over`, which the edge asks of every document around a frame in which it has located something: is it that frame which
 * is hit at a point of its content box? It answers the point in its own viewport, and else refuses with
 * `covered`, or `not_visible` where the frame is scaled or turned and the page could lead a click anywhere in it.
 */
export type OverArgs = { node: number; x: number; y: number };
export type Over = { x: number; y: number };

/**
 * `@locate` brings the element into view, waits until it stands still, is enabled and would be hit, and starts to
 * watch whether the next click lands on it. At level read (`read_only: true`, set by the edge itself, whatever the
 * program says) an element whose click would plainly submit a form that is not GET is `form_refused`.
 */
export type LocateArgs = {
  target: Target;
  expect?: Expected;
  read_only?: boolean;
  wait_ms?: number;
};

/** What the element was when its ref was given out; `stale_ref` when it is something else by now. */
export type Expected = { role: string; name: string };

/** `at` is when it was found, in Unix milliseconds. */
export type Located = {
  x: number;
  y: number;
  node: number;
  doc: string;
  role: string;
  name: string;
  at: number;
};

/**
 * `@landed`, after the click: did a trusted event reach the element that the last `@locate` in this frame chose?
 * `doc` and `at` are that `@locate`'s. In another document it answers `gone`, and `landed` when the navigation
 * that brought the document began after `at`. `unsure`: none was seen, but the page may have kept it from being seen.
 */
export type LandedArgs = { doc: string; at: number };
export type Landed = { landed: boolean; gone: boolean; unsure?: true };

/** `@text`: readable text, of the whole document or of one element, from character `from`. */
export type TextArgs = { scope?: NodeRef; from?: number; limit: number };
export type Text = { url: string; site: string; title: string; text: string; more: number };

/** `@scroll` */
export type ScrollArgs = {
  to: 'up' | 'down' | 'top' | 'bottom' | 'node';
  node?: NodeRef;
  amount?: number;
};
export type Scrolled = {
  /** What scrolled: "page", or a pane by its role; no page text. */
  pane: string;
  moved: number;
  x: number;
  y: number;
  more_above: number;
  more_below: number;
};

/** `@history`: -1 back, 1 forward. */
export type HistoryArgs = { delta: -1 | 1 };

/** `@has_text`: truthy when the visible text contains it, spaces folded; with `url`, when the address fits the glob. */
export type HasTextArgs = { text: string } | { url: string };

/** `@quiet`: resolves once the document has not changed for `quiet_ms`, or after `max_ms`. */
export type QuietArgs = { quiet_ms: number; max_ms: number };
export type Quiet = { quiet: boolean };

/**
 * `@focus`: gives the element the keyboard; `select` also selects what it holds. Fields that cannot be typed into
 * (date, time, colour, range, …) take `set` instead, and `done` says so. `@value` reads the field back, never a password.
 */
export type FocusArgs = { target: Target; expect?: Expected; select?: boolean; set?: string };
export type Focused = { doc: string; node: number; done: boolean };
export type ValueArgs = { target: Target };
export type Value = { value: string; secret: boolean };

/** `@select`: native select elements; values are option values or labels. Answers what is selected now. */
export type SelectArgs = { target: Target; expect?: Expected; values: string[] };
export type Selected = { values: string[] };
