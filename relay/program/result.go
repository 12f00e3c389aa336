package program

import "encoding/json"

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
	// LeftOut is, in the main frame's result, how many frames are not in the list: they did not answer in time, or are
	// too many. A whole target session that did not answer counts as one.
	LeftOut int `json:"left_out,omitempty"`
}

// Result is what the edge answers, also when a step failed.
type Result struct {
	Tab   string            `json:"tab"`
	Steps []json.RawMessage `json:"steps"` // one per finished step; null where a step has no result
	// Stopped is true when a stop_if ended the program.
	Stopped bool     `json:"stopped,omitempty"`
	Error   *Error   `json:"error,omitempty"`
	Dialogs []Dialog `json:"dialogs,omitempty"` // opened while it ran; answered, but for the last where it is open
	Opened  []Tab    `json:"opened,omitempty"`  // tabs the page opened while it ran, now the session's
	// ElapsedMS is the time from start to end at the edge.
	ElapsedMS int `json:"elapsed_ms"`
}

// Dialog is a JavaScript dialog that opened while a program ran.
type Dialog struct {
	Type     string `json:"type"` // alert, confirm, prompt or beforeunload
	Message  string `json:"message"`
	Accepted bool   `json:"accepted"`
	// Default is what a prompt's field holds before anybody types.
	Default string `json:"default,omitempty"`
	// Open is true while nobody has answered it; the page stands still until somebody does.
	Open bool `json:"open,omitempty"`
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

// Settled is the result of a settle step.
type Settled struct {
	Navigated bool `json:"navigated"` // the main frame committed another document
	Quiet     bool `json:"quiet"`     // false: MaxMS passed first
	// The rest is told where Settle.Begun was set. Waiting: another document is on its way, and before it is there the page
	// answers nothing.
	Waiting  *bool   `json:"waiting,omitempty"`
	Moved    bool    `json:"moved,omitempty"`     // the main frame's address changed within its document
	Loading  bool    `json:"loading,omitempty"`   // a document is on its way, or the rest of this one
	UnderWay int     `json:"under_way,omitempty"` // requests that the program began and nobody has answered
	Answer   *Answer `json:"answer,omitempty"`
}

// Evaluated is the result of an eval step: the value as JSON text, which undefined and NaN are not and are told by name,
// or what the script threw.
type Evaluated struct {
	Value  string `json:"value,omitempty"`
	Thrown string `json:"thrown,omitempty"`
	// More is how many characters of Value did not fit.
	More int `json:"more,omitempty"`
	// Opaque tells that Value is no more than what the value is called: it is an object that JSON cannot hold.
	Opaque bool `json:"opaque,omitempty"`
}
