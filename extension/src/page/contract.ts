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

/** With `hosts` there are elements that may have closed shadow trees: `@hosts` gives them out, `@adopt` takes their roots. */
export type Answer = { value: unknown; hosts?: true } | { error: Failure };

export type Failure = {
  code:
    | 'bad_request'
    | 'stale_ref'
    | 'ambiguous'
    | 'not_found'
    | 'not_visible'
    | 'not_enabled'
    | 'covered'
    | 'not_landed'
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
  /** The document's type of media, where it is no web page. */
  type?: string;
  width: number;
  height: number;
  /** Where it was asked for. */
  picture?: Picture;
};

/** With `picture` it answers how much of the whole page one picture can show. */
export type StateArgs = { picture?: boolean };

/** In CSS pixels; the part begins where the page does. */
export type Picture = { width: number; height: number; page_width: number; page_height: number };

/**
 * `@snapshot`. The walk describes elements until `budget` characters of rendered lines are full and then only
 * counts. `scope` goes to every frame: the document it is of answers what is beneath it, the top document nothing where
 * that is another, and a frame all it has, since its element may stand in the scope. Without a scope it is a look at the
 * page: with `news`, about so many characters are told of text that has come since the one before.
 */
export type SnapshotArgs = { full?: boolean; scope?: NodeRef; budget: number; news?: number };

export type Snapshot = {
  doc: string;
  url: string;
  site: string;
  title: string;
  lines: Line[];
  /** Lines that did not fit. */
  more: number;
  /** The numbers of frame elements that cannot be seen: what is in them is not to be shown. */
  unseen?: number[];
  news?: News;
};

/**
 * Text that no line tells, and that has come or changed: each by how many lines stand before it, how many characters
 * more there are, and what was told as new before and does not stand there any more.
 */
export type News = { texts: { at: number; text: string }[]; more: number; gone: string[] };

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
 * `@find`: the elements whose name is, or else contains, the name, in document order: at most `limit` (20); `total` is how
 * many there are. With a `budget` it answers lines instead, as `@snapshot` does: elements whose role is the role and whose
 * name contains the name, each below the row, entry or region that it stands in; with `text` only those nearest to where
 * the text stands, or, without role and name, what holds the text. `more` counts what fits and is not shown.
 */
export type FindArgs = Wanted & { exact?: boolean; limit?: number; budget?: number };
export type Wanted = { role?: string; name?: string; text?: string };
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
 * `covered`, or `not_visible` where the frame is turned or mirrored, or drawn so small, that the page could lead a click
 * anywhere in it. One that is only scaled or zoomed is aimed at.
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
  /** What is to be done there; `click` where nothing is said. */
  purpose?: Purpose;
  /** Where on the element; its middle where nothing is said. */
  side?: Side;
  /** The page stays where it is scrolled to. */
  stay?: boolean;
  /** The right button follows: the browser's own menu, which would stand in the person's way, is kept away once. */
  menu?: boolean;
  /**
   * Where it stands now is enough, for the pointer to be moved there: the next locate tells where it is pressed, whether
   * it has stood still since, and whether anything came over it by the pointer.
   */
  glance?: boolean;
};

/**
 * A disabled element can be hovered over. `drag` is where a drag begins and `drop` where it ends: a document is asked
 * whether both landed, each by its own purpose.
 */
export type Purpose = 'click' | 'hover' | 'drag' | 'drop';
export type Side = 'center' | 'top' | 'bottom' | 'left' | 'right';

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
  /** A closed shadow tree may stand at the point: the edge asks the browser what is in it, and `@hit` about that. */
  veiled?: true;
};

/**
 * `@hit`, which the edge calls with what the browser hits where the last `@locate` led: it refuses with `covered` where
 * that is none of the element, and with `form_refused` as `@locate` does.
 */
export type Hit = Record<string, never>;

/**
 * `@landed`, after the click: did a trusted event reach the element that the last `@locate` in this frame chose?
 * `doc` and `at` are that `@locate`'s. In another document it answers `gone`, and `landed` when the navigation
 * that brought the document began after `at`. `unsure`: none was seen, but the page may have kept it from being seen.
 * `half`: the button went down on it, and no click came of that.
 */
export type LandedArgs = { doc: string; at: number; purpose?: Purpose };
export type Landed = { landed: boolean; gone: boolean; unsure?: true; half?: true };

/**
 * `@text`: readable text, of the whole document or of one element (see `@snapshot` for `scope`): what fills
 * `limit`, and in `more` about how many characters there are besides. `frames` are those that stand in it: the number of each one's element, and how many lines of the text come before.
 */
