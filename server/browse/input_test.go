package browse_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

// forms serves the pages of these tests, and the cases among the oracle's corpus.
func formSite(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir("testdata/pages")))
	mux.Handle("/corpus/", http.StripPrefix("/corpus/", http.FileServer(http.Dir("testdata/corpus"))))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestInputInChromium(t *testing.T) { //nolint:tparallel // its parts have one browser, and go one after the other
	t.Parallel()
	script, at := pageScript(t), formSite(t)
	c := launch(t)
	cases := map[string]func(d *driver){
		"fields made of parts take a value or refuse it":               datesAndRanges,
		"an editor holds the lines it was filled with":                 editorCase,
		"editors with models of their own are filled":                  editors,
		"text in any script is entered as it is":                       anyScript,
		"what a field makes of text is told":                           filters,
		"frameworks notice what is entered":                            frameworks,
		"fields that are not ready are waited for or refused":          unready,
		"numbers are read as they are written":                         numbers,
		"boxes are checked once":                                       boxes,
		"a hidden box is checked by its label":                         togglePage,
		"a list of the page's own is opened, chosen from and verified": comboboxCase,
		"lists of many kinds":                                          lists,
		"a list's page has the last word":                              chosenThen,
		"a list that was opened in vain is shut again":                 leftLists,
		"shadow trees are filled and chosen from":                      shadowFields,
		"keys go to the element that is named":                         keysAt,
		"a long text is one program":                                   longText,
		"keys go where the keyboard is":                                looseKeys,
	}
	for sentence, check := range cases {
		t.Run(sentence, func(t *testing.T) {
			d := drive(t, c, script, browse.Options{})
			d.at = at
			check(d)
		})
	}
}

// named sends an action to the element of a role and a name.
func (d *driver) named(action, role, name string, more map[string]any) string {
	d.t.Helper()
	fields := map[string]any{"action": action, "role": role, "name": name}
	maps.Copy(fields, more)
	raw, err := json.Marshal(fields)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(raw)
}

func (d *driver) fill(name, text string) browse.Result {
	d.t.Helper()
	return d.do(d.named("fill", "textbox", name, map[string]any{"text": text}))
}

// holds checks what the answer says of the field.
func (d *driver) holds(r browse.Result, value string) {
	d.t.Helper()
	if r.Value == nil || *r.Value != value || len(warnings(r)) > 0 {
		d.t.Errorf("%s: the field holds %.200s, notices %q; want %.200q", r.Action, heldText(r.Value), r.Notices, value)
	}
	if r.Landed == nil || !*r.Landed {
		d.t.Errorf("%s: landed is not true", r.Action)
	}
}

// warnings are the notices that are not about what a snapshot shows.
func warnings(r browse.Result) []string {
	var all []string
	for _, notice := range r.Notices {
		if strings.Contains(notice, "field") {
			all = append(all, notice)
		}
	}
	return all
}

func heldText(value *string) string {
	if value == nil {
		return "nothing"
	}
	return "\"" + *value + "\""
}

func (d *driver) says(expression, want string) {
	d.t.Helper()
	if got := d.page(expression); got != want {
		d.t.Errorf("%s is %q, want %q", expression, got, want)
	}
}

func datesAndRanges(d *driver) {
	d.open("corpus/case-25-date-time-range.html")
	for _, field := range [][3]string{
		{"textbox", "Date", "2026-03-09"},
		{"textbox", "Time", "18:55"},
		{"textbox", "Month", "2026-11"},
		{"textbox", "Week", "2026-W07"},
		{"textbox", "Meeting", "2026-03-09T07:30"},
		{"button", "Colour", "#3366ff"},
		{"slider", "Volume", "40"},
		{"spinbutton", "Guests", "3"},
	} {
		ref := d.refIn(field[1])
		before := d.tab.runs
		d.holds(d.do(`{"action":"fill","ref":"`+ref+`","text":"`+field[2]+`"}`), field[2])
		if d.tab.runs != before+1 {
			d.t.Errorf("filling %s took %d programs", field[1], d.tab.runs-before)
		}
	}
	const all = "2026-03-09|18:55|2026-11|2026-W07|2026-03-09T07:30|#3366ff|40|3"
	d.says("out.textContent", all)
	for _, bad := range [][3]string{
		{"Date", "2026-02-30", "no such date"},
		{"Time", "25:00", "no such time"},
		{"Month", "2026-13", "no such month"},
		{"Week", "2026-W60", "no such week"},
		{"Meeting", "tomorrow", "YYYY-MM-DDTHH:MM"},
		{"Colour", "bluish", "#rrggbb"},
		{"Colour", "red", "no name"},
		{"Colour", "transparent", "no name"},
		{"Colour", "#ff0000ff", "#rrggbb"},
		{"Colour", "", "#rrggbb"},
		{"Volume", "41", "steps of 10"},
		{"Volume", "loud", "a number"},
		{"Guests", "many", "a number"},
	} {
		f := d.refused(`{"action":"fill","ref":"`+d.refIn(bad[0])+`","text":"`+bad[1]+`"}`, fault.BadRequest)
		if !strings.Contains(f.Message, bad[2]) {
			d.t.Errorf("%s %s: %s", bad[0], bad[1], f.Message)
		}
	}
	d.says("[...f.elements].map(e=>e.value).join('|')", all)
	d.holds(d.do(`{"action":"fill","ref":"`+d.refIn("Colour")+`","text":"#FF00AA"}`), "#ff00aa")
	r := d.do(`{"action":"fill","ref":"` + d.refIn("Guests") + `","text":"12"}`)
	if len(warnings(r)) != 1 || !strings.Contains(strings.Join(r.Said, " "), "above the most, 9") {
		d.t.Errorf("a number out of bounds: %q %q", r.Notices, r.Said)
	}
}

