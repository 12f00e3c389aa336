package browse_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"chaperone/relay/program"
	"chaperone/server/browse"
	"chaperone/server/fault"
)

func TestDialogsInChromium(t *testing.T) {
	script, at := pageScript(t), site(t)
	c := launch(t)
	cases := map[string]struct {
		options browse.Options
		check   func(d *driver)
	}{
		"a dialog stays open until it is answered":             {check: answeredDialogs},
		"while a dialog is open nothing else is done":          {check: heldUpByDialog},
		"four confirms in a row are answered one by one":       {check: fourConfirms},
		"a prompt keeps its default unless a text is given":    {check: promptDefault},
		"a button that a dialog kept down comes up":            {check: buttonComesUp},
		"a dialog that nobody answers is dismissed and told":   {options: browse.Options{DialogPatience: 50 * time.Millisecond}, check: givenUpDialog},
		"in a read-only project dialogs are dismissed at once": {options: browse.Options{ReadOnly: true}, check: readOnlyDialogs},
		"leaving on purpose is not asked about":                {check: leavingOnPurpose},
		"leaving by a click is asked about":                    {check: leavingByClick},
	}
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			d := drive(t, c, script, tc.options)
			d.at = at
			tc.check(d)
		})
	}
}

// opens clicks a button that opens a dialog and holds what is told of it.
func (d *driver) opens(button, kind, message string) browse.Result {
	d.t.Helper()
	r := d.do(fmt.Sprintf(`{"action":"click","role":"button","name":%q}`, button))
	d.isOpen(r, kind, message)
	return r
}

func (d *driver) isOpen(r browse.Result, kind, message string) {
	d.t.Helper()
	if len(r.Dialogs) == 0 {
		d.t.Fatalf("no dialog in %+v", r)
	}
	last := r.Dialogs[len(r.Dialogs)-1]
	if !last.Open || last.Type != kind || last.Message != message || r.URL == "" || !strings.Contains(strings.Join(r.Notices, " "), kind+" dialog is open") {
		d.t.Errorf("%+v, want an open %s %q", r, kind, message)
	}
}

func (d *driver) outSays(want string) {
	d.t.Helper()
	if got := d.page("out.textContent"); got != want {
		d.t.Errorf("the page says %q, want %q", got, want)
	}
}

func answeredDialogs(d *driver) {
	d.open("dialogs.html")
	d.opens("Alert me", "alert", "Saved as draft")
	r := d.do(`{"action":"dialog","accept":true}`)
	if len(r.Dialogs) != 1 || r.Dialogs[0].Open || !r.Dialogs[0].Accepted || !strings.Contains(d.last, "seen") {
		d.t.Errorf("%+v\n%s", r, d.last)
	}
	d.outSays("seen")
	d.opens("Confirm it", "confirm", "Delete 3 files?")
	d.do(`{"action":"dialog","accept":false}`)
	d.outSays("no")
	d.opens("Prompt me", "prompt", "Your name?")
	d.do(`{"action":"dialog","accept":true,"text":"Ada"}`)
	d.outSays("name Ada")
	if f := d.refused(`{"action":"dialog","accept":true}`, fault.NotFound); !strings.Contains(f.Message, "No dialog is open") {
		d.t.Error(f)
	}
}

func heldUpByDialog(d *driver) {
	d.open("dialogs.html")
	alert := d.ref("Alert me")
	d.opens("Confirm it", "confirm", "Delete 3 files?")
	for _, action := range []string{
		`{"action":"snapshot"}`, `{"action":"screenshot"}`, `{"action":"get_text"}`, `{"action":"click","ref":"` + alert + `"}`,
		`{"action":"click","role":"button","name":"Alert me"}`, `{"action":"open","url":"` + d.at + `/links.html"}`, `{"action":"eval","js":"1"}`,
	} {
		f := d.refused(action, fault.DialogOpen)
		if f.Message != "A confirm dialog is open in this tab" || f.Detail != `it says "Delete 3 files?"` || !strings.Contains(f.Hint, "dialog with accept") {
			d.t.Errorf("%s: %+v", action, f)
		}
	}
	d.do(`{"action":"tabs"}`)
	d.do(`{"action":"dialog","accept":true}`)
	d.outSays("yes")
}

func fourConfirms(d *driver) {
	d.open("dialogs.html")
	d.opens("Four confirms", "confirm", "Step 1")
	for i, yes := range []bool{true, false, true} {
		r := d.do(fmt.Sprintf(`{"action":"dialog","accept":%v}`, yes))
		d.isOpen(r, "confirm", fmt.Sprintf("Step %d", i+2))
		if len(r.Dialogs) != 2 || r.Dialogs[0].Accepted != yes {
			d.t.Errorf("%+v", r.Dialogs)
		}
	}
	d.do(`{"action":"dialog","accept":false}`)
	d.outSays("1010")
}

