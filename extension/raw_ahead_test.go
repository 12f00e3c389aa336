package extension_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// ahead is a site whose first page has Chrome draw the next one before it goes there.
type ahead struct {
	*httptest.Server
	begin, leave chan struct{} // closed for the first page to ask for the next, and to go there
	drawn, shown chan struct{} // closed once the next page is there unseen, and seen
}

func newAhead(t *testing.T) *ahead {
	t.Helper()
	a := &ahead{begin: make(chan struct{}), leave: make(chan struct{}), drawn: make(chan struct{}), shown: make(chan struct{})}
	waits := map[string]chan struct{}{"/begin": a.begin, "/leave": a.leave}
	tells := map[string]chan struct{}{"/drawn": a.drawn, "/shown": a.shown}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch path := r.URL.Path; {
		case waits[path] != nil:
			select {
			case <-waits[path]:
			case <-r.Context().Done():
			}
		case tells[path] != nil:
			close(tells[path])
		case path == "/next":
			_, _ = fmt.Fprint(w, "<title>Next</title><h1>Next</h1><script>if (document.prerendering) { fetch('/drawn'); document.addEventListener('prerenderingchange', () => fetch('/shown')) }</script>")
		default:
			_, _ = fmt.Fprint(w, `<title>First</title><script>fetch('/begin').then(() => {
	const rules = document.createElement('script'); rules.type = 'speculationrules';
	rules.text = JSON.stringify({prerender: [{source: 'list', urls: ['/next'], eagerness: 'immediate'}]}); document.head.append(rules);
	return fetch('/leave') }).then(() => { location.href = '/next' })</script>`)
		}
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *ahead) wait(t *testing.T, what string, done chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("waited %s in vain until the page is %s", patience, what)
	}
}

// slowSite is a web server elsewhere that answers only once it is let.
func slowSite(t *testing.T) (page string, answer chan struct{}) {
	t.Helper()
	answer = make(chan struct{})
	bank := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-answer:
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<title>Bank</title><p>balance 4711")
	}))
	t.Cleanup(bank.Close)
	return strings.Replace(bank.URL, "127.0.0.1", "localhost", 1) + "/", answer
}

// Chrome keeps the id that a page's frame had while nobody saw it, beside the id that the tab's target has.
func TestAPageThatWasDrawnAheadIsHeldAsAnyOther(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before it is shown", "after it is shown"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			w, site := newWorld(t, "act"), newAhead(t)
			s := w.stayingAt(site.URL+"/", "act")
			w.must("", "Target.activateTarget", object{"targetId": s.tab.target}, nil)
			w.must("", "Target.detachFromTarget", object{"sessionId": s.tab.session}, nil) // nothing is drawn ahead in a page under a debugger
			close(site.begin)
			site.wait(t, "drawn", site.drawn)
			mark := w.server.mark()
			var target string
			if when == "before it is shown" {
				w.server.hold(s.name)
			}
			close(site.leave)
			site.wait(t, "shown", site.shown)
			if when == "before it is shown" {
				w.server.since(mark, "the tab let go", kind("asleep"))
				target = w.server.since(mark, "the tab held anew", func(got frame) bool { return got.T == "held" && got.ID == 0 }).Target
			} else {
				target = w.server.hold(s.name)
			}
			s.isDrivenIn(target)
			page, answer := slowSite(t)
			mark = w.server.mark()
			w.server.evaluate(s.name, fmt.Sprintf("setTimeout(() => { location.href = %q }); 1", page))
			w.server.since(mark, "the tab let go before the other site has answered", kind("asleep"))
			close(answer)
		})
	}
}

// isDrivenIn fails unless the page answers in its own frame, which is this.
func (s *sharing) isDrivenIn(frame string) {
	s.t.Helper()
	var tree struct {
		FrameTree struct {
			Frame struct{ ID, URL string }
		}
	}
	if err := json.Unmarshal(s.server.mustRaw(s.name, "Page.getFrameTree", nil), &tree); err != nil {
		s.t.Fatal(err)
	}
	if got := tree.FrameTree.Frame; got.ID != frame || got.ID == s.tab.target || !strings.HasSuffix(got.URL, "/next") {
		s.t.Errorf("the page's frame is %+v; told of as %s, the target was %s", got, frame, s.tab.target)
	}
	if got := s.server.evaluate(s.name, "document.title"); got != "Next" {
		s.t.Errorf("script is answered %v", got)
	}
	s.server.mustRaw(s.name, "Input.dispatchMouseEvent", object{"type": "mouseMoved", "x": 4, "y": 4})
	if got := s.server.must(s.name, object{"run": "@snapshot", "args": object{"budget": 4000}}); !strings.Contains(string(got.Steps[0]), "Next") {
		s.t.Errorf("a program sees %s", got.Steps[0])
	}
}