// refIn is the ref of an element in the whole page as it is now.
func (d *driver) refIn(name string) string {
	d.t.Helper()
	d.do(`{"action":"snapshot"}`)
	return d.ref(`"` + name + `"`)
}

func editorCase(d *driver) {
	d.open("corpus/case-26-rich-editor.html")
	d.holds(d.fill("Message", "Hello team\nsecond – line é"), "Hello team\nsecond – line é")
	d.says("m.textContent", `["Hello team","second – line é"]`)
	d.holds(d.fill("Message", "short"), "short")
	d.says("m.textContent", `["short"]`)
	d.do(`{"action":"click","role":"button","name":"Send"}`)
	d.says("out.textContent", "sent:short")
	d.open("corpus/case-26-rich-editor.html?enter-sends")
	d.holds(d.fill("Message", "one\ntwo"), "one\ntwo")
	d.says("out.textContent + m.textContent", `["one","two"]`)
	d.holds(d.fill("Message", ""), "")
}

func editors(d *driver) {
	d.open("input-editors.html")
	const text = "first line\nsecond – 狛江市 é"
	for _, name := range []string{"Plain", "Wrapping", "Model", "Paste only", "Chat"} {
		d.holds(d.fill(name, text), text)
		d.holds(d.fill(name, text), text)
	}
	d.says("lines.textContent", `["first line","second – 狛江市 é"]`)
	d.says("pasted.textContent", text)
	d.says("sent.textContent", "")
	d.holds(d.fill("Model", "one"), "one")
	d.says("lines.textContent", `["one"]`)
	if r := d.fill("Code text", "a = 1\nb = 2"); r.Value != nil || !strings.Contains(strings.Join(r.Notices, " "), "draws the text") {
		d.t.Errorf("an editor that draws its text: %s, %q", heldText(r.Value), r.Notices)
	}
	d.says("view.textContent", "a = 1\nb = 2")
	if r := d.do(d.named("type", "textbox", "Wrapping", map[string]any{"text": " and more"})); *r.Value != text+" and more" {
		d.t.Errorf("typing at the end: %s", heldText(r.Value))
	}
}

const scripts = "狛江市 西野川1-25-57 / Zürich – \"naïve\" / שלום عربى / 👩‍👧‍👦 é / tab→ / backslash \\ quote ' \" $HOME `x`"

func anyScript(d *driver) {
	for _, action := range []string{"fill", "type"} {
		d.open("corpus/case-57-type-any-script.html")
		for field, id := range map[string]string{"Plain": "a", "Box": "c"} {
			text := scripts
			if id == "c" {
				text = "line one\n" + scripts
			}
			r := d.do(d.named(action, "textbox", field, map[string]any{"text": text}))
			d.holds(r, text)
			if got := d.page(id + ".value"); got != text {
				d.t.Errorf("%s: %s holds %q", action, field, got)
			}
		}
		r := d.do(d.named(action, "textbox", "Latin only", map[string]any{"text": "狛江市1-25-57"}))
		if *r.Value != "1-25-57" || len(warnings(r)) != 1 {
			d.t.Errorf("%s: a field that filters: %s, %q", action, heldText(r.Value), r.Notices)
		}
		for kind := range strings.FieldsSeq(d.page("ev.textContent.replace(/^\\S* /,'')")) {
			if kind != "insertText" && kind != "insertLineBreak" && kind != "insertFromPaste" {
				d.t.Errorf("%s: an event of type %s", action, kind)
			}
		}
	}
}

