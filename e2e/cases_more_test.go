package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"chaperone/relay/program"
	"chaperone/server/browse"
)

// moreCases are the case pages of fields made of parts, of tabs, dialogs and what is dragged, of servers' answers and of
// pages that give out.
var moreCases = map[string]func(p *pointed){
	"25-date-time-range.html": func(p *pointed) {
		for _, field := range [][2]string{
			{"Date", "2026-03-09"},
			{"Time", "18:55"},
			{"Month", "2026-11"},
			{"Week", "2026-W07"},
			{"Meeting", "2026-03-09T07:30"},
			{"Colour", "#3366ff"},
			{"Volume", "40"},
			{"Guests", "3"},
		} {
			p.do(action{"action": "snapshot"})
			if r := p.do(action{"action": "fill", "ref": p.ref(`"` + field[0] + `"`), "text": field[1]}); r.Value == nil || *r.Value != field[1] {
				p.t.Errorf("%s holds %v", field[0], r.Value)
			}
		}
		p.do(action{"action": "snapshot"})
		p.refused(p.session, action{"action": "fill", "ref": p.ref(`"Volume"`), "text": "41"}, "bad_request")
		p.refused(p.session, action{"action": "fill", "ref": p.ref(`"Date"`), "text": "2026-02-30"}, "bad_request")
		p.says("out.textContent", `"2026-03-09|18:55|2026-11|2026-W07|2026-03-09T07:30|#3366ff|40|3"`)
	},
	"32-new-tabs.html": func(p *pointed) {
		home := p.last
		for name, kind := range map[string]string{"A blank": "blank", "B noopener": "noopener", "C script": "script", "D popup": "popup"} {
			p.last = home
			r := p.click(name)
			if len(r.Opened) != 1 || !strings.HasSuffix(r.Opened[0].URL, "32-opened.html?k="+kind) {
				p.t.Fatalf("%s opened %+v", name, r.Opened)
			}
			opened, here := r.Opened[0].ID, r.Tab
			listed := p.do(action{"action": "tabs"}).Tabs
			if !slices.ContainsFunc(listed, func(t program.Tab) bool { return t.ID == opened }) {
				p.t.Errorf("%s is not among %+v", opened, listed)
			}
			if text := p.do(action{"action": "get_text", "tab": opened}).Text; text == nil || !strings.Contains(*text, "opened "+kind) {
				p.t.Errorf("%s says %v", opened, text)
			}
			if r = p.do(action{"action": "close_tab", "tab": opened}); r.Tab != here {
				p.t.Errorf("after closing %s it goes on in %s, not in %s", opened, r.Tab, here)
			}
		}
	},
	"33-dialogs.html": func(p *pointed) {
		alert, confirm, prompt, four := p.ref("Alert me"), p.ref("Confirm it"), p.ref("Prompt me"), p.ref("Four confirms")
		p.opens(alert, "alert", "Saved as draft")
		p.refused(p.session, action{"action": "snapshot"}, "dialog_open")
		p.refused(p.session, action{"action": "screenshot"}, "dialog_open")
		p.do(action{"action": "dialog", "accept": true})
		p.says("out.textContent", `"seen"`)
		p.opens(confirm, "confirm", "Delete 3 files?")
		p.do(action{"action": "dialog", "accept": false})
		p.says("out.textContent", `"no"`)
		p.opens(prompt, "prompt", "Your name?")
		p.do(action{"action": "dialog", "accept": true, "text": "Ada"})
		p.says("out.textContent", `"name Ada"`)
		p.opens(four, "confirm", "Step 1")
		for i, yes := range []bool{true, false, true, false} {
			r := p.do(action{"action": "dialog", "accept": yes})
			if next := fmt.Sprintf("Step %d", i+2); i < 3 && (len(r.Dialogs) != 2 || r.Dialogs[1].Message != next) {
				p.t.Errorf("after %d answers: %+v", i+1, r.Dialogs)
			}
		}
		p.says("out.textContent", `"1010"`)
	},
	"36-drag-html5.html": func(p *pointed) {
		p.do(action{"action": "snapshot", "full": true})
		p.do(action{"action": "drag", "ref": p.ref("Card C"), "to": p.ref("Card A"), "at": "top"})
		p.says("out.textContent", `"C,A,B"`)
		p.says("/^dragstart .*dragover drop dragend $/.test(document.getElementById('ev').textContent)", "true")
	},
	"53-server-shapes.html": shapes,
	"60-teach-secrets.html": func(p *pointed) {
		p.do(action{"action": "click", "role": "button", "name": "Show answer"})
		for _, field := range [][2]string{{"User", "kim"}, {"Password", "Tr0ub4dor"}, {"One-time code", "112233"}, {"Card", "4000000000000002"}, {"Remark", "hi"}} {
			r := p.do(action{"action": "fill", "role": "textbox", "name": field[0], "text": field[1]})
			if isSecret := field[1] != "kim" && field[1] != "hi"; isSecret == (r.Value != nil) {
				p.t.Errorf("%s is told as %v", field[0], r.Value)
			}
		}
		p.do(action{"action": "fill", "role": "textbox", "name": "Security answer", "text": "rover"})
		p.do(action{"action": "click", "role": "button", "name": "Sign in"})
		p.says("out.textContent", `"ok 5 secrets entered: 4"`)
		full := p.do(action{"action": "snapshot", "full": true}).Snapshot.Text
		recorded := p.fetch("/api/v1/ledger?session=" + p.session)
		for _, secret := range []string{"Tr0ub4dor", "112233", "4000000000000002"} {
			if strings.Contains(full, secret) {
				p.t.Errorf("the page tells %s", secret)
			}
		}
		for _, typed := range []string{"kim", "Tr0ub4dor", "112233", "4000000000000002", "rover"} {
			if strings.Contains(recorded, typed) {
				p.t.Errorf("the ledger holds %s", typed)
			}
		}
	},
	"66-foreign-extension-frame.html": func(p *pointed) {
		work, insert := p.ref("Work"), action{"action": "click", "ref": p.ref("Insert")}
		_, err := p.agent.Act(p.t.Context(), p.session, insert) // Chrome may keep us out before it is answered
		if p.person == nil {
			check(p.t, err)
		} else {
			p.leftOut()
		}
		p.do(action{"action": "snapshot"})
		p.do(action{"action": "click", "ref": work})
		p.says("out.textContent", `"worked"`)
	},
	"67-crash-and-hang.html": func(p *pointed) {
		stuck := p.do(action{"action": "tabs"}).Tab
		p.refused(p.session, action{"action": "click", "ref": p.ref("Block"), "timeout_ms": 2000}, "timeout")
		for _, what := range []string{"snapshot", "screenshot"} {
			p.refused(p.session, action{"action": what, "timeout_ms": 1000}, "timeout")
		}
		if tabs := p.do(action{"action": "tabs"}).Tabs; len(tabs) == 0 {
			p.t.Error("no tab is listed")
		}
		r := p.do(action{"action": "open", "url": p.at + "/32-opened.html?k=on", "timeout_ms": 20_000})
		if r.Tab == stuck || len(r.Notices) == 0 || !strings.Contains(r.Notices[0], "hangs") {
			p.t.Errorf("it goes on in %s: %v", r.Tab, r.Notices)
		}
		p.says("h.textContent", `"opened on"`)
	},
	"69-focus-guard.html": func(p *pointed) {
		count := p.ref("Count")
		home := p.do(action{"action": "tabs"}).Tab
		front := p.do(action{"action": "new_tab", "url": p.at + "/32-opened.html?k=front"}).Tab
		for range 2 {
			p.do(action{"action": "click", "ref": count, "tab": home})
		}
		p.do(action{"action": "screenshot", "tab": home})
		p.do(action{"action": "close_tab", "tab": front})
		p.do(action{"action": "select_tab", "tab": home})
		p.says("new Promise(done => setTimeout(() => done(n.textContent + e.textContent), 400))", `"2same"`)
		p.says("document.getElementById('log').textContent.includes('KEY')", "false")
	},
}

