package extension_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What stands at a blob address is its maker's, and no less another site's than the page that made it.
func TestWhatAnotherSiteMadeIsNotForClientsOfATabThatStays(t *testing.T) {
	t.Parallel()
	const said = `parent.postMessage("made", "*")`
	for sentence, way := range map[string]struct{ host, script string }{
		"a frame":  {"localhost", `setTimeout(() => { location = URL.createObjectURL(new Blob(['<title>Bank</title><p>balance 4711<script>` + said + `<\/script>'], {type: 'text/html'})) })`},
		"a worker": {"127.0.0.1", `new Worker(URL.createObjectURL(new Blob(['self.secret = 4711; postMessage(0)']))).onmessage = () => ` + said},
	} {
		for _, isHeldFirst := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s held first %t", sentence, isHeldFirst), func(t *testing.T) {
				t.Parallel()
				bank := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/html")
					_, _ = fmt.Fprint(w, "<script>"+way.script+"</script>")
				}))
				t.Cleanup(bank.Close)
				s := newStaying(t, "act")
				mark := s.server.mark()
				if isHeldFirst {
					s.server.hold(s.name)
				}
				s.tab.eval(fmt.Sprintf("onmessage = () => { window.made = true }; const f = document.createElement('iframe'); f.src = %q; document.body.append(f); 0",
					strings.Replace(bank.URL, "127.0.0.1", way.host, 1)))
				s.tab.until("window.made === true")
				if !isHeldFirst {
					s.server.hold(s.name)
				}
				s.server.until(s.name)
				if n := s.server.count(mark, event("Target.attachedToTarget")); n != 0 {
					t.Errorf("clients are told of %d", n)
				}
			})
		}
	}
}

// A binding by a name that no page can have otherwise ends the page's process.
func TestNoBindingEndsTheProcessOfAnotherTab(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.tab.eval("window.open('/own', 'own'); 0")
	info := s.target(func(i targetInfo) bool { return i.Type == "page" && strings.HasSuffix(i.URL, "/own") })
	own := s.attach(info.ID)
	own.until("document.readyState === 'complete'")
	s.server.hold(s.name)
	for _, name := range []string{"location", "document", "window", "top"} {
		for range 2 {
			if got := s.server.raw(s.name, "Runtime.addBinding", object{"name": name}); got.T != "error" || got.Code != "forbidden" {
				t.Errorf("a binding called %s is answered %+v", name, got.header)
			}
		}
	}
	own.eval("document.title")
}
