package browse_test

import (
	"strings"
	"testing"

	"chaperone/relay/program"
	"chaperone/server/browse"
	"chaperone/server/fault"
)

func TestThePersonIsAskedForWhatAPersonMayPermit(t *testing.T) {
	cases := map[string]struct {
		message string
		asks    bool
	}{
		"a call that the level read lacks":  {"Input.insertText is not permitted at level read", true},
		"a level that was lowered meantime": {"Less is permitted in this tab now.", true},
		"a tab that agents may not open":    {"The person does not let agents open tabs in this browser.", true},
		"a value out of bounds":             {"Page.captureScreenshot: clip is not a box of finite numbers", false},
		"a tab of another session":          {"Tab t1 belongs to another session.", false},
	}
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			b := &scripted{tabs: oneTab(), answers: func(program.Program) (program.Result, error) {
				return program.Result{}, &program.Error{Code: "forbidden", Message: tc.message}
			}}
			_, err := browse.New(b, browse.Options{}).Do(t.Context(), browse.Action{Action: "screenshot"})
			f := fault.Of(err)
			if f.Code != fault.Forbidden || f.Hint == "" || strings.Contains(f.Hint, "popup") != tc.asks {
				t.Errorf("%v: %q", f, f.Hint)
			}
		})
	}
}

func TestABlankPageIsCalledBlank(t *testing.T) {
	const state = `{"doc":"d","url":"about:blank","title":""}`
	b := &scripted{tabs: oneTab(), answers: showing(`{"doc":"d","url":"about:blank","lines":[]}`, state)}
	for _, action := range []browse.Action{{Action: "open", URL: "about:blank"}, {Action: "snapshot"}, {Action: "snapshot", Full: true}} {
		r, err := browse.New(b, browse.Options{}).Do(t.Context(), action)
		if err != nil || len(r.Notices) != 1 || r.Notices[0] != "This is a blank page: open an address." {
			t.Errorf("%s: %v, %q", action.Action, err, r.Notices)
		}
	}
	_, err := browse.New(b, browse.Options{}).Do(t.Context(), browse.Action{Action: "open", URL: " "})
	if f := fault.Of(err); f.Code != fault.URLRefused || f.Message != "The address was refused: it is empty" {
		t.Errorf("%v", f)
	}
}

func TestAnotherExtensionsFrameIsNamed(t *testing.T) {
	for _, code := range []string{"unavailable", "tab_suspended"} {
		b := &scripted{tabs: oneTab(), answers: func(program.Program) (program.Result, error) {
			return program.Result{}, &program.Error{Code: code, Message: "Cannot access a chrome-extension:// URL of different extension"}
		}}
		_, err := browse.New(b, browse.Options{}).Do(t.Context(), browse.Action{Action: "snapshot"})
		if f := fault.Of(err); f.Code != fault.TabSuspended || !strings.Contains(f.Message, "Another extension") || !strings.Contains(f.Hint, "new_tab") {
			t.Errorf("%s: %v, %q", code, f, f.Hint)
		}
	}
}