export type TextArgs = { scope?: NodeRef; limit: number };
export type Text = {
  doc: string;
  url: string;
  site: string;
  title: string;
  text: string;
  more: number;
  frames: { node: number; at: number }[];
};

/**
 * `@stage` takes one part of a file, in base64; a new batch drops what was staged before. `@upload` gives the batch to a
 * file field, or to the one that an element stands for.
 */
export type StageArgs = { batch: string; file: number; name: string; type: string; part: string };
export type Staged = { files: number };
export type UploadArgs = { target: Target; expect?: Expected; batch: string };
export type Uploaded = { files: number };

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

/**
 * `@quiet`: resolves once the document has not changed for `quiet_ms`, or after `max_ms`. With `begun` it waits for what an
 * action began: two animation frames without a change will do, unless the page changes, is at work or says that it is;
 * `moved` tells that its address changed within the document.
 */
export type QuietArgs = { quiet_ms: number; max_ms: number; begun?: true; moved?: boolean };
export type Quiet = { quiet: boolean };

/**
 * `@focus`: gives the element the keyboard once it can have it, and watches whether what the edge enters next comes to it.
 * With `fill` it also selects what the field holds, and `enter` is what is to be inserted instead, or `clear` says that it
 * is to be deleted; `done` that nothing is left to enter, as for fields made of parts (date, time, colour, range, …),
 * which are given their value as a whole and refuse one that they do not take. An `editor` wants `@entered` afterwards.
 * With `insert` the text goes to the caret. `allControl` and `allMeta` tell what to hold with A so that an editor
 * that draws its text itself selects it.
 * Without a target it tells who has the keyboard: `node` 0 for nobody, `elsewhere` for a document in a frame.
 */
export type FocusArgs = {
  target?: Target;
  expect?: Expected;
  fill?: string;
  insert?: string;
  wait_ms?: number;
};
export type Focused = {
  doc: string;
  node: number;
  at: number;
  enter?: string;
  clear?: true;
  done?: true;
  editor?: true;
  allControl?: true;
  allMeta?: true;
  elsewhere?: true;
};

/** `@entered`, after text was inserted into an editor: one that has lost it or its lines gets it once more, by paste. */
export type EnteredArgs = { doc: string };
export type Entered = { pasted: boolean };

/**
 * `@value` reads a field back, or the one that has the keyboard, never what is secret; what is no field holds no `value`. `same`: it holds what `@focus` was
 * to fill it with, or what was `typed` stands in it; `landed`: a trusted event came to it; `unchanged`: it holds what it
 * held before; `invalid`: what it finds wrong itself; `drawn`: it is not where an editor shows its text; `moved`: another field has the keyboard by now; `gone`: there is no such field any more.
 */
export type ValueArgs = { target?: Target; typed?: string; at?: number };
export type Value = {
  value?: string;
  secret?: true;
  same?: boolean;
  landed?: boolean;
  unchanged?: true;
  invalid?: string;
  drawn?: true;
  moved?: true;
  gone?: true;
};

/** `@toggle`: the box, and what to `press` so that it is checked, or is not: nothing where it is so already. */
export type ToggleArgs = { target: Target; expect?: Expected; on: boolean };
export type Toggling = { target: NodeRef; press?: NodeRef };

/** `@toggled`, afterwards: how it stands now. */
export type ToggledArgs = { target: Target; on: boolean };
export type Toggled = { state?: 'true' | 'false' | 'mixed'; gone?: true };

/**
 * `@select`: native lists and fields with suggestions are set at once, values being option values or labels; `values` is
 * what is selected now. `aria` is a list of the page's own, which the edge opens and presses: `@popup` says whether it is
 * open or what to press for that, `@option` finds one option and says what to press, `@chosen` what became of it.
 */
export type SelectArgs = { target: Target; expect?: Expected; values: string[] };
export type Selecting = { done: true; values: string[] } | { aria: true };

export type PopupArgs = { target: Target; value: string };
export type PopupState = { open: boolean; press?: NodeRef };

/**
 * `chosen`: it is chosen already in a list that takes several, where a press would undo that. `shut`: the list is still open
 * without it.
 */
export type OptionArgs = { target: Target; value: string };
export type OptionFound = { press?: NodeRef; chosen?: true; missing?: true; shut?: true };

/**
 * With `missing` it refuses with the options there are. With `set` it is asked of what `@select` set at once: `values` is what
 * stands there now, and `shown` tells that it is what was set. `doc` and `at` are those of the option's `@locate`.
 */
export type ChosenArgs = {
  target: Target;
  values: string[];
  missing?: boolean;
  set?: boolean;
  doc?: string;
  at?: number;
};
export type Chosen = { values: string[]; shown: boolean; landed: boolean; gone?: true };
