package browse_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"chaperone/relay/program"
	"chaperone/server/browse"
	"chaperone/server/fault"
)

// whole is each action with no more than it needs.
func whole() map[string]string {
	return map[string]string{
		"open": `{"url":"https://example.com/"}`, "snapshot": `{}`, "click": `{"ref":"e1"}`, "scroll": `{"direction":"down"}`,
		"get_text": `{}`, "back": `{}`, "forward": `{}`, "wait": `{"ms":1}`, "tabs": `{}`, "select_tab": `{"tab":"t1"}`,
		"screenshot": `{}`, "status": `{}`, "fill": `{"ref":"e1","text":"x"}`, "type": `{"text":"x"}`, "press": `{"keys":"Enter"}`,
		"select": `{"ref":"e1","values":["x"]}`, "check": `{"ref":"e1"}`, "uncheck": `{"ref":"e1"}`, "hover": `{"ref":"e1"}`,
		"drag": `{"ref":"e1","to":"e2"}`, "dialog": `{"accept":true}`, "new_tab": `{}`, "close_tab": `{}`, "eval": `{"js":"1"}`,
		"upload":   `{"ref":"e1","files":[{"name":"a.txt","data":""}]}`,
		"download": `{"ref":"e1"}`,
	}
}

// send has an engine without a browser take the action: what it refuses for saying too little is bad_request.
func send(t *testing.T, action map[string]any) error {
	t.Helper()
	raw, err := json.Marshal(action)
	if err != nil {
		t.Fatal(err)
	}
	a, err := browse.ParseAction(raw)
	if err != nil {
		return err
	}
	_, err = browse.New(nothing(), browse.Options{}).Do(t.Context(), a)
	return err
}

// nothing is a browser with no tab, which does nothing.
func nothing() *scripted {
	return &scripted{answers: func(program.Program) (program.Result, error) {
		return program.Result{}, &program.Error{Code: "unavailable", Message: "it does nothing"}
	}}
}

func read(t *testing.T, name, fields string) map[string]any {
	t.Helper()
	action := map[string]any{}
	if err := json.Unmarshal([]byte(fields), &action); err != nil {
		t.Fatal(err)
	}
	action["action"] = name
	return action
}

// A field that is left out is no empty one: what an action needs is missed, whichever it is, and null is nothing too.
func TestEveryActionMissesWhatItNeeds(t *testing.T) {
	all := whole()
	for _, name := range browse.AllActions() {
		t.Run(name, func(t *testing.T) {
			fields, known := all[name]
			if !known {
				t.Fatal("the table lacks this action")
			}
			if err := send(t, read(t, name, fields)); fault.Is(err, fault.BadRequest) {
				t.Fatalf("with all that it needs: %v", err)
			}
			for _, field := range slices.Sorted(maps.Keys(read(t, name, fields))) {
				if field == "action" {
					continue
				}
				for kind, change := range map[string]func(map[string]any){
					"without": func(a map[string]any) { delete(a, field) },
					"null in": func(a map[string]any) { a[field] = nil },
				} {
					action := read(t, name, fields)
					change(action)
					err := send(t, action)
					if !fault.Is(err, fault.BadRequest) || !strings.Contains(err.Error(), name) {
						t.Errorf("%s %s: %v", kind, field, err)
					}
				}
			}
		})
	}
}

func TestAFieldThatIsNeededMayNotBeEmpty(t *testing.T) {
	cases := map[string]struct{ raw, says string }{
		"open":                         {`{"action":"open","url":""}`, "open needs url"},
		"type":                         {`{"action":"type","text":""}`, "type needs text"},
		"press with spaces":            {`{"action":"press","keys":"  "}`, "press needs keys"},
		"select with no value":         {`{"action":"select","ref":"e1","values":[]}`, "select needs ref"},
		"eval":                         {`{"action":"eval","js":""}`, "eval needs js"},
		"wait":                         {`{"action":"wait","text":"","url_glob":"","ms":0,"idle":false}`, "wait needs one"},
		"upload with no file":          {`{"action":"upload","ref":"e1","files":[]}`, "upload needs ref"},
		"upload of a file without":     {`{"action":"upload","ref":"e1","files":[{"name":"a.txt"}]}`, "each file has data"},
		"upload of a file with null":   {`{"action":"upload","ref":"e1","files":[{"name":"a.txt","data":null}]}`, "each file has data"},
		"upload of a file of no name":  {`{"action":"upload","ref":"e1","files":[{"data":""}]}`, "each file has a name"},
		"an element by its role alone": {`{"action":"type","text":"x","role":"textbox"}`, "both role and name"},
		"an element by its name alone": {`{"action":"press","keys":"Enter","name":"Save"}`, "both role and name"},
		"a part of a page by its role": {`{"action":"get_text","role":"main"}`, "both role and name"},
		"a frame by its name":          {`{"action":"eval","js":"1","name":"Inner"}`, "both role and name"},
		"a pane by its role":           {`{"action":"scroll","direction":"down","role":"list"}`, "both role and name"},
	}
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			var action map[string]any
			if err := json.Unmarshal([]byte(tc.raw), &action); err != nil {
				t.Fatal(err)
			}
			if err := send(t, action); !fault.Is(err, fault.BadRequest) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %q", err, tc.says)
			}
		})
	}
}
