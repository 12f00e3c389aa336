package browse_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"chaperone/relay/program"
	"chaperone/server/browse"
	"chaperone/server/fault"
)

// TestNothingAPageSaysIsWithoutBound lets an edge answer long strings wherever a page can put one.
func TestNothingAPageSaysIsWithoutBound(t *testing.T) {
	long := strings.Repeat("\U0001F600", 50_000)
	in := func(text string) string { return strings.ReplaceAll(text, "LONG", long) }
	b := &scripted{tabs: []program.Tab{{ID: "t1", URL: in("https://example.com/LONG"), Title: long, Suspended: long}}}
	b.answers = func(p program.Program) (program.Result, error) {
		r, err := showing(in(`{"doc":"d","url":"https://example.com/LONG","title":"LONG","lines":[
			{"depth":0,"role":"link","name":"LONG","node":1,"states":["LONG"],"value":"LONG","url":"https://example.com/LONG"}],"more":0}`),
			in(`{"doc":"d","url":"https://example.com/LONG","title":"LONG","status":200}`))(p)
		r.Dialogs = make([]program.Dialog, 5000)
		r.Dialogs[4999] = program.Dialog{Type: long, Message: long}
		r.Opened = []program.Tab{{ID: "t2", URL: in("https://example.com/LONG"), Title: long}}
		return r, err
	}
	e := browse.New(b, browse.Options{AllowDomains: []string{"example.com"}})
	r, err := e.Do(t.Context(), browse.Action{Action: "snapshot"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := e.Do(t.Context(), browse.Action{Action: "status"})
	if err != nil {
		t.Fatal(err)
	}
	for what, tc := range map[string]struct {
		got  string
		most int
	}{
		"title": {r.Title, 300}, "url": {r.URL, 4000}, "line": {r.Snapshot.Text, 200 + 4000 + 200 + 100},
		"dialog": {r.Dialogs[len(r.Dialogs)-1].Message, 1000}, "kind of dialog": {r.Dialogs[len(r.Dialogs)-1].Type, 30},
		"opened title": {r.Opened[0].Title, 300}, "opened url": {r.Opened[0].URL, 4000},
		"tab's title": {all.Tabs[0].Title, 300}, "tab's url": {all.Tabs[0].URL, 4000}, "status's title": {all.Title, 300},
		"suspended": {all.Tabs[0].Suspended, 300},
	} {
		if n := utf8.RuneCountInString(tc.got); n > tc.most || n < 7 || !utf8.ValidString(tc.got) || n > 30 && !strings.Contains(tc.got, "…") {
			t.Errorf("%s has %d characters, at most %d, and ends in %q", what, n, tc.most, tc.got[max(0, len(tc.got)-12):])
		}
	}
	if len(r.Dialogs) > 32 {
		t.Errorf("%d dialogs", len(r.Dialogs))
	}
	if r, err = e.Do(t.Context(), browse.Action{Action: "snapshot"}); err != nil || strings.Contains(strings.Join(r.Notices, " "), "moved") {
		t.Errorf("a long address that is the same has moved: %v %v", r.Notices, err)
	}
}

func TestDetailsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for what, tc := range map[string]struct{ code, detail string }{
		"what covers": {"covered", `{"by":{"role":"button","name":"LONG","node":4}}`},
		"what it is":  {"stale_ref", `{"was":{"role":"link","name":"LONG"},"is":{"role":"link","name":"LONG"}}`},
		"options":     {"not_found", `{"options":[` + strings.Repeat(`"LONG",`, 40) + `"LONG"]}`},
	} {
		b := &scripted{tabs: oneTab(), answers: func(program.Program) (program.Result, error) {
			detail := json.RawMessage(strings.ReplaceAll(tc.detail, "LONG", long))
			return program.Result{Tab: "t1", Error: &program.Error{Code: tc.code, Message: long, Detail: detail}}, nil
		}}
		_, err := browse.New(b, browse.Options{}).Do(t.Context(), browse.Action{Action: "snapshot"})
		if f := fault.Of(err); f.Detail == "" || len(f.Detail) > 3000 || len(f.Message) > 310 {
			t.Errorf("%s: a message of %d and a detail of %d characters", what, len(f.Message), len(f.Detail))
		}
	}
}

// TestThePageScriptKeepsItsBounds asks a page that says too much of itself.
func TestThePageScriptKeepsItsBounds(t *testing.T) {
	script, at := pageScript(t), serve(t)
	p := launch(t).page(script, at+"/loud.html")
	var state struct{ URL, Title, Site string }
	for _, name := range []string{"@state", "@snapshot", "@text"} {
		p.into(&state, name, map[string]any{"budget": 1_000_000, "limit": 10})
		if n := utf8.RuneCountInString(state.Title); n > 300 || n < 150 || !strings.HasSuffix(state.Title, "\U0001F600…") {
			t.Errorf("%s: a title of %d characters ends in %q", name, n, state.Title[len(state.Title)-8:])
		}
		if n := len([]rune(state.URL)); n != 4000 || !strings.HasSuffix(state.URL, "…") || state.Site != at {
			t.Errorf("%s: an address of %d characters, of %s", name, n, state.Site)
		}
	}
	var held struct{ Value string }
	p.into(&held, "@value", map[string]any{"target": map[string]any{"role": "textbox", "name": "Long"}})
	if len(held.Value) > 200_010 {
		t.Errorf("a field's %d bytes", len(held.Value))
	}
	linesAreBounded(p)
}

func linesAreBounded(p *tab) {
	p.t.Helper()
	for _, l := range p.snapshot(map[string]any{"full": true, "budget": 1_000_000}).Lines {
		if len(l.Value) > 4100 || len(l.Name) > 810 || len(l.URL) > 210 || strings.Contains(l.Name, "�") {
			p.t.Errorf("a line of %d, %d and %d bytes: %.80s", len(l.Value), len(l.Name), len(l.URL), l.Name)
		}
	}
}