// opens clicks what opens a dialog.
func (p *pointed) opens(ref, kind, message string) {
	p.t.Helper()
	r := p.do(action{"action": "click", "ref": ref})
	if len(r.Dialogs) != 1 || !r.Dialogs[0].Open || r.Dialogs[0].Type != kind || r.Dialogs[0].Message != message {
		p.t.Fatalf("%+v, want an open %s %q", r.Dialogs, kind, message)
	}
}

// leftOut is what happens in a person's tab with another extension's frame in it, until the person has that gone.
func (p *pointed) leftOut() {
	p.t.Helper()
	for range 2 {
		if no := p.refusedAny(p.session, action{"action": "snapshot"}); no.Code != "tab_suspended" || !strings.Contains(no.Message, "Another extension") || !strings.Contains(no.Hint, "new_tab") {
			p.t.Errorf("with another extension's frame: %+v", no)
		}
	}
	p.do(action{"action": "new_tab", "url": p.at + "/32-opened.html?k=beside"})
	p.do(action{"action": "close_tab"})
	var frames int
	check(p.t, p.page.Do(p.t.Context(), "document.querySelectorAll('iframe').length", &frames))
	if frames != 1 {
		p.t.Errorf("%d frames are left of the other extension", frames)
	}
	check(p.t, p.page.Do(p.t.Context(), "document.querySelector('iframe').remove()", nil))
}

