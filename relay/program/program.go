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
	DeadlineMS int `json:"deadline_ms"`
	// KeepDialogs names the kinds of JavaScript dialogs that stay open at level act: one that opens ends the program with
	// code dialog_open, and so does one that is open already, unless the first step is the call that answers it. All others
	// are answered at once: beforeunload is accepted, the rest dismissed.
	KeepDialogs []string `json:"keep_dialogs,omitempty"`
	Steps       []Step   `json:"steps"`
}

// Step is exactly one of Run, Call, Settle, Await, StopIf and Eval.
type Step struct {
	// Run names a function of the page script ("@locate"); Args is its one argument, with `$` resolved.
	// Its step result is the value the function answered. When that value is an object with numbers x and
	// y and Frame is not the main frame, the edge adds the frame's offset, so points are always the tab's.
	Run  string          `json:"run,omitempty"`
	Args json.RawMessage `json:"args,omitempty"`
	// Frame is the CDP frame id to run in, for Run and Eval; empty is the main frame. "$N.path" is an earlier step's result.
	Frame string `json:"frame,omitempty"`
	// EachFrame runs in the main frame and then in every other frame, in tree order; the step result is a
	// list of FrameResult. All other frames together have 3 s; one that fails or is late is left out and counted.
	EachFrame bool `json:"each_frame,omitempty"`
	// Pick, beside a Run of "@find" with EachFrame, makes the result the one element that was found, a Picked. Without
	// exactly one, or without the Nth, the step fails with not_found or ambiguous, and what was found is the detail.
	Pick *Pick `json:"pick,omitempty"`

	// Call sends one CDP command to the tab's page target; its result is the step's.
	Call   string          `json:"call,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`

	Settle *Settle `json:"settle,omitempty"`
	Await  *Await  `json:"await,omitempty"`
	// StopIf ends the program successfully when the value it refers to is truthy as in JavaScript.
	StopIf *Ref `json:"stop_if,omitempty"`
	// Eval runs script in the frame's own world, as the page could, and waits for what it promises. Level act alone.
	Eval *Eval `json:"eval,omitempty"`

	// If, beside any kind but StopIf, has the step left out unless the value it refers to is truthy as in JavaScript;
	// one that leads nowhere is not. The result of a step that was left out is null.
	If *Ref `json:"if,omitempty"`
}

// Pick chooses an element by its number, from 0 in document order; nil wants it to be the only one.
type Pick struct {
	Nth *int `json:"nth,omitempty"`
}

// Eval is a script and how many characters of its answer are wanted. Its result is an Evaluated.
type Eval struct {
	Expression string `json:"expression"`
	MaxChars   int    `json:"max_chars"`
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
	// Begun waits for what the program began, and no longer: the document is quiet when nothing has changed for two
	// animation frames, or for QuietMS once something did; the answers to requests that the program began are waited for,
	// where they change the page, and a document that can be read is not kept waiting for its pictures.
	Begun bool `json:"begun,omitempty"`
}

// Await waits for a CDP event by name, counted from the program's start, or until the page-script
// function Run answers a truthy value. After MaxMS it fails with code timeout. Its result is the event's
// params or the value.
type Await struct {
	Event string          `json:"event,omitempty"`
	Run   string          `json:"run,omitempty"`
	Args  json.RawMessage `json:"args,omitempty"`
	// EachFrame asks the other frames too, while the main one says no.
	EachFrame bool `json:"each_frame,omitempty"`
	MaxMS     int  `json:"max_ms"`
}
