package browse

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"chaperone/server/fault"
)

// Action is one action as the outside sends it (CONTRACT: HTTP). Fields that an action does not use are
// ignored; unknown ones are refused by ParseAction.
type Action struct {
	Action string `json:"action"`

	// URL is the address for open.
	URL string `json:"url,omitempty"`
	// Ref names an element ("e12"); Role, Name and Nth (from 0) name one by what a person calls it. For snapshot Role, Name
	// and Text are what it looks for: the name contains Name, and Text stands near.
	Ref  string `json:"ref,omitempty"`
	Role string `json:"role,omitempty"`
	Name string `json:"name,omitempty"`
	Nth  *int   `json:"nth,omitempty"`

	// Text is what fill and type enter, what a prompt is answered with, what wait waits for and what snapshot looks for. An empty
	// one empties a field and answers a prompt with nothing; none at all does neither.
	Text *string `json:"text,omitempty"`
	// Button is left (the default) or right, and Count 1 (the default) or 2, for click.
	Button string `json:"button,omitempty"`
	Count  int    `json:"count,omitempty"`
	// To is the ref of the element that drag drops on; At is where on it: center (the default), top, bottom, left or right.
	To string `json:"to,omitempty"`
	At string `json:"at,omitempty"`
	// Accept answers a dialog: OK, with Text for a prompt, or Cancel.
	Accept *bool `json:"accept,omitempty"`
	// JS is the script that eval runs in the page.
	JS string `json:"js,omitempty"`
	// Files are what upload gives to a file field.
	Files []File `json:"files,omitempty"`

	// Values are option values or labels for select.
	Values []string `json:"values,omitempty"`
	// Keys is what press presses: "Enter", "Control+A", several separated by spaces.
	Keys string `json:"keys,omitempty"`

	// Direction is up, down, top or bottom, for scroll; Amount is in CSS pixels, 0 for most of a screen.
	Direction string `json:"direction,omitempty"`
	Amount    int    `json:"amount,omitempty"`

	// MS, Text, URLGlob and Idle are what wait waits for; exactly one of them.
	MS      int    `json:"ms,omitempty"`
	URLGlob string `json:"url_glob,omitempty"`
	Idle    bool   `json:"idle,omitempty"`

	// Full asks snapshot for all text and screenshot for the whole page.
	Full bool `json:"full,omitempty"`
	// Scope is the ref of the element that a snapshot is limited to.
	Scope string `json:"scope,omitempty"`
	// Cursor goes on where an earlier snapshot or text was cut.
	Cursor string `json:"cursor,omitempty"`

	// Tab acts in another tab than the selected one, for this action; for select_tab the one to select.
	Tab string `json:"tab,omitempty"`
	// Snapshot is auto (the default), full or none.
	Snapshot string `json:"snapshot,omitempty"`
	// Screenshot asks for a picture after the action.
	Screenshot bool `json:"screenshot,omitempty"`
	// Deliver marks a screenshot for the person.
	Deliver bool `json:"deliver,omitempty"`
	// TimeoutMS bounds the action; 0 is the engine's own limit.
	TimeoutMS int `json:"timeout_ms,omitempty"`
	// Active brings the tab to the front.
	Active bool `json:"active,omitempty"`
}

// File is one file to upload, with its bytes.
type File struct {
	Name string `json:"name"`
	MIME string `json:"mime,omitempty"`
	Data []byte `json:"data"` // base64 in JSON; empty for a file with nothing in it, never nil
}

// entered is the text as it is entered: whatever ends a line where it was written, in a field one sign does.
func (a Action) entered() string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(a.text())
}

// text is what the action says, or nothing.
func (a Action) text() string {
	if a.Text == nil {
		return ""
	}
	return *a.Text
}

// Kind says what a policy has to know of an action.
type Kind int

// The kinds.
const (
	Unknown Kind = iota
	Reads
	Writes
)

type entry struct {
	name string
	kind Kind
}

// table is every action of the contract, in the order a schema shows them.
func table() []entry {
	return []entry{
		{"open", Reads},
		{"snapshot", Reads},
		{"click", Reads},
		{"scroll", Reads},
		{"get_text", Reads},
		{"back", Reads},
		{"forward", Reads},
		{"wait", Reads},
		{"tabs", Reads},
		{"select_tab", Reads},
		{"screenshot", Reads},
		{"status", Reads},
		{"fill", Writes},
		{"type", Writes},
		{"press", Writes},
		{"select", Writes},
		{"check", Writes},
		{"uncheck", Writes},
		{"hover", Writes},
		{"drag", Writes},
		{"dialog", Writes},
		{"new_tab", Writes},
		{"close_tab", Writes},
		{"eval", Writes},
		{"upload", Writes},
		{"download", Writes},
	}
}

// ReadOnlyActions are the actions a read-only project permits, in schema order.
func ReadOnlyActions() []string { return named(Reads) }

// AllActions are the actions an interactive project permits, in schema order.
func AllActions() []string { return named(Reads, Writes) }

func named(kinds ...Kind) []string {
	var names []string
	for _, e := range table() {
		for _, k := range kinds {
			if e.kind == k {
				names = append(names, e.name)
			}
		}
	}
	return names
}

// Kind is what the action is to a policy; Unknown for a name that is not in the contract. A click that is not a plain
// one writes.
func (a Action) Kind() Kind {
	if a.Action == "click" && !a.isPlainClick() {
		return Writes
	}
	for _, e := range table() {
		if e.name == a.Action {
			return e.kind
		}
	}
	return Unknown
}

// Writes reports whether a read-only project refuses the action. What is not known writes.
func (a Action) Writes() bool { return a.Kind() != Reads }

// ParseAction decodes one action. An unknown field or action is a bad_request fault that names it; "text"
// without more is read as get_text, and names may be written with dashes, as on the command line.
func ParseAction(raw []byte) (Action, error) {
	var name struct {
		Action string `json:"action"`
	}
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&name); err != nil {
		return Action{}, fault.Misread(err, "the action", `Send {"action":"snapshot"}.`)
	}
	action := Action{Action: canonical(name.Action)}
	switch action.Kind() {
	case Unknown:
		return Action{}, fault.New(fault.BadRequest, "Unknown action "+quote(name.Action), "Use one of "+strings.Join(AllActions(), ", ")+".")
	case Reads, Writes:
	}
	return decode(raw, action.Action)
}

func decode(raw []byte, name string) (Action, error) {
	var action Action
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&action); err != nil {
		return Action{}, fault.Misread(err, "the action", "See the fields of "+name+".")
	}
	if _, err := decoder.Token(); err != io.EOF {
		return Action{}, fault.New(fault.BadRequest, "There is something after the action", "Send one JSON object.")
	}
	action.Action = name
	switch name {
	case "hover", "drag", "dialog", "eval", "upload", "download": // the engine says first whether it is permitted at all
		return action, nil
	}
	return action, action.check()
}

func canonical(name string) string {
	name = strings.ReplaceAll(name, "-", "_")
	if name == "text" {
		return "get_text"
	}
	return name
}