// shapes opens an address for each kind of answer that a server may give.
func shapes(p *pointed) {
	for path, status := range map[string]int{"?code=404": 404, "?code=503": 503, "?code=404&empty=1": 404} {
		r := p.do(action{"action": "open", "url": p.at + "/x/status" + path})
		if said := strings.Join(r.Notices, " "); r.Status != status || !strings.Contains(said, strconv.Itoa(status)) {
			p.t.Errorf("%s: %d, %q", path, r.Status, said)
		}
	}
	r := p.do(action{"action": "open", "url": p.at + "/x/redir"})
	if said := strings.Join(r.Notices, " "); !strings.Contains(said, "Redirected from") || !strings.HasSuffix(r.URL, "/32-opened.html?k=r") {
		p.t.Errorf("redirected it is at %s, %q", r.URL, said)
	}
	p.asksForALogin()
	p.open("53-server-shapes.html")
	for _, tc := range [][3]string{
		{p.at + "/x/204", "navigation_failed", "no content"},
		{p.at + "/x/loop", "navigation_failed", "redirects too many times"},
		{"http://no-such-host.invalid/", "navigation_failed", "does not resolve"},
		{p.at + "/x/hang", "timeout", "2000 ms"},
		{p.at + "/x/slow", "timeout", "goes on loading"},
	} {
		no := p.refusedAny(p.session, action{"action": "open", "url": tc[0], "timeout_ms": 2000})
		if no.Code != tc[1] || !strings.Contains(no.Message, tc[2]) {
			p.t.Errorf("%s: %+v", tc[0], no)
		}
	}
	p.do(action{"action": "wait", "text": "slow page ready"})
	wants(p.t, "what came late", p.snapshot(), "slow page ready")
}

// asksForALogin: what comes is the page that is shown without one, or none, as the browser has it.
func (p *pointed) asksForALogin() {
	p.t.Helper()
	var answer browse.Result
	err := p.agent.Ask(p.t.Context(), http.MethodPost, "/sessions/"+p.session+"/actions", action{"action": "open", "url": p.at + "/x/basic"}, &answer)
	said := strings.Join(answer.Notices, " ")
	if no := asRefused(err); no != nil && no.Code == "navigation_failed" {
		said = no.Message
	}
	if !strings.Contains(said, `asks for a login`) || !strings.Contains(said, `(realm "case")`) {
		p.t.Errorf("a login is told as %q, %v", said, err)
	}
}

// caseSite serves the case pages, and the servers' answers that one of them lists.
func caseSite() http.Handler {
	page := func(w http.ResponseWriter, code int, body string) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "<!doctype html><title>case</title>"+body)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", serveCase)
	mux.HandleFunc("/x/status", func(w http.ResponseWriter, r *http.Request) {
		code, err := strconv.Atoi(r.FormValue("code"))
		switch {
		case err != nil:
			w.WriteHeader(http.StatusBadRequest)
		case r.FormValue("empty") != "":
			w.WriteHeader(code)
		default:
			page(w, code, fmt.Sprintf("<h1>status %d body</h1>", code))
		}
	})
	mux.HandleFunc("/x/204", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/x/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x/loop", http.StatusFound) })
	mux.HandleFunc("/x/redir", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/32-opened.html?k=r", http.StatusFound)
	})
	mux.HandleFunc("/x/basic", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="case"`)
		page(w, http.StatusUnauthorized, "<h1>a login</h1>")
	})
	mux.HandleFunc("/x/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/x/slow", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(4 * time.Second):
			page(w, http.StatusOK, "<h1>slow page ready</h1>")
		case <-r.Context().Done():
		}
	})
	return mux
}
