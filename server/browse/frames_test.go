package browse_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"chaperone/relay/program"
	"chaperone/server/browse"
	"chaperone/server/fault"
)

func TestFramesKeepToTheAllowedDomains(t *testing.T) {
	script, at := pageScript(t), site(t)
	d := drive(t, launch(t), script, browse.Options{AllowDomains: []string{"127.0.0.1"}})
	d.at = at

	r := d.open("framed.html")
	for _, shown := range []string{`button "Own"`, `button "In srcdoc"`, `button "In blank"`, "localhost:", "is not an allowed domain"} {
		if !strings.Contains(d.last, shown) {
			t.Errorf("%q is not in\n%s", shown, d.last)
		}
	}
	for _, hidden := range []string{"Secret", "Inside", "one-pixel", `iframe "framed"`} {
		if strings.Contains(d.last, hidden) {
			t.Errorf("%q is in\n%s", hidden, d.last)
		}
	}
	if strings.Count(d.last, "is not an allowed domain") != 1 || !strings.Contains(strings.Join(r.Notices, " "), "not shown") {
		t.Errorf("%s\n%v", d.last, r.Notices)
	}
	_ = d.refused(`{"action":"fill","role":"textbox","name":"Secret","text":"x"}`, fault.NotFound)
	_ = d.refused(`{"action":"click","role":"iframe","name":"framed"}`, fault.NotFound)
	if r := d.do(`{"action":"get_text"}`); strings.Contains(*r.Text, "Inside") || len(r.Notices) == 0 {
		t.Errorf("%q %v", *r.Text, r.Notices)
	}
	d.page("f.focus()")
	_ = d.refused(`{"action":"type","text":"x"}`, fault.DomainRefused)
	_ = d.refused(`{"action":"press","keys":"Enter"}`, fault.DomainRefused)
	d.page("[f.blur(), window.focus()]")
	d.do(`{"action":"press","keys":"Escape"}`)
}

func TestAFrameThatMovesToADomainThatIsNotAllowedIsRefused(t *testing.T) {
	script, at := pageScript(t), site(t)
	d := drive(t, launch(t), script, browse.Options{AllowDomains: []string{"127.0.0.1"}})
	d.at = at
	d.open("framed.html?own")
	field, frame := d.ref("Secret"), d.ref(`iframe "framed"`)
	d.do(fmt.Sprintf(`{"action":"fill","ref":"%s","text":"mine","snapshot":"none"}`, field))
	d.page("move()")
	d.do(`{"action":"wait","ms":500,"snapshot":"none"}`)
	for _, action := range []string{
		`{"action":"fill","ref":"` + field + `","text":"x"}`,
		`{"action":"click","ref":"` + field + `"}`,
		`{"action":"get_text","ref":"` + field + `"}`,
		`{"action":"click","ref":"` + frame + `"}`,
	} {
		_ = d.refused(action, fault.DomainRefused)
	}
}

// framed answers each_frame steps with these frames.
func framed(frames, state string) func(program.Program) (program.Result, error) {
	return func(p program.Program) (program.Result, error) {
		result := program.Result{Tab: "t1"}
		for _, s := range p.Steps {
			answer := state
			if s.EachFrame {
				answer = frames
			}
			result.Steps = append(result.Steps, json.RawMessage(answer))
		}
		return result, nil
	}
}

func TestADocumentIsJudgedByItsOwnSite(t *testing.T) {
	cases := map[string]struct {
		frame string
		shown bool
	}{
		"an allowed domain":                           {`"url":"https://a.test/x","site":"https://a.test"`, true},
		"another domain":                              {`"url":"https://b.test/x","site":"https://b.test"`, false},
		"a blank page of nobody else's":               {`"url":"about:blank","site":""`, true},
		"a blank page of the one around it":           {`"url":"about:blank","site":"https://a.test"`, true},
		"a blank page that another domain has filled": {`"url":"about:blank","site":"https://b.test"`, false},
		"a sandboxed srcdoc":                          {`"url":"about:srcdoc","site":""`, true},
		"a data page":                                 {`"url":"data:text/html,x","site":""`, false},
		"a page that does not say":                    {`"url":"","site":""`, false},
		"an address that was cut":                     {`"url":"https://a.test/%E2%…"`, true},
	}
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			frames := `[{"frame":"F","value":{"doc":"d","url":"https://a.test/","site":"https://a.test","lines":[{"depth":0,"role":"iframe","node":3,"frame":true}]}},
				{"frame":"G","parent":"F","owner":3,"value":{"doc":"x",` + tc.frame + `,"lines":[{"depth":0,"role":"button","name":"Press","node":1}]}}]`
			b := &scripted{tabs: []program.Tab{{ID: "t1", URL: "https://a.test/"}}, answers: framed(frames, `{"doc":"d","url":"https://a.test/","site":"https://a.test"}`)}
			r, err := browse.New(b, browse.Options{AllowDomains: []string{"a.test"}}).Do(t.Context(), browse.Action{Action: "snapshot"})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(r.Snapshot.Text, "Press"); got != tc.shown {
				t.Errorf("shown %v:\n%s", got, r.Snapshot.Text)
			}
		})
	}
	b := &scripted{tabs: []program.Tab{{ID: "t1", URL: "about:blank"}}, answers: framed(`[]`, `{"doc":"d","url":"about:blank","site":"https://b.test"}`)}
	if _, err := browse.New(b, browse.Options{AllowDomains: []string{"a.test"}}).Do(t.Context(), browse.Action{Action: "snapshot"}); !fault.Is(err, fault.DomainRefused) {
		t.Errorf("a blank tab that another domain has filled: %v", err)
	}
}
