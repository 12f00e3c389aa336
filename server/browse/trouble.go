package browse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// What the edge must never answer.
var (
	errNoFrame = errors.New("no frame answered")
	errShort   = errors.New("fewer results than steps, no error")
)

// trouble is what the outside is told when a program did not run to its end. Page text goes into Detail alone.
func (e *Engine) trouble(err error, p *plan, about element) *fault.Fault {
	var failed *program.Error
	switch {
	case errors.As(err, &failed) && failed.Code == string(fault.Timeout):
		return p.late(failed)
	case errors.As(err, &failed):
		return e.failure(failed, about)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return unanswered()
	}
	return fault.Of(err)
}

func (e *Engine) failure(failed *program.Error, about element) *fault.Fault {
	code := known(fault.Code(failed.Code))
	if code == fault.NavigationFailed {
		return notLoaded(short(failed.Message, longestWhy), answerOf(failed.Detail))
	}
	if strings.HasSuffix(failed.Message, keptOut) {
		return fault.New(fault.TabSuspended, "Another extension has put a page of its own into this one, and Chrome keeps all others out of the tab meanwhile",
			"Go on in another tab (new_tab). For this one, ask the person to reload it, or to switch that extension off there.")
	}
	told := fault.New(code, message(code, failed), hint(code))
	if code == fault.Forbidden {
		told.Hint = whoPermits(failed.Message)
	}
	return told.WithDetail(e.detail(code, failed.Detail, about))
}

func (e *Engine) detail(code fault.Code, raw json.RawMessage, about element) string {
	if code == fault.Covered {
		return e.cover(raw, about)
	}
	if code == fault.StaleRef {
		return became(raw)
	}
	return options(raw)
}

// message is the page script's or the edge's own sentence; neither holds page text. An internal one is not
// shown: it may quote an exception.
func message(code fault.Code, failed *program.Error) string {
	if code == fault.Internal || failed.Message == "" {
		return "The browser could not do it"
	}
	if code == fault.Forbidden && strings.HasSuffix(failed.Message, notAtRead) {
		return "The tab is shared to Read, and this needs Act"
	}
	return strings.TrimSuffix(short(failed.Message, longestWhy), ".")
}

// whoPermits says what to do where something is forbidden: not all of it is for the person to permit.
func whoPermits(message string) string {
	switch {
	case strings.HasSuffix(message, notAtRead), strings.Contains(message, "permitted in this tab now"):
		return "Ask the person: the extension's popup sets Read or Act for each tab."
	case strings.Contains(message, "agents open tabs"):
		return "Ask the person: the extension's popup sets whether agents may open tabs."
	}
	return "The browser refuses this as things stand: do it in another way."
}

// keptOut ends what Chrome says to whoever would use its debugger where another extension's frame stands.
const keptOut = "URL of different extension"

// notAtRead ends what the edge says of a call that only the level act has.
const notAtRead = "is not permitted at level read"

func known(code fault.Code) fault.Code {
	codes := []fault.Code{
		fault.BadRequest, fault.Forbidden, fault.NotFound, fault.AddressRefused, fault.StaleRef, fault.Ambiguous,
		fault.NotVisible, fault.NotEnabled, fault.Covered, fault.FormRefused, fault.DialogOpen, fault.NavigationFailed,
		fault.Timeout, fault.Busy, fault.NotConnected, fault.TabClosed, fault.TabSuspended, fault.UpdateRequired,
		fault.SessionEnded, fault.TooLarge, fault.Unavailable, fault.URLRefused, fault.NotLanded, fault.ControlledByPerson,
	}
	if slices.Contains(codes, code) {
		return code
	}
	return fault.Internal
}

func hint(code fault.Code) string {
	hints := map[fault.Code]string{
		fault.BadRequest:       "Correct it and send it again.",
		fault.StaleRef:         "Take a new snapshot and use its refs.",
		fault.Ambiguous:        "Add nth (from 0), or use a ref from a snapshot.",
		fault.NotFound:         "Take a snapshot to see what is there.",
		fault.NotVisible:       "Scroll or open what hides it, then take a snapshot.",
		fault.NotEnabled:       "Fill in or choose what the page waits for first.",
		fault.NotLanded:        "Take a snapshot to see what the page did.",
		fault.DialogOpen:       "Answer it: dialog with accept true or false, and text for a prompt. Or leave the tab as it is: new_tab.",
		fault.Covered:          "Deal with what covers it first.",
		fault.FormRefused:      "This tab may be read only; a person has to submit the form.",
		fault.Timeout:          "Look at the page with snapshot; it may still be loading. Do not repeat blindly.",
		fault.TabClosed:        "Use tabs to see which are left, or open an address.",
		fault.TabSuspended:     "The tab shows a page that is out of reach; a person has to leave it.",
		fault.TooLarge:         "Ask for less at once: a part of the page, or a picture of what is in view.",
		fault.NotConnected:     "The person's browser is not connected.",
		fault.AddressRefused:   "Only public addresses on ports 80 and 443 can be opened.",
		fault.NavigationFailed: "Check the address, or try again later.",
	}
	return hints[code]
}

// cover names what lies over an element, with a ref to deal with it.
func (e *Engine) cover(detail json.RawMessage, about element) string {
	var d struct {
		By pageLine `json:"by"`
	}
	if json.Unmarshal(detail, &d) != nil || d.By.Node == 0 {
		return ""
	}
	over := d.By.element(about.key)
	if over.role == "iframe" && len(e.options.AllowDomains) > 0 {
		return "covered by " + called(over.role, over.name) // what is in it may not be operated
	}
	ref := e.refs.of(over, func(element) bool { return true })
	return fmt.Sprintf("covered by %s [ref=%s]", called(over.role, over.name), ref)
}

func called(role, name string) string {
	return roleText(role) + ` "` + strings.ReplaceAll(short(name, longestName), `"`, `'`) + `"`
}

func became(detail json.RawMessage) string {
	var d struct {
		Was *pageLine `json:"was"`
		Is  *pageLine `json:"is"`
	}
	if json.Unmarshal(detail, &d) != nil || d.Was == nil || d.Is == nil {
		return ""
	}
	return "it was " + called(d.Was.Role, d.Was.Name) + " and is now " + called(d.Is.Role, d.Is.Name)
}

func options(detail json.RawMessage) string {
	var d struct {
		Options []string `json:"options"`
	}
	if json.Unmarshal(detail, &d) != nil || len(d.Options) == 0 {
		return ""
	}
	d.Options = d.Options[:min(len(d.Options), mostListed)]
	for i, option := range d.Options {
		d.Options[i] = `"` + strings.ReplaceAll(short(option, longestOption), `"`, `'`) + `"`
	}
	return "the options are " + strings.Join(d.Options, ", ")
}
