package program

import "encoding/json"

// NewTab is the Tab of a program that wants a tab of its own: the edge makes one at about:blank, for
// the program's session, and runs the steps in it. Result.Tab tells its id.
const NewTab = "new"

// Program is what the server sends to the edge. One action is one program is one round trip.
type Program struct {
	// Tab is the edge's id of the tab ("t1"), or NewTab.
	Tab string `json:"tab"`
	// Active asks the edge to bring the tab to the front; the default is to leave the person's focus alone.
	Active bool `json:"active,omitempty"`
	// DeadlineMS bounds the whole program, in milliseconds from its start at the edge.
	DeadlineMS int    `json:"deadline_ms"`
	Steps      []Step `json:"steps"`
}

// Step is exactly one of Run, Call, Settle, Await and StopIf.
type Step struct {
	// Run names a function of the page script ("@locate"); Args is its one argument, with `$` resolved.
	// Its step result is the value the function answered. When that value is an object with numbers x and
	// y and Frame is not the main frame, the edge adds the frame's offset, so points are always the tab's.
	Run  string          `json:"run,omitempty"`
	Args json.RawMessage `json:"args,omitempty"`
	// Frame is the CDP frame id to run in; empty is the main frame.
	Frame string `json:"frame,omitempty"`
	// EachFrame runs in the main frame and then in every other frame, in tree order; the step result is a
	// list of FrameResult. A frame that fails is left out unless it is the main frame.
	EachFrame bool `json:"each_frame,omitempty"`

	// Call sends one CDP command to the tab's page target; its result is the step's.
	Call   string          `json:"call,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`

	Settle *Settle `json:"settle,omitempty"`
	Await  *Await  `json:"await,omitempty"`
	// StopIf ends the program successfully when the value it refers to is truthy as in JavaScript.
	StopIf *Ref `json:"stop_if,omitempty"`
}

// Ref is `{"$":"N.path"}`: step N's result, then object keys and list indices. A path that leads nowhere
// fails the step with code bad_request.
type Ref struct {
	Path string `json:"$"`
}

// Settle follows a navigation of the main frame if one has begun since the program started, then waits
// until the document has been quiet (no DOM change) for QuietMS; MaxMS bounds both together and is
// never an error. Its result is a Settled.
type Settle struct {
	QuietMS int `json:"quiet_ms"`
	MaxMS   int `json:"max_ms"`
}

// Settled is the result of a settle step.
type Settled struct {
	Navigated bool `json:"navigated"` // the main frame committed another document
	Quiet     bool `json:"quiet"`     // false: MaxMS passed first
}

// Await waits for a CDP event by name, counted from the program's start, or until the page-script
// function Run answers a truthy value. After MaxMS it fails with code timeout. Its result is the event's
// params or the value.
type Await struct {
	Event string          `json:"event,omitempty"`
	Run   string          `json:"run,omitempty"`
	Args  json.RawMessage `json:"args,omitempty"`
	MaxMS int             `json:"max_ms"`
}

// FrameResult is one frame's part of an EachFrame step.
type FrameResult struct {
	Frame  string `json:"frame"`            // CDP frame id
	Parent string `json:"parent,omitempty"` // CDP frame id; empty for the main frame
	// Owner is the page script's node number of the frame's element in the parent's document; 0 for the
	// main frame and where the parent could not tell.
	Owner int             `json:"owner,omitempty"`
	X     float64         `json:"x"` // the frame's content box in the tab's viewport, CSS pixels
	Y     float64         `json:"y"`
	Value json.RawMessage `json:"value"`
}

// Result is what the edge answers, also when a step failed.
type Result struct {
	Tab   string            `json:"tab"`
	Steps []json.RawMessage `json:"steps"` // one per finished step; null where a step has no result
	// Stopped is true when a stop_if ended the program.
	Stopped bool     `json:"stopped,omitempty"`
	Error   *Error   `json:"error,omitempty"`
	Dialogs []Dialog `json:"dialogs,omitempty"` // opened while it ran; all answered already
	Opened  []Tab    `json:"opened,omitempty"`  // tabs the page opened while it ran, now the session's
	// ElapsedMS is the time from start to end at the edge.
	ElapsedMS int `json:"elapsed_ms"`
}

// Dialog is a JavaScript dialog that opened while a program ran.
type Dialog struct {
	Type     string `json:"type"` // alert, confirm, prompt or beforeunload
	Message  string `json:"message"`
	Accepted bool   `json:"accepted"`
}

// Error says why a program ended early. Code is one of the contract's error codes (CONTRACT: HTTP).
type Error struct {
	Step    int    `json:"step"` // the failed step, from 0; -1 when the program was refused before its first
	Code    string `json:"code"`
	Message string `json:"message"`
	// Detail is what a page-script function told besides (what covers an element, a new ref, …).
	Detail json.RawMessage `json:"detail,omitempty"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }
