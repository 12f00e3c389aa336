package e2e_test

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chaperone/demo"
)

// caseFolders hold the case pages: each says in its first comment what to do and what must come of it. The corpus that
// snapshots are held against has most of them, as case-*.html.
var caseFolders = []string{"testdata/cases", "../server/browse/testdata/corpus"}

// cases are the case pages by name, each with what its comment says.
var cases = map[string]func(p *pointed){
	"01-label-wraps-hidden-radio.html": func(p *pointed) {
		wants(p.t, "the page", p.last, `radio "Morning"`, `radio "Noon"`, `radio "Evening"`)
		p.click(`"Evening"`)
		p.says("out.textContent", `"slot=evening"`)
		wants(p.t, "the page afterwards", p.snapshot(), `radio "Evening" [ref=`, "[checked]")
	},
	"03-one-pixel-toggle.html": func(p *pointed) {
		ref := p.ref("Publish product")
		p.do(action{"action": "click", "ref": ref})
		p.says("out.textContent", `"on changes=1"`)
		for range 2 {
			p.do(action{"action": "check", "ref": ref})
		}
		p.says("out.textContent", `"on changes=1"`)
		p.do(action{"action": "uncheck", "ref": ref})
		p.says("out.textContent", `"off changes=2"`)
	},
	"04-iframe-nested-offset.html": func(p *pointed) {
		save := p.ref("Save city")
		p.do(action{"action": "fill", "ref": p.ref("City"), "text": "Oslo"})
		p.do(action{"action": "click", "ref": save})
		p.says("out.textContent", `"child says saved Oslo"`)
	},
	"06-cross-site-clickable-divs.html": func(p *pointed) {
		p.click("Bank transfer")
		p.says("out.textContent", `"picked Bank transfer x1"`)
		p.do(action{"action": "snapshot", "text": "Bank transfer"})
		p.click("Bank transfer")
		p.says("out.textContent", `"picked Bank transfer x2"`)
	},
	"09-shadow-open-slots.html": func(p *pointed) {
		for _, line := range []string{`combobox "Mode"`, `textbox "Reference"`, `button "Track"`} {
			if n := strings.Count(p.last, line); n != 1 {
				p.t.Errorf("%s is listed %d times in\n%s", line, n, p.last)
			}
		}
		track := p.ref("Track")
		p.do(action{"action": "select", "role": "combobox", "name": "Mode", "values": []string{"Rail"}})
		p.do(action{"action": "fill", "role": "textbox", "name": "Reference", "text": "AB-12"})
		p.do(action{"action": "click", "ref": track})
		p.says("out.textContent", `"Rail AB-12"`)
	},
	"11-aria-hidden-and-inert.html": func(p *pointed) {
		if strings.Contains(p.last, "Slide 2 offer\" [ref=") {
			p.t.Errorf("the inert slide has a ref:\n%s", p.last)
		}
		wants(p.t, "the page", p.last, "aria-hidden")
		p.click("Promo code")
		p.says("out.textContent", `"promo"`)
	},
	"13-hidden-text.html": func(p *pointed) {
		text := *p.do(action{"action": "get_text"}).Text
		full := p.do(action{"action": "snapshot", "full": true}).Snapshot.Text
		wants(p.t, "the text", text, "SEEN-1", "SEEN-2", "SEEN-3")
		wants(p.t, "the snapshot", full, "SEEN-1", "SEEN-2", "SEEN-3", "SEEN-4")
		if strings.Contains(text+full, "HIDE-") {
			p.t.Errorf("hidden text is told:\n%s\n%s", text, full)
		}
	},
	"14-huge-page.html": func(p *pointed) {
		if size := len(p.last); size > 13_000 {
			p.t.Errorf("the page takes %d characters", size)
		}
		p.do(action{"action": "snapshot", "text": "batch 5999"})
		wants(p.t, "what was found", p.last, "batch 5999")
		p.click("Approve")
		p.says("out.textContent", `"approved 5999"`)
		if r := p.do(action{"action": "wait", "ms": 300}); r.Snapshot != nil && len(r.Snapshot.Text) > 500 {
			p.t.Errorf("a wait answers %d characters", len(r.Snapshot.Text))
		}
	},
	"16-virtual-list.html": func(p *pointed) {
		list, old := p.ref(`list "Contacts"`), p.ref("Call contact 3")
		p.do(action{"action": "scroll", "ref": list, "amount": 3210 * 30})
		p.do(action{"action": "snapshot", "text": "Contact 3210"})
		p.do(action{"action": "click", "role": "button", "name": "Call contact 3210"})
		p.says("out.textContent", `"call 3210"`)
		p.refused(p.session, action{"action": "click", "ref": old}, "stale_ref")
		p.says("out.textContent", `"call 3210"`)
	},
	"17-stale-resort.html": func(p *pointed) {
		ana, cid, send := p.ref("Thread Ana"), p.ref("Thread Cid"), p.ref("Send")
		p.do(action{"action": "click", "ref": cid})
		p.do(action{"action": "click", "ref": send})
		p.refused(p.session, action{"action": "click", "ref": ana}, "stale_ref")
		p.open("17-stale-resort.html?moved=1")
		ana, cid, send = p.ref("Thread Ana"), p.ref("Thread Cid"), p.ref("Send")
		p.do(action{"action": "click", "ref": cid})
		p.do(action{"action": "click", "ref": send})
		p.do(action{"action": "click", "ref": ana})
		p.says("out.textContent", `"Ana"`)
	},
	"19-snapshot-is-fresh.html": func(p *pointed) {
		add, later := p.ref(`"Add"`), p.ref("Add later")
		p.do(action{"action": "click", "ref": add})
		wants(p.t, "the second snapshot", p.snapshot(), "item 1")
		p.do(action{"action": "click", "ref": later})
		p.do(action{"action": "wait", "text": "item 2"})
		wants(p.t, "the third snapshot", p.snapshot(), "item 2")
	},
	"20-svg-link-and-wrapped-link.html": func(p *pointed) {
		for _, name := range []string{"long wrapped link text", "284 open tickets", "two dots"} {
			p.do(action{"action": "click", "role": "link", "name": name})
		}
		p.says("log.textContent", `"w\ns\nd\n"`)
	},
	"23-aria-combobox.html": func(p *pointed) {
		role := p.ref("Role")
		p.do(action{"action": "select", "ref": role, "values": []string{"Product manager"}})
		p.says("out.textContent", `"Product manager"`)
		p.do(action{"action": "fill", "ref": role, "text": "des"})
		p.do(action{"action": "press", "keys": "ArrowDown Enter"})
		p.says("out.textContent", `"Designer"`)
		p.refused(p.session, action{"action": "select", "ref": role, "values": []string{"Pilot"}}, "not_found")
	},
	"26-rich-editor.html": func(p *pointed) {
		message, send := p.ref("Message"), p.ref("Send")
		const two = "Hello team\nsecond – line é"
		if r := p.do(action{"action": "fill", "ref": message, "text": two}); r.Value == nil || *r.Value != two {
			p.t.Errorf("what was filled reads back as %v", r.Value)
		}
		p.says("document.getElementById('m').textContent", `"[\"Hello team\",\"second – line é\"]"`)
		p.do(action{"action": "fill", "ref": message, "text": "short"})
		p.do(action{"action": "click", "ref": send})
		p.says("out.textContent", `"sent:short"`)
	},
	"28-consent-overlay.html": func(p *pointed) {
		apply, need := p.ref("Apply now"), p.ref("Only necessary")
		p.refused(p.session, action{"action": "click", "ref": apply}, "covered")
		p.do(action{"action": "click", "ref": need})
		p.do(action{"action": "click", "ref": apply})
		p.says("out.textContent + log.textContent", `"applied"`)
	},
	"30-offscreen-click.html": func(p *pointed) {
		p.click("Far away")
		p.says("out.textContent", `"hit"`)
	},
	"39-inner-scroller.html": func(p *pointed) {
		side := p.ref("Sidebar")
		for range 5 {
			p.do(action{"action": "scroll", "direction": "down"})
			p.do(action{"action": "wait", "ms": 250})
		}
		p.says("parseInt(out.textContent.slice(7)) >= 60 && document.getElementById('side').scrollTop === 0", "true")
		p.do(action{"action": "scroll", "ref": side, "amount": 200})
		p.says("document.getElementById('side').scrollTop > 0", "true")
	},
	"42-once-only.html": func(p *pointed) {
		p.click("Pay")
		p.says("out.textContent", `"paid 1"`)
	},
	"44-slow-client-redirect.html": func(p *pointed) {
		r := p.do(action{"action": "wait", "text": "landed", "snapshot": "full"})
		if !strings.HasSuffix(r.URL, "32-opened.html?k=landed") {
			p.t.Errorf("at the end it stands at %s", r.URL)
		}
	},
	"46-hash-router.html": func(p *pointed) {
		for _, c := range []struct{ part, view string }{{"inbox", "inbox"}, {"sent", "sent"}, {"broken", "sent"}} {
			r := p.do(action{"action": "open", "url": p.at + "/46-hash-router.html#/" + c.part})
			if !slices.ContainsFunc(r.Notices, func(n string) bool { return strings.Contains(n, "same document") }) {
				p.t.Errorf("%s is told %v", c.part, r.Notices)
			}
			p.says("new Promise(done => setTimeout(() => done(view.textContent), 300))", `"`+c.view+`"`)
		}
		p.do(action{"action": "back"})
		p.says("location.hash", `"#/sent"`)
	},
	"49-meta-refresh.html": func(p *pointed) {
		if r := p.do(action{"action": "wait", "text": "meta"}); !strings.HasSuffix(r.URL, "k=meta") {
			p.t.Errorf("at the end it stands at %s", r.URL)
		}
	},
	"51-frameset.html": func(p *pointed) {
		p.do(action{"action": "fill", "role": "textbox", "name": "City", "text": "Bergen"})
		p.do(action{"action": "click", "role": "button", "name": "Save city"})
		p.says("document.title", `"child says saved Bergen"`)
	},
	"57-type-any-script.html": func(p *pointed) {
		const line = "狛江市 西野川1-25-57 / Zürich – \"naïve\" / שלום عربى / 👩‍👧‍👦 é / tab→ / backslash \\ quote ' \" $HOME `x`"
		plain, latin, box := p.ref("Plain"), p.ref("Latin only"), p.ref("Box")
		if r := p.do(action{"action": "fill", "ref": plain, "text": line}); *r.Value != line {
			p.t.Errorf("Plain holds %q", *r.Value)
		}
		if r := p.do(action{"action": "fill", "ref": latin, "text": "狛江市1-25-57"}); *r.Value != "1-25-57" || len(r.Notices) == 0 {
			p.t.Errorf("Latin only holds %q, told %v", *r.Value, r.Notices)
		}
		if r := p.do(action{"action": "fill", "ref": box, "text": line + "\n" + line}); *r.Value != line+"\n"+line {
			p.t.Errorf("Box holds %q", *r.Value)
		}
	},
	"61-teach-same-name-rows.html": func(p *pointed) {
		p.refused(p.session, action{"action": "click", "role": "button", "name": "Edit"}, "ambiguous")
		p.do(action{"action": "snapshot", "text": "Bolt M6"})
		p.click("Edit")
		p.do(action{"action": "fill", "role": "textbox", "name": "Price", "text": "12"})
		p.do(action{"action": "click", "role": "button", "name": "Save"})
		p.says("out.textContent", `"Bolt M6=12"`)
	},
}

