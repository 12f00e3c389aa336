package browse_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

// site serves testdata/pages and a few answers of other shapes.
func site(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir("testdata/pages")))
	mux.HandleFunc("/missing", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<title>Gone</title><h1>No such thing</h1>")
	})
	mux.HandleFunc("/empty", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/refused", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "chaperone-egress: private\n")
	})
	mux.Handle("/onward", http.RedirectHandler("/links.html", http.StatusFound))
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/leave", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+strings.Replace(r.Host, "127.0.0.1", "localhost", 1)+"/one-pixel-toggle.html", http.StatusFound)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections() // one of them waits for an answer that never comes
		server.Close()
	})
	return server.URL
}

func TestActionsInChromium(t *testing.T) {
	script, at := pageScript(t), site(t) // the site outlives the browser, which asks it to the last
	c := launch(t)
	cases := map[string]struct {
		options browse.Options
		check   func(d *driver)
	}{
		"one action is one program":                               {check: oneProgram},
		"a click that leaves the page has landed":                 {check: leavingClick},
		"a recycled row keeps no ref":                             {check: recycledRef},
		"a moved row keeps its ref":                               {check: movedRef},
		"a covered element names what covers it":                  {check: coveredElement},
		"a snapshot shows what a click changed":                   {check: freshSnapshot},
		"a long page is cut at a line and goes on":                {check: longPage},
		"frames stand below their elements and are clicked there": {check: framesInTree},
		"answers of other shapes are told":                        {check: otherShapes},
		"a page that moves by itself is told":                     {check: movedPage},
		"a page that strays is taken back":                        {options: browse.Options{AllowDomains: []string{"127.0.0.1"}}, check: strayPage},
		"reading does not write":                                  {options: browse.Options{ReadOnly: true}, check: readOnly},
		"fields are filled, typed into and chosen from":           {check: filledFields},
		"panes scroll and pictures are taken":                     {check: scrolledPanes},
	}
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			d := drive(t, c, script, tc.options)
			d.at = at
			tc.check(d)
		})
	}
}

func oneProgram(d *driver) {
	t := d.t
	r := d.open("label-wraps-hidden-radio.html")
	if r.Status != 200 || r.Title == "" || r.Snapshot == nil || r.Snapshot.Mode != "full" {
		t.Errorf("%+v", r)
	}
	r = d.do(fmt.Sprintf(`{"action":"click","ref":"%s"}`, d.ref("Evening")))
	if d.tab.runs != 2 || r.Landed == nil || !*r.Landed || r.Snapshot == nil || r.Snapshot.Mode != "diff" {
		t.Errorf("%d programs for two actions; %+v", d.tab.runs, r)
	}
	want := regexp.MustCompile(`^- radio "Evening" \[ref=e\d+\] \[checked\]\n- status: slot=evening$`)
	if !want.MatchString(d.last) {
		t.Errorf("the difference is %q", d.last)
	}
}

func leavingClick(d *driver) {
	t := d.t
	d.open("links.html")
	r := d.do(fmt.Sprintf(`{"action":"click","ref":"%s"}`, d.ref("other page")))
	if r.Landed == nil || !*r.Landed || !strings.HasSuffix(r.URL, "/one-pixel-toggle.html") || r.Snapshot.Mode != "full" {
		t.Errorf("%+v", r)
	}
	r = d.do(`{"action":"back"}`)
	if !strings.HasSuffix(r.URL, "/links.html") {
		t.Errorf("back led to %s", r.URL)
	}
	if r = d.do(`{"action":"forward"}`); !strings.HasSuffix(r.URL, "/one-pixel-toggle.html") {
		t.Errorf("forward led to %s", r.URL)
	}
	_ = d.refused(`{"action":"click","ref":"e1"}`, fault.StaleRef)
	_ = d.refused(`{"action":"click","ref":"e999"}`, fault.StaleRef)
}

func recycledRef(d *driver) {
	t := d.t
	d.open("stale-resort.html")
	ana, cid := d.ref("Thread Ana"), d.ref("Thread Cid")
	send := d.ref("Send")
	d.do(fmt.Sprintf(`{"action":"click","ref":"%s"}`, cid))
	d.do(fmt.Sprintf(`{"action":"click","ref":"%s"}`, send))
	f := d.refused(fmt.Sprintf(`{"action":"click","ref":"%s"}`, ana), fault.StaleRef)
	if !strings.Contains(f.Detail, "Thread Cid") || d.page("out.textContent") != "Cid" {
		t.Errorf("%+v; open is %s", f, d.page("out.textContent"))
	}
}

