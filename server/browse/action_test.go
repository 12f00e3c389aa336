package browse_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

func TestParseAction(t *testing.T) {
	cases := map[string]struct{ raw, says string }{
		"a plain action":               {`{"action":"snapshot"}`, ""},
		"an element by role and name":  {`{"action":"click","role":"button","name":"Save","nth":0}`, ""},
		"text is get_text":             {`{"action":"text","ref":"e1"}`, ""},
		"dashes as on a command line":  {`{"action":"select-tab","tab":"t1"}`, ""},
		"an unknown field":             {`{"action":"click","ref":"e1","selector":"#a"}`, `unknown field "selector"`},
		"an unknown action":            {`{"action":"teleport"}`, `"teleport"`},
		"no action":                    {`{}`, "Unknown action"},
		"not an object":                {`[]`, "The action is a list where an object is wanted"},
		"something after the object":   {`{"action":"snapshot"}{}`, "There is something after the action"},
		"open without an address":      {`{"action":"open"}`, "open needs url"},
		"click without an element":     {`{"action":"click","role":"button"}`, "click needs ref"},
		"a ref that is none":           {`{"action":"click","ref":"12"}`, "a ref looks like e12"},
		"the ref zero":                 {`{"action":"click","ref":"e0"}`, "a ref looks like e12"},
		"a direction that is none":     {`{"action":"scroll","direction":"left"}`, "direction is"},
		"waiting for nothing":          {`{"action":"wait"}`, "wait needs one"},
		"waiting for two things":       {`{"action":"wait","ms":5,"idle":true}`, "wait needs one"},
		"a key that is none":           {`{"action":"press","keys":"Control+Nope"}`, `"Control+Nope"`},
		"the plus key":                 {`{"action":"press","keys":"Control++ +"}`, ""},
		"a snapshot mode that is none": {`{"action":"open","url":"http://a/","snapshot":"some"}`, "snapshot is auto"},
		"a wrong type":                 {`{"action":"wait","ms":"1"}`, `The field "ms" holds text where a whole number is wanted`},
		"negative time":                {`{"action":"snapshot","timeout_ms":-1}`, "not negative"},
	}
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			_, err := browse.ParseAction([]byte(tc.raw))
			if tc.says == "" && err != nil {
				t.Fatalf("refused: %v", err)
			}
			if tc.says != "" && (!fault.Is(err, fault.BadRequest) || !strings.Contains(err.Error(), tc.says)) {
				t.Fatalf("got %v, want bad_request with %q", err, tc.says)
			}
		})
	}
}

func TestActionsOfAReadOnlyProjectAreTheContracts(t *testing.T) {
	want := []string{"open", "snapshot", "click", "scroll", "get_text", "back", "forward", "wait", "tabs", "select_tab", "screenshot", "status"}
	if got := browse.ReadOnlyActions(); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	for _, name := range browse.AllActions() {
		if writes := (browse.Action{Action: name}).Writes(); writes == slices.Contains(want, name) {
			t.Errorf("%s: writes is %v", name, writes)
		}
	}
	for _, name := range []string{"eval", "upload", "nonsense", ""} {
		if !(browse.Action{Action: name}).Writes() {
			t.Errorf("%q does not write", name)
		}
	}
}

func FuzzParseAction(f *testing.F) {
	for _, seed := range []string{`{"action":"click","ref":"e1"}`, `{"action":"press","keys":"Control+A"}`, `{"action":"wait","ms":5}`, `{"action":"eval","js":"1"}`, `[]`, `{"action":"open","url":"http://a/"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		action, err := browse.ParseAction(raw)
		if err != nil {
			if !fault.Is(err, fault.BadRequest) {
				t.Fatalf("%q: %v is not bad_request", raw, err)
			}
			return
		}
		if action.Kind() == browse.Unknown {
			t.Fatalf("%q: an unknown action passed", raw)
		}
		again, err := json.Marshal(action)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := browse.ParseAction(again); err != nil || second.Action != action.Action {
			t.Fatalf("%q: does not survive a round trip: %v", raw, err)
		}
	})
}