func TestCasePagesOnTheServer(t *testing.T) { //nolint:tparallel // its parts have one browser, and go one after the other
	t.Parallel()
	at := serveMux(t, caseSite())
	r := &road{served: serve(t, "--test-origin", at, "--test-origin", strings.Replace(at, "127.0.0.1", "localhost", 1))}
	r.policy("interactive")
	r.session = r.served.session("managed")
	playCases(t, r, at)
}

func TestCasePagesInASharedTab(t *testing.T) { //nolint:tparallel // its parts have one browser, and go one after the other
	t.Parallel()
	at := serveMux(t, caseSite())
	r := &road{served: serve(t)}
	r.policy("interactive")
	r.person = arrive(t, demo.PersonOptions{})
	page, err := r.person.Visit(t.Context(), at+"/32-opened.html")
	check(t, err)
	check(t, r.person.Pair(t.Context(), r.code()))
	check(t, r.person.Share(t.Context(), page, "act"))
	r.session, r.page = r.served.session("shared"), page
	playCases(t, r, at)
}

func playCases(t *testing.T, r *road, at string) {
	t.Helper()
	all := maps.Clone(cases)
	maps.Copy(all, moreCases)
	for _, page := range slices.Sorted(maps.Keys(all)) { // in their order: one leaves the person's tab hanging
		t.Run(page, func(t *testing.T) {
			p := &pointed{road: r, t: t, at: at}
			p.open(page)
			all[page](p)
		})
	}
}

// serveCase serves a case page from whichever folder has it.
func serveCase(w http.ResponseWriter, r *http.Request) {
	name := filepath.Base(r.URL.Path)
	for _, folder := range caseFolders {
		for _, file := range []string{name, "case-" + name} {
			if path := filepath.Join(folder, file); isFile(path) {
				http.ServeFile(w, r, path)
				return
			}
		}
	}
	http.NotFound(w, r)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// snapshot is the whole page as it is now.
func (p *pointed) snapshot() string {
	p.t.Helper()
	return p.do(action{"action": "snapshot"}).Snapshot.Text
}