func movedRef(d *driver) {
	t := d.t
	d.open("stale-resort.html?moved=1")
	ana, cid, send := d.ref("Thread Ana"), d.ref("Thread Cid"), d.ref("Send")
	for _, ref := range []string{cid, send, ana} {
		d.do(fmt.Sprintf(`{"action":"click","ref":"%s"}`, ref))
	}
	if got := d.page("out.textContent"); got != "Ana" {
		t.Errorf("open is %s", got)
	}
}

func coveredElement(d *driver) {
	t := d.t
	d.open("consent-overlay.html")
	f := d.refused(fmt.Sprintf(`{"action":"click","ref":"%s"}`, d.ref("Apply now")), fault.Covered)
	if !strings.Contains(f.Detail, `dialog "Cookies" [ref=`) {
		t.Errorf("%+v", f)
	}
	d.do(`{"action":"click","role":"button","name":"Only necessary"}`)
	d.do(`{"action":"click","role":"button","name":"Apply now"}`)
	if got := d.page("out.textContent + log.textContent"); got != "applied" {
		t.Errorf("the page says %q", got)
	}
}

func freshSnapshot(d *driver) {
	t := d.t
	d.open("snapshot-is-fresh.html")
	add, later := d.ref(`"Add"`), d.ref("Add later")
	if r := d.do(fmt.Sprintf(`{"action":"click","ref":"%s"}`, add)); r.Snapshot == nil || !strings.Contains(r.Snapshot.Text, "item 1") {
		t.Errorf("%+v", r.Snapshot)
	}
	d.do(fmt.Sprintf(`{"action":"click","ref":"%s"}`, later))
	d.do(`{"action":"wait","text":"item 2"}`)
	if r := d.do(`{"action":"snapshot"}`); !strings.Contains(r.Snapshot.Text, "item 2") {
		t.Errorf("%+v", r.Snapshot)
	}
	_ = d.refused(`{"action":"wait","text":"item 3","timeout_ms":400}`, fault.Timeout)
}

func longPage(d *driver) {
	t := d.t
	r := d.open("huge-page.html")
	if r.Snapshot.More == nil || len(r.Snapshot.Text) > 12000 || r.Snapshot.More.Lines < 10000 {
		t.Fatalf("%d characters, more %+v", len(r.Snapshot.Text), r.Snapshot.More)
	}
	first := r.Snapshot.Text
	r = d.do(fmt.Sprintf(`{"action":"snapshot","cursor":"%s"}`, r.Snapshot.More.Cursor))
	if r.Snapshot.More == nil || strings.Contains(first, strings.Split(r.Snapshot.Text, "\n")[0]) {
		t.Errorf("the second part begins %.200s", r.Snapshot.Text)
	}
	r = d.do(`{"action":"get_text"}`)
	if !strings.Contains(*r.Text, "batch 0 | owner 0") || r.More == nil || len(*r.Text) > 12000 {
		t.Errorf("text begins %.200s", *r.Text)
	}
	if r = d.do(fmt.Sprintf(`{"action":"get_text","cursor":"%s"}`, r.More.Cursor)); strings.Contains(*r.Text, "batch 0 |") {
		t.Errorf("the second part begins %.200s", *r.Text)
	}
}

func framesInTree(d *driver) {
	t := d.t
	d.open("nested.html")
	if !strings.Contains(d.last, "- iframe") || !strings.Contains(d.last, `  - button "Press me"`) {
		t.Fatalf("%s", d.last)
	}
	d.do(fmt.Sprintf(`{"action":"click","ref":"%s"}`, d.ref("Press me")))
	if got := d.page("out.textContent"); got != "pressed" {
		t.Errorf("the page says %q", got)
	}
	d.do(`{"action":"click","role":"button","name":"Press me"}`)
}

func otherShapes(d *driver) {
	t := d.t
	if r := d.open("missing"); r.Status != 404 || len(r.Notices) == 0 {
		t.Errorf("%+v", r)
	}
	_ = d.refused(`{"action":"open","url":"`+d.at+`/refused"}`, fault.AddressRefused)
	_ = d.refused(`{"action":"open","url":"`+d.at+`/empty"}`, fault.NavigationFailed)
	if f := d.refused(`{"action":"open","url":"http://127.0.0.1:9/"}`, fault.NavigationFailed); !strings.Contains(f.Message, "net::ERR_") {
		t.Errorf("%+v", f)
	}
	_ = d.refused(`{"action":"open","url":"http://no-such-host.invalid/"}`, fault.NavigationFailed)
	d.open("links.html")
	if r := d.do(`{"action":"open","url":"` + d.at + `/links.html#there"}`); len(r.Notices) == 0 || !strings.Contains(r.Notices[0], "same document") {
		t.Errorf("%+v", r)
	}
}

