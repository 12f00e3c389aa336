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