func filters(d *driver) {
	d.open("input-frameworks.html")
	for name, field := range map[string]struct{ text, value, notice string }{
		"Phone": {"555 123 4567", "(555) 123-4567", "something else"}, // a mask
		"Short": {"too long", "too l", "something else"},
		"Mail":  {"nobody", "nobody", "see said"},
		"Veto":  {"x", "", "something else"},
	} {
		r := d.fill(name, field.text)
		if heldText(r.Value) != heldText(&field.value) || len(warnings(r)) != 1 || !strings.Contains(warnings(r)[0], field.notice) {
			d.t.Errorf("%s holds %s, notices %q", name, heldText(r.Value), r.Notices)
		}
	}
	if r := d.fill("Gone", "x"); r.Value != nil || len(warnings(r)) != 1 {
		d.t.Errorf("a field that goes away: %s, %q", heldText(r.Value), r.Notices)
	}
	if r := d.fill("Secret", "hunter2"); r.Value != nil || len(warnings(r)) != 0 {
		d.t.Errorf("a password: %s, %q", heldText(r.Value), r.Notices)
	}
	d.says("secret.value", "hunter2")
}

func frameworks(d *driver) {
	d.open("input-frameworks.html")
	d.holds(d.fill("Tracked", "new"), "new")
	d.holds(d.fill("Tracked day", "2026-03-09"), "2026-03-09")
	d.holds(d.do(d.named("fill", "slider", "Tracked level", map[string]any{"text": "7"})), "7")
	d.do(d.named("select", "combobox", "Tracked pick", map[string]any{"values": []string{"Beta"}}))
	d.do(d.named("check", "checkbox", "Tracked box", nil))
	d.says("window.state.textContent", `{"text":"new","day":"2026-03-09","level":"7","pick":"b","box":true}`)
	f := d.refused(d.named("select", "combobox", "Tracked pick", map[string]any{"values": []string{"Gamma"}}), fault.NotFound)
	if f.Detail != `the options are "Alpha", "Beta"` {
		d.t.Errorf("%s", f.Detail)
	}
	d.do(d.named("select", "combobox", "Suggested", map[string]any{"values": []string{"Second"}}))
	d.says("sug.value", "two")
}

func unready(d *driver) {
	d.open("input-frameworks.html")
	d.holds(d.fill("Later", "in time"), "in time")
	d.holds(d.fill("Autofill guard", "x"), "x")
	_ = d.refused(d.named("fill", "textbox", "Fixed", map[string]any{"text": "x"}), fault.NotEnabled)
	f := d.refused(d.named("fill", "textbox", "Stolen", map[string]any{"text": "x"}), fault.NotLanded)
	if d.page("other.value+stolen.value") != "" {
		d.t.Errorf("%+v", f)
	}
	for action, element := range map[string][2]string{"fill": {"checkbox", "Tracked box"}, "check": {"textbox", "Mail"}} {
		_ = d.refused(d.named(action, element[0], element[1], map[string]any{"text": "x"}), fault.BadRequest)
	}
	_ = d.refused(d.named("check", "checkbox", "Never", nil), fault.NotLanded)
}

func numbers(d *driver) {
	d.open("input-frameworks.html")
	for _, text := range []string{"3.5", "-2", "1e3", "12"} {
		d.holds(d.do(d.named("fill", "spinbutton", "Price", map[string]any{"text": text})), text)
	}
	_ = d.refused(d.named("fill", "spinbutton", "Price", map[string]any{"text": "1,5"}), fault.BadRequest)
	d.holds(d.do(d.named("fill", "spinbutton", "Price", map[string]any{"text": ""})), "")
}

func keysAt(d *driver) {
	d.open("input-frameworks.html")
	r := d.do(d.named("press", "textbox", "Other", map[string]any{"keys": "a + Shift+b ! F7 Control+A Control++ KeyC Numpad5"}))
	if r.Landed == nil || !*r.Landed {
		d.t.Error("the keys did not land")
	}
	d.says("other.value", "c5")
	const want = "a/KeyA S-+/Equal S-Shift/ShiftLeft S-B/KeyB S-!/Digit1 F7/F7 C-Control/ControlLeft C-a/KeyA C-Control/ControlLeft C-+/Equal c/KeyC 5/Numpad5 "
	d.says("keys.textContent", want)
	for _, keys := range []string{"Dead", "\u0301", "Hyper", "Control+", "Bogus+a"} {
		_ = d.refused(`{"action":"press","keys":"`+keys+`"}`, fault.BadRequest)
	}
	for _, keys := range []string{"Control+v", "Meta+V", "Shift+Insert", "Control+Shift+KeyV"} {
		_ = d.refused(`{"action":"press","keys":"`+keys+`"}`, fault.Forbidden)
	}
}