func promptDefault(d *driver) {
	d.open("dialogs.html")
	r := d.opens("Prompt me", "prompt", "Your name?")
	if r.Dialogs[0].Default != "nobody" {
		d.t.Errorf("%+v", r.Dialogs)
	}
	d.do(`{"action":"dialog","accept":true}`)
	d.outSays("name nobody")
	d.opens("Prompt me", "prompt", "Your name?")
	d.do(`{"action":"dialog","accept":true,"text":""}`)
	d.outSays("name ")
}

func buttonComesUp(d *driver) {
	d.open("dialogs-other.html")
	d.opens("Down", "alert", "down")
	d.do(`{"action":"dialog","accept":true}`)
	d.outSays("down up")
}

func givenUpDialog(d *driver) {
	d.open("dialogs.html")
	d.opens("Confirm it", "confirm", "Delete 3 files?")
	var r browse.Result
	for r.Action == "" {
		var err error
		if r, err = d.try(`{"action":"snapshot"}`); err != nil && !fault.Is(err, fault.DialogOpen) {
			d.t.Fatal(err)
		}
	}
	if len(r.Dialogs) != 1 || r.Dialogs[0].Open || r.Dialogs[0].Accepted || !strings.Contains(strings.Join(r.Notices, " "), "A confirm dialog stood unanswered for 50ms and was dismissed") {
		d.t.Errorf("%+v", r)
	}
	d.outSays("no")
}

func readOnlyDialogs(d *driver) {
	d.open("dialogs.html")
	r := d.do(`{"action":"click","ref":"` + d.ref("Confirm it") + `"}`)
	if len(r.Dialogs) != 1 || r.Dialogs[0].Open || r.Dialogs[0].Accepted || r.Landed == nil {
		d.t.Errorf("%+v", r)
	}
	d.outSays("no")
	_ = d.refused(`{"action":"dialog","accept":true}`, fault.ReadOnlyRefused)
}

func leavingOnPurpose(d *driver) {
	d.open("dialogs-other.html")
	d.do(`{"action":"click","role":"button","name":"Keep me"}`)
	r := d.open("links.html")
	if len(r.Dialogs) != 1 || r.Dialogs[0].Type != "beforeunload" || !r.Dialogs[0].Accepted || !strings.HasSuffix(r.URL, "/links.html") {
		d.t.Errorf("%+v", r)
	}
}

func leavingByClick(d *driver) {
	d.open("dialogs-other.html")
	d.do(`{"action":"click","role":"button","name":"Keep me"}`)
	r := d.do(`{"action":"click","role":"link","name":"Leave"}`)
	d.isOpen(r, "beforeunload", "")
	r = d.do(`{"action":"dialog","accept":false}`)
	if !strings.HasSuffix(r.URL, "/dialogs-other.html") {
		d.t.Errorf("it stays at %s", r.URL)
	}
	d.isOpen(d.do(`{"action":"click","role":"link","name":"Leave"}`), "beforeunload", "")
	if r = d.do(`{"action":"dialog","accept":true}`); !strings.HasSuffix(r.URL, "/links.html") {
		d.t.Errorf("it leads to %s", r.URL)
	}
}

// A page may open its next dialog before the browser has told that the answer to the last one was taken.
func TestTheNextDialogIsNoRefusalOfAnAnswer(t *testing.T) {
	for code, want := range map[string]fault.Code{"dialog_open": "", "internal": fault.NotFound, "bad_request": fault.NotFound, "timeout": fault.Timeout, "tab_closed": fault.TabClosed} {
		b := &scripted{tabs: oneTab(), answers: func(program.Program) (program.Result, error) {
			ran := program.Result{Tab: "t1", Error: &program.Error{Step: 0, Code: code, Message: "ended"}}
			if code == "dialog_open" {
				ran.Dialogs = []program.Dialog{{Type: "confirm", Message: "One", Accepted: true}, {Type: "confirm", Message: "Two", Open: true}}
			}
			return ran, nil
		}}
		accept := true
		r, err := browse.New(b, browse.Options{}).Do(t.Context(), browse.Action{Action: "dialog", Accept: &accept})
		switch {
		case want != "" && !fault.Is(err, want):
			t.Errorf("%s: %v, want %s", code, err, want)
		case want == "" && (err != nil || len(r.Dialogs) != 2 || !r.Dialogs[0].Accepted || !r.Dialogs[1].Open):
			t.Errorf("%s: %v, %+v", code, err, r.Dialogs)
		}
	}
}
