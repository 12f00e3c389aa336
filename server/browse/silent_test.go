package browse_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"chaperone/relay/program"
	"chaperone/server/browse"
)

// paper is a page that the test changes between actions.
type paper struct {
	doc, title, lines, found string
	more                     int
	steps                    map[string]string // what other functions of the page script answer
}

func (p *paper) answers(asked program.Program) (program.Result, error) {
	shot := func(lines string) string {
		return `{"doc":"` + p.doc + `","url":"https://example.com/","title":"` + p.title + `","lines":[` + lines + `],"more":` + strconv.Itoa(p.more) + `}`
	}
	answers := showing(shot(p.lines), `{"doc":"`+p.doc+`","url":"https://example.com/","title":"`+p.title+`","status":200}`)
	result, err := answers(asked)
	for i, step := range asked.Steps {
		switch step.Run {
		case "@find":
			result.Steps[i] = []byte(`[{"frame":"F","value":` + shot(p.found) + `}]`)
		case "@value", "@toggled", "@toggle":
			result.Steps[i] = []byte(p.steps[step.Run])
		case "@text":
			result.Steps[i] = []byte(`[{"frame":"F","value":{"doc":"` + p.doc + `","text":"all of it"}}]`)
		}
	}
	return result, err
}

const (
	payButton = `{"depth":0,"role":"button","name":"Pay","node":1}`
	allLinks  = `{"depth":0,"role":"link","name":"One","node":2},{"depth":0,"role":"link","name":"Two","node":3}`
)

func status(text string) string { return `{"depth":0,"role":"status","value":"` + text + `"}` }

func silentEngine(p *paper) *browse.Engine {
	return browse.New(&scripted{tabs: oneTab(), answers: p.answers}, browse.Options{})
}