func longText(d *driver) {
	d.open("corpus/case-57-type-any-script.html")
	long := strings.Repeat("0123456789 狛江市 ✓\n", 4600)[:100<<10]
	long = strings.ToValidUTF8(long, "")
	ref, before := d.ref(`"Box"`), d.tab.runs
	for _, action := range []string{"fill", "type"} {
		raw, err := json.Marshal(map[string]any{"action": action, "ref": ref, "text": long})
		if err != nil {
			d.t.Fatal(err)
		}
		r, err := d.try(string(raw))
		if err != nil {
			d.t.Fatalf("%s: %v", action, err)
		}
		if len(warnings(r)) > 0 || r.Landed == nil || !*r.Landed {
			d.t.Errorf("%s: %q", action, r.Notices)
		}
	}
	if d.tab.runs != before+2 || d.page("c.value.length") != d.page("2*"+d.page("c.value.length/2")) {
		d.t.Errorf("%d programs, %s characters", d.tab.runs-before, d.page("c.value.length"))
	}
	if got := d.page("c.value"); got != long+long {
		d.t.Errorf("the box holds %d bytes, want %d", len(got), 2*len(long))
	}
}

func TestInputInFrames(t *testing.T) {
	script, at := pageScript(t), formSite(t)
	c := launch(t, "--site-per-process")
	for _, to := range []string{"127.0.0.1", "localhost"} {
		t.Run("a frame of "+to, func(t *testing.T) {
			d := drive(t, c, script, browse.Options{})
			d.at = at
			d.open("input-frame.html?from=127.0.0.1&to=" + to)
			d.do(`{"action":"wait","idle":true}`)
			d.holds(d.do(`{"action":"fill","ref":"`+d.refIn("Inner")+`","text":"filled é\u2713"}`), "filled é\u2713")
			d.holds(d.do(`{"action":"type","ref":"`+d.refIn("Inner")+`","text":" typed"}`), "filled é\u2713 typed")
			if r := d.do(`{"action":"press","ref":"` + d.refIn("Inner") + `","keys":"Backspace"}`); r.Landed == nil || !*r.Landed {
				t.Errorf("keys did not land: %+v", r)
			}
			d.do(`{"action":"check","ref":"` + d.refIn("Inner box") + `"}`)
			d.holds(d.do(`{"action":"select","ref":"`+d.refIn("Inner list")+`","values":["y"]}`), "y")
			r := d.do(`{"action":"snapshot","full":true}`)
			for _, want := range []string{`"Inner" [ref=`, "filled é\u2713 type\n", "[checked]"} {
				if !strings.Contains(r.Snapshot.Text+"\n", want) {
					t.Errorf("no %q in\n%s", want, r.Snapshot.Text)
				}
			}
		})
	}
}

func TestInputInGerman(t *testing.T) {
	script, at := pageScript(t), formSite(t)
	c := launch(t, "--lang=de-DE", "--accept-lang=de-DE")
	for sentence, check := range map[string]func(d *driver){"fields made of parts": datesAndRanges, "numbers": numbers} {
		t.Run(sentence, func(t *testing.T) {
			d := drive(t, c, script, browse.Options{})
			d.at = at
			check(d)
			d.says("navigator.language", "de-DE")
		})
	}
}

func looseKeys(d *driver) {
	d.open("input-frameworks.html")
	r := d.do(`{"action":"type","text":"x"}`)
	if r.Value != nil || !strings.Contains(strings.Join(r.Notices, " "), "No field had the keyboard") {
		d.t.Errorf("typing where no field is: %s, %q", heldText(r.Value), r.Notices)
	}
	d.says("keys.textContent", "x/KeyX ")
	d.do(`{"action":"click","role":"textbox","name":"Other"}`)
	r = d.do(`{"action":"type","text":"(é) A1"}`)
	d.holds(r, "(é) A1")
	d.open("input-codes.html")
	r = d.do(d.named("type", "textbox", "Digit 1", map[string]any{"text": "4711"}))
	d.says("[...document.querySelectorAll('input')].map((i) => i.value).join('')", "4711")
	if !strings.Contains(strings.Join(r.Notices, " "), "moved to another field") {
		d.t.Errorf("a code in fields of one digit each: %q", r.Notices)
	}
}