func movedPage(d *driver) {
	t := d.t
	if r := d.open("onward"); !strings.HasSuffix(r.URL, "/links.html") || !strings.Contains(strings.Join(r.Notices, " "), "Redirected from") {
		t.Errorf("%+v", r)
	}
	d.open("moving.html")
	d.do(`{"action":"wait","url_glob":"**/links.html"}`)
	d.open("moving.html")
	d.do(`{"action":"wait","ms":400,"snapshot":"none"}`)
	if r := d.do(`{"action":"snapshot"}`); !strings.HasSuffix(r.URL, "/links.html") {
		t.Errorf("%+v", r)
	}
	if f := d.refused(`{"action":"open","url":"`+d.at+`/slow","timeout_ms":300}`, fault.Timeout); !strings.Contains(f.Message, "goes on loading") {
		t.Errorf("%+v", f)
	}
}

func strayPage(d *driver) {
	t := d.t
	_ = d.refused(strings.Replace(`{"action":"open","url":"AT/links.html"}`, "AT", strings.Replace(d.at, "127.0.0.1", "localhost", 1), 1), fault.DomainRefused)
	_ = d.refused(`{"action":"open","url":"`+d.at+`/leave"}`, fault.DomainRefused)
	if got := d.page("location.href"); got != "about:blank" {
		t.Errorf("after a strayed open: %s", got)
	}
	d.open("links.html")
	_ = d.refused(fmt.Sprintf(`{"action":"click","ref":"%s"}`, d.ref("away")), fault.DomainRefused)
	if got := d.page("location.pathname + location.hostname"); got != "/links.html127.0.0.1" {
		t.Errorf("after a strayed click: %s", got)
	}
}

func readOnly(d *driver) {
	t := d.t
	d.open("forms.html")
	before := d.tab.runs
	_ = d.refused(`{"action":"type","text":"x"}`, fault.ReadOnlyRefused)
	_ = d.refused(`{"action":"eval","js":"1"}`, fault.ReadOnlyRefused)
	if d.tab.runs != before {
		t.Error("a refused action reached the browser")
	}
	_ = d.refused(fmt.Sprintf(`{"action":"click","ref":"%s"}`, d.ref("plain post")), fault.FormRefused)
	d.do(fmt.Sprintf(`{"action":"click","ref":"%s"}`, d.ref("not a submitter")))
}

func filledFields(d *driver) {
	t := d.t
	d.open("fields.html")
	city := d.ref(`"City"`)
	r := d.do(fmt.Sprintf(`{"action":"fill","ref":"%s","text":"Zürich – \"naïve\""}`, city))
	if r.Value == nil || *r.Value != `Zürich – "naïve"` || d.page("city.value") != *r.Value {
		t.Errorf("%+v", r)
	}
	d.do(`{"action":"press","keys":"End Shift+A b Backspace"}`)
	d.do(`{"action":"type","text":"!"}`)
	if got := d.page("city.value"); got != `Zürich – "naïve"A!` {
		t.Errorf("City holds %q", got)
	}
	d.do(fmt.Sprintf(`{"action":"fill","ref":"%s","text":""}`, city))
	if got := d.page("city.value"); got != "" {
		t.Errorf("City holds %q after it was emptied", got)
	}
	if r = d.do(`{"action":"fill","role":"textbox","name":"Day","text":"2026-03-09"}`); *r.Value != "2026-03-09" {
		t.Errorf("%+v", r)
	}
	if r = d.do(`{"action":"fill","role":"textbox","name":"Password","text":"s3cret"}`); r.Value != nil {
		t.Errorf("a password is read back: %s", *r.Value)
	}
	d.do(`{"action":"select","role":"combobox","name":"Colour","values":["Green"]}`)
	if f := d.refused(`{"action":"select","role":"combobox","name":"Colour","values":["Blue"]}`, fault.NotFound); !strings.Contains(f.Detail, `"Red"`) {
		t.Errorf("%+v", f)
	}
}

func scrolledPanes(d *driver) {
	t := d.t
	d.open("panes.html")
	if r := d.do(`{"action":"scroll","direction":"down"}`); len(r.Notices) == 0 || !strings.Contains(strings.Join(r.Notices, " "), "px below") {
		t.Errorf("%+v", r)
	}
	r := d.do(`{"action":"screenshot","full":true}`)
	if len(r.Picture) == 0 || r.Screenshot.Width == 0 {
		t.Errorf("%+v", r.Screenshot)
	}
}
