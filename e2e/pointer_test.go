package e2e_test

import (
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chaperone/demo"
	"chaperone/server/browse"
)

// pointed is an interactive session on one backend, with the pages of server/browse/testdata at hand.
type pointed struct {
	*road
	t    *testing.T
	at   string
	last string
}

// onPages runs a test in an interactive session of each backend, beside other pages than the site's.
func onPages(t *testing.T, test func(p *pointed)) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir("../server/browse/testdata/pages")))
	mux.HandleFunc("/report", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/csv")
		w.Header().Set("Content-Disposition", "attachment; filename*=UTF-8''report%20%C3%BC.csv")
		_, _ = w.Write([]byte("id,total\n7,42\n"))
	})
	mux.HandleFunc("/files", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>files</title><a href="/report">Report</a><a href="#here">Nothing</a>`))
	})
	at := serveMux(t, mux)
	other := strings.Replace(at, "127.0.0.1", "localhost", 1)
	for _, backend := range []string{"managed", "shared"} {
		t.Run(backend, func(t *testing.T) {
			args := []string{}
			if backend == "managed" {
				args = []string{"--test-origin", at, "--test-origin", other}
			}
			r := &road{served: serve(t, args...)}
			r.policy("interactive")
			if backend == "shared" {
				r.person = arrive(t, demo.PersonOptions{})
				page, err := r.person.Visit(t.Context(), at+"/links.html")
				check(t, err)
				check(t, r.person.Pair(t.Context(), r.code()))
				check(t, r.person.Share(t.Context(), page, "act"))
				r.page = page
			}
			r.session = r.served.session(backend)
			test(&pointed{road: r, t: t, at: at})
		})
	}
}

func (p *pointed) do(a action) browse.Result {
	p.t.Helper()
	var r browse.Result
	if err := p.agent.Ask(p.t.Context(), http.MethodPost, "/sessions/"+p.session+"/actions", a, &r); err != nil {
		p.t.Fatalf("%v: %v", a, err)
	}
	if r.Snapshot != nil {
		p.last = r.Snapshot.Text
	}
	return r
}

func (p *pointed) open(page string) {
	p.t.Helper()
	p.do(action{"action": "open", "url": p.at + "/" + page})
}

func (p *pointed) ref(text string) string {
	p.t.Helper()
	for line := range strings.Lines(p.last) {
		if _, after, found := strings.Cut(line, "[ref="); found && strings.Contains(line, text) {
			ref, _, _ := strings.Cut(after, "]")
			return ref
		}
	}
	p.t.Fatalf("no ref for %q in\n%s", text, p.last)
	return ""
}

func (p *pointed) click(text string) browse.Result {
	p.t.Helper()
	return p.do(action{"action": "click", "ref": p.ref(text)})
}

func (p *pointed) says(js, want string) {
	p.t.Helper()
	got := p.do(action{"action": "eval", "js": js}).Returned
	if got == nil {
		p.t.Errorf("%s returns nothing, want %s", js, want)
	} else if *got != want {
		p.t.Errorf("%s is %s, want %s", js, *got, want)
	}
}

func TestDialogsAreAnsweredOnBothRoads(t *testing.T) { //nolint:tparallel // its parts have one browser, and go one after the other
	t.Parallel()
	onPages(t, func(p *pointed) {
		p.open("dialogs.html")
		confirms, prompt := p.ref("Four confirms"), p.ref("Prompt me")
		if r := p.do(action{"action": "click", "ref": prompt}); len(r.Dialogs) != 1 || !r.Dialogs[0].Open || r.Dialogs[0].Message != "Your name?" {
			p.t.Fatalf("%+v", r)
		}
		p.refused(p.session, action{"action": "snapshot"}, "dialog_open")
		p.refused(p.session, action{"action": "screenshot"}, "dialog_open")
		p.do(action{"action": "tabs"})
		p.do(action{"action": "dialog", "accept": true, "text": "Ada"})
		p.says("out.textContent", `"name Ada"`)
		p.do(action{"action": "click", "ref": confirms})
		for _, yes := range []bool{true, false, true, false} {
			p.do(action{"action": "dialog", "accept": yes})
		}
		p.says("out.textContent", `"1010"`)
		p.refused(p.session, action{"action": "dialog", "accept": true}, "not_found")
	})
}

func TestWhatThePointerDoesOnBothRoads(t *testing.T) { //nolint:tparallel // its parts have one browser, and go one after the other
	t.Parallel()
	onPages(t, func(p *pointed) {
		p.open("drag-html5.html")
		p.do(action{"action": "drag", "ref": p.ref("Card C"), "to": p.ref("Card A"), "at": "top"})
		p.says("out.textContent + ' ' + document.getElementById('ev').textContent.trim()", `"C,A,B dragstart dragover drop dragend"`)
		p.open("pointer.html")
		p.do(action{"action": "click", "ref": p.ref("Press me"), "count": 2})
		p.says("out.textContent", `"click:0:true click:0:true dblclick:0:true "`)
		p.do(action{"action": "snapshot"})
		p.do(action{"action": "click", "ref": p.ref("Press me"), "button": "right"})
		p.says("out.textContent.includes('contextmenu:2:true')", "true")
		p.do(action{"action": "hover", "role": "button", "name": "Products"})
		wants(p.t, "the open menu", p.last, `link "Sub page"`)
		p.do(action{"action": "snapshot"})
		p.do(action{"action": "drag", "ref": p.ref("Crate"), "to": p.ref("Lorry")})
		p.says("out.textContent.endsWith('loaded ')", "true")
		for _, page := range []string{"closed.html", "closed.html?same"} {
			p.open(page)
			p.refused(p.session, action{"action": "click", "role": "button", "name": "Show prices"}, "covered")
			p.says("out.textContent", `""`)
		}
	})
}

func TestTabsAreOpenedToldAndClosedOnBothRoads(t *testing.T) { //nolint:tparallel // its parts have one browser, and go one after the other
	t.Parallel()
	onPages(t, func(p *pointed) {
		p.open("opening.html")
		home := p.last
		for _, name := range []string{"A blank", "B noopener", "C script", "D popup"} {
			p.last = home
			r := p.click(name)
			if len(r.Opened) != 1 || !strings.HasSuffix(r.Opened[0].URL, "links.html?"+name[:1]) {
				p.t.Fatalf("%s opened %+v", name, r.Opened)
			}
			id := r.Opened[0].ID
			if r = p.do(action{"action": "get_text", "tab": id}); r.URL != p.at+"/links.html?"+name[:1] {
				p.t.Errorf("%s is at %s", id, r.URL)
			}
			if r = p.do(action{"action": "close_tab", "tab": id}); len(r.Tabs) != 1 || r.Tab == id {
				p.t.Errorf("after closing %s: %+v", id, r)
			}
		}
		if r := p.do(action{"action": "new_tab", "url": p.at + "/links.html"}); r.URL != p.at+"/links.html" || r.Tab == "" {
			p.t.Errorf("%+v", r)
		}
		p.do(action{"action": "close_tab"})
		if p.person != nil {
			p.refused(p.session, action{"action": "close_tab"}, "forbidden") // it is the person's own
		}
	})
}

func TestFilesComeAndGo(t *testing.T) { //nolint:tparallel // its parts have one browser, and go one after the other
	t.Parallel()
	onPages(t, func(p *pointed) {
		p.open("pointer.html")
		large := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("hello", 200_000)))
		p.do(action{"action": "upload", "role": "button", "name": "Choose a document", "files": []any{map[string]any{"name": "a.txt", "mime": "text/plain", "data": large}}})
		p.says("out.textContent", `"doc:a.txt:text/plain:1000000:hellohel "`)
		p.open("files")
		report := action{"action": "download", "role": "link", "name": "Report"}
		if p.person != nil {
			p.refused(p.session, report, "unavailable")
			return
		}
		r := p.do(report)
		if r.Download == nil || r.Download.Name != "report ü.csv" || r.Download.Bytes != 14 {
			p.t.Fatalf("%+v", r.Download)
		}
		if got := p.fetch("/api/v1/artifacts/" + r.Download.Artifact); got != "id,total\n7,42\n" {
			p.t.Errorf("the artifact holds %q", got)
		}
		p.refused(p.session, action{"action": "download", "role": "link", "name": "Nothing"}, "not_found")
		file := filepath.Join(p.t.TempDir(), "report.csv")
		p.do(action{"action": "snapshot"})
		p.must("browse", "--session", p.session, "download", p.ref("Report"), file)
		if got, err := os.ReadFile(file); err != nil || string(got) != "id,total\n7,42\n" {
			p.t.Errorf("the file holds %q, %v", got, err)
		}
	})
}