func mustDo(t *testing.T, e *browse.Engine, a browse.Action) browse.Result {
	t.Helper()
	r, err := e.Do(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWhatChangedIsToldOfAPageThatWasNotShown begins without seeing the page, and is told what its click changed.
func TestWhatChangedIsToldOfAPageThatWasNotShown(t *testing.T) {
	t.Parallel()
	for sentence, reads := range map[string][]browse.Action{
		"nothing was read":        nil,
		"something was found":     {{Action: "snapshot", Text: new("Pay")}},
		"the text was read":       {{Action: "get_text"}},
		"two things were read":    {{Action: "snapshot", Name: "Pay"}, {Action: "get_text"}},
		"something was done that": {{Action: "click", Ref: "e1", Snapshot: "none"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			p := &paper{doc: "d", title: "Shop", lines: payButton + "," + allLinks + "," + status("Open"), found: payButton}
			e := silentEngine(p)
			if r := mustDo(t, e, browse.Action{Action: "open", URL: "https://example.com/", Snapshot: "none"}); r.Snapshot != nil {
				t.Errorf("none shows %+v", r.Snapshot)
			}
			for _, read := range reads {
				mustDo(t, e, read)
			}
			p.lines = payButton + "," + status("Paid")
			r := mustDo(t, e, browse.Action{Action: "click", Ref: "e1"})
			if r.Snapshot == nil || r.Snapshot.Mode != "diff" || r.Snapshot.Text != "- status: Paid" {
				t.Errorf("the click tells %+v", r.Snapshot)
			}
			want := "The rest of the page was never shown: see snapshot."
			if sentence == "the text was read" {
				want = ""
			}
			if told := strings.Join(r.Notices, "\n"); told != want {
				t.Errorf("it says %q: of the links nothing was known, and nothing is gone", told)
			}
			if r = mustDo(t, e, browse.Action{Action: "click", Ref: "e1"}); r.Snapshot != nil || strings.Contains(strings.Join(r.Notices, ""), "never shown") {
				t.Errorf("the next one says %+v %v", r.Snapshot, r.Notices)
			}
		})
	}
}

// TestWhatWasReadInPartsIsWhatChangesAreToldAgainst lets a page that was not shown change between the reader's looks.
func TestWhatWasReadInPartsIsWhatChangesAreToldAgainst(t *testing.T) {
	t.Parallel()
	p := &paper{doc: "d", title: "Shop", lines: payButton + "," + status("Loading"), found: payButton}
	e := silentEngine(p)
	mustDo(t, e, browse.Action{Action: "open", URL: "https://example.com/", Snapshot: "none"})
	p.lines = payButton + "," + allLinks + "," + status("Open")
	mustDo(t, e, browse.Action{Action: "snapshot", Text: new("Open")}) // the first that is known of it
	p.lines = payButton + "," + allLinks + "," + status("Closed")
	mustDo(t, e, browse.Action{Action: "click", Ref: "e1", Snapshot: "none"})
	mustDo(t, e, browse.Action{Action: "snapshot", Text: new("Pay")}) // does not show it
	if r := mustDo(t, e, browse.Action{Action: "wait", MS: 1}); r.Snapshot == nil || r.Snapshot.Text != "- status: Closed" {
		t.Errorf("what was known and changed: %+v %v", r.Snapshot, r.Notices)
	}
}

func TestWhatWasShownIsWhatChangesAreToldAgainst(t *testing.T) {
	t.Parallel()
	p := &paper{doc: "d", title: "Shop", lines: payButton + "," + status("Open"), found: payButton}
	e := silentEngine(p)
	mustDo(t, e, browse.Action{Action: "snapshot"})
	p.lines = payButton + "," + status("Closed")
	mustDo(t, e, browse.Action{Action: "snapshot", Text: new("Pay")}) // does not show the status
	if r := mustDo(t, e, browse.Action{Action: "click", Ref: "e1"}); r.Snapshot == nil || r.Snapshot.Text != "- status: Closed" {
		t.Errorf("what changed before something was looked for: %+v %v", r.Snapshot, r.Notices)
	}
	p.doc, p.lines = "d2", payButton+","+allLinks
	mustDo(t, e, browse.Action{Action: "click", Ref: "e1", Snapshot: "none"}) // leads to another document
	mustDo(t, e, browse.Action{Action: "snapshot", Text: new("Pay")})
	p.lines = payButton + "," + allLinks + "," + status("Paid")
	if r := mustDo(t, e, browse.Action{Action: "wait", MS: 1}); r.Snapshot == nil || r.Snapshot.Text != "- status: Paid" {
		t.Errorf("on another page, of which something was found: %+v %v", r.Snapshot, r.Notices)
	}
	p.doc = "d3"
	if r := mustDo(t, e, browse.Action{Action: "wait", MS: 1}); r.Snapshot == nil || r.Snapshot.Mode != "full" {
		t.Errorf("another page: %+v", r.Snapshot)
	}
}

func TestWhereAnAnswerStandsIsToldWhenItIsNews(t *testing.T) {
	t.Parallel()
	p := &paper{doc: "d", title: "Shop", lines: payButton, found: payButton}
	e := silentEngine(p)
	for _, step := range []struct {
		says    string
		a       browse.Action
		title   string
		unmoved bool
	}{
		{"the first answer", browse.Action{Action: "get_text"}, "Shop", false},
		{"the same place", browse.Action{Action: "get_text"}, "Shop", true},
		{"another title", browse.Action{Action: "get_text"}, "Shop (1)", false},
		{"the same title", browse.Action{Action: "snapshot", Text: new("Pay")}, "Shop (1)", true},
		{"a look at the page", browse.Action{Action: "snapshot"}, "Shop (1)", false},
		{"open", browse.Action{Action: "open", URL: "https://example.com/"}, "Shop (1)", false},
		{"the tabs", browse.Action{Action: "tabs"}, "Shop (1)", false},
	} {
		p.title = step.title
		r := mustDo(t, e, step.a)
		if r.Unmoved != step.unmoved || strings.Contains(browse.Readable(r), "example.com/") == step.unmoved {
			t.Errorf("%s: %v, and reads\n%s", step.says, r.Unmoved, browse.Readable(r))
		}
	}
}

// TestChangesWithoutEndAreCut changes much of a long page.
func TestChangesWithoutEndAreCut(t *testing.T) {
	t.Parallel()
	row := func(i int, name string) string {
		return fmt.Sprintf(`{"depth":0,"role":"button","name":"%s %d","node":%d}`, name, i, i+1)
	}
	rows := func(changed int) string {
		all := make([]string, 400)
		for i := range all {
			all[i] = row(i, "Row")
			if i < changed {
				all[i] = strings.Replace(row(i, "Row"), `"node"`, `"states":["pressed"],"value":"on and on and on and on and on and on","node"`, 1)
			}
		}
		return strings.Join(all, ",")
	}
	p := &paper{doc: "d", title: "Long", lines: rows(0)}
	e := silentEngine(p)
	mustDo(t, e, browse.Action{Action: "snapshot"})
	p.lines = rows(200)
	r := mustDo(t, e, browse.Action{Action: "wait", MS: 1})
	if r.Snapshot == nil || r.Snapshot.Mode != "diff" || len(r.Snapshot.Text) > 6000 || r.Snapshot.More == nil {
		t.Fatalf("%+v", r.Snapshot)
	}
	parts := []string{r.Snapshot.Text}
	for r.Snapshot.More != nil {
		r = mustDo(t, e, browse.Action{Action: "snapshot", Cursor: r.Snapshot.More.Cursor})
		parts = append(parts, r.Snapshot.Text)
	}
	all := strings.Join(parts, "\n")
	if n := len(regexp.MustCompile(`"Row \d+" \[ref=e\d+\] \[pressed\]`).FindAllString(all, -1)); n != 200 || strings.Count(all, "\n") != 199 {
		t.Errorf("%d changes, each once, in %d lines", n, strings.Count(all, "\n")+1)
	}
}

// TestWhatWasFoundFarDownIsLookedForAgain acts on what lies beyond what is noted of a page.
func TestWhatWasFoundFarDownIsLookedForAgain(t *testing.T) {
	t.Parallel()
	row := func(text string) string {
		return `{"depth":0,"role":"row","value":"` + text + `"},{"depth":1,"role":"button","name":"Approve","node":90}`
	}
	p := &paper{doc: "d", title: "Long", lines: payButton, found: row("Order 90 | open"), more: 100}
	e := silentEngine(p)
	mustDo(t, e, browse.Action{Action: "snapshot"})
	r := mustDo(t, e, browse.Action{Action: "snapshot", Text: new("Order 90")})
	ref := regexp.MustCompile(`e\d+`).FindString(r.Snapshot.Text)
	p.found = row("Order 90 | approved")
	r = mustDo(t, e, browse.Action{Action: "click", Ref: ref})
	if r.Snapshot == nil || r.Snapshot.Text != "- row: Order 90 | approved" {
		t.Errorf("its row tells %+v %v", r.Snapshot, r.Notices)
	}
	p.found = `{"depth":0,"role":"row","value":"Order 90"}`
	r = mustDo(t, e, browse.Action{Action: "click", Ref: ref})
	if r.Snapshot == nil || r.Snapshot.Text != "- row: Order 90" || strings.Contains(strings.Join(r.Notices, ""), "Gone") {
		t.Errorf("a button that is not found any more may still be there: %+v %v", r.Snapshot, r.Notices)
	}
	if r = mustDo(t, e, browse.Action{Action: "click", Ref: "e1"}); r.Snapshot != nil {
		t.Errorf("a click elsewhere tells %+v", r.Snapshot)
	}
}

// TestWhatWasAskedForIsNotToldAgain leaves out what the reader has just said, and nothing else.
func TestWhatWasAskedForIsNotToldAgain(t *testing.T) {
	t.Parallel()
	field := func(marks, value string) string {
		return `{"depth":0,"role":"textbox","name":"City","node":1,"states":["required"` + marks + `],"value":"` + value + `"}`
	}
	box := func(states string) string {
		return `{"depth":0,"role":"checkbox","name":"Gift","node":1,"states":[` + states + `]}`
	}
	fill, check := browse.Action{Action: "fill", Ref: "e1", Text: new("Oslo")}, browse.Action{Action: "check", Ref: "e1"}
	holds := map[string]string{"@value": `{"value":"Oslo","same":true,"landed":true}`, "@toggle": `{"press":{}}`, "@toggled": `{"state":"true"}`}
	for sentence, tc := range map[string]struct {
		before, after string
		a             browse.Action
		steps         map[string]string
		want          bool
	}{
		"a field holds what was entered":         {field("", ""), field("", "Oslo"), fill, holds, true},
		"a field that held something before":     {field("", "Rome"), field("", "Oslo"), fill, holds, true},
		"a field that is invalid by that":        {field("", ""), field(`,"invalid"`, "Oslo"), fill, holds, false},
		"a field that is not invalid any more":   {field(`,"invalid"`, ""), field("", "Oslo"), fill, holds, false},
		"a field that holds something else":      {field("", ""), field("", "OSLO"), fill, map[string]string{"@value": `{"value":"OSLO","same":false,"landed":true}`}, false},
		"something else came of it":              {field("", ""), field("", "Oslo") + "," + status("Far away"), fill, holds, false},
		"a box is checked":                       {box(""), box(`"checked"`), check, holds, true},
		"a box is checked and disabled":          {box(""), box(`"checked","disabled"`), check, holds, false},
		"a box that shows nothing of its change": {box(""), box(""), check, holds, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			p := &paper{doc: "d", title: "Shop", lines: tc.before, steps: tc.steps}
			e := silentEngine(p)
			mustDo(t, e, browse.Action{Action: "snapshot"})
			p.lines = tc.after
			r := mustDo(t, e, tc.a)
			read := browse.Readable(r)
			if r.AsAsked != tc.want || tc.want != (read == "Done; the snapshot has no other change.") {
				t.Errorf("%v, and reads\n%s", r.AsAsked, read)
			}
			if tc.want && (r.Snapshot == nil || r.Snapshot.Mode != "diff") {
				t.Errorf("the answer itself lacks what changed: %+v", r.Snapshot)
			}
		})
	}
}

// TestEntriesAreShort looks at lists of cards.
func TestEntriesAreShort(t *testing.T) {
	t.Parallel()
	entry := func(role, value string, held ...string) string {
		lines := append(make([]string, 0, 1+len(held)), `{"depth":0,"role":"`+role+`","value":"`+value+`"}`)
		for i, name := range held {
			lines = append(lines, fmt.Sprintf(`{"depth":1,"role":"%s","name":"Buy","node":%d}`, name, i+1))
		}
		return strings.Join(lines, ",")
	}
	const long, short = "Delivered within two days", "In stock"
	for sentence, tc := range map[string]struct {
		lines []string
		want  string
	}{
		"what is said again is said once": {
			[]string{entry("listitem", long, "link"), entry("listitem", long, "link"), entry("listitem", long, "button", "link")},
			"link: Delivered within two days,link: as above,listitem: as above,  button,  link",
		},
		"what is short is said again": {
			[]string{entry("listitem", short, "link"), entry("listitem", short, "link")}, "link: In stock,link: In stock",
		},
		"something else stands between": {
			[]string{entry("article", long, "button"), entry("article", short, "button"), entry("article", long)},
			"button: Delivered within two days,button: In stock,article: Delivered within two days",
		},
		"rows are data": {
			[]string{entry("row", long, "button"), entry("row", long, "button")},
			"row: Delivered within two days,  button,row: Delivered within two days,  button",
		},
		"a field says what it holds": {[]string{entry("listitem", short, "textbox")}, "listitem: In stock,  textbox"},
		"an entry without anything":  {[]string{entry("listitem", short), entry("listitem", long, "link")}, "listitem: In stock,link: Delivered within two days"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			text := mustDo(t, silentEngine(&paper{doc: "d", title: "Shop", lines: strings.Join(tc.lines, ",")}), browse.Action{Action: "snapshot"}).Snapshot.Text
			got := regexp.MustCompile(` "Buy" \[ref=e\d\]`).ReplaceAllString(text, "")
			if got = strings.ReplaceAll(strings.ReplaceAll(got, "- ", ""), "\n", ","); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
	p := &paper{doc: "d", title: "Shop", lines: entry("listitem", long, "link") + "," + entry("listitem", long+" and a half", "link")}
	e := silentEngine(p)
	mustDo(t, e, browse.Action{Action: "snapshot"})
	p.lines = entry("listitem", long, "link") + "," + entry("listitem", long, "link")
	if r := mustDo(t, e, browse.Action{Action: "wait", MS: 1}); r.Snapshot == nil || strings.Contains(r.Snapshot.Text, "as above") {
		t.Errorf("what changed is told by itself: %+v %v", r.Snapshot, r.Notices)
	}
}
