package extension_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A program reads what clients may: neither frames of other sites in a tab that stays on its own, nor what comes into a frame later.
func TestAProgramReadsNoFrameOfAnotherSiteInATabThatStays(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"read", "act"} {
		for _, host := range []string{"localhost", "127.0.0.1"} {
			t.Run(level+" "+host, func(t *testing.T) {
				t.Parallel()
				s := newStaying(t, level)
				bank := strings.Replace(otherSite(t), "localhost", host, 1)
				frame := func(url string) {
					s.tab.eval(fmt.Sprintf("new Promise(done => { const f = document.createElement('iframe'); f.name = 'f'; f.onload = done; f.src = %q; document.body.append(f) }).then(() => 0)", url))
				}
				frame(bank + "/frame")
				frame(s.site.URL + "/inner")
				answer := s.server.must(s.name, object{"run": "@snapshot", "args": object{"budget": 9000, "full": true}, "each_frame": true})
				got := string(answer.Steps[0])
				if strings.Contains(got, "4711") || !strings.Contains(got, "Page /inner") {
					t.Errorf("the snapshot is %s, want the page and /inner alone", got)
				}
				named := s.server.run("s_1", s.name, object{"run": "@text", "args": object{}, "frame": s.frameOf(bank)})
				if named.Error == nil || strings.Contains(fmt.Sprintf("%s", named.Steps), "4711") {
					t.Errorf("a frame of another site, by its name, is answered %s %+v", named.Steps, named.Error)
				}
			})
		}
	}
}

// Chrome names frames and nodes of the page's own process by ids that can be read, or guessed.
func TestNoClientReadsAFrameOfAnotherSiteByNameOrNumber(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"read", "act"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			s := newStaying(t, level)
			bank := strings.Replace(otherSite(t), "localhost", "127.0.0.1", 1) // another port: another site, in the same process
			s.tab.eval(fmt.Sprintf("new Promise(done => { const f = document.createElement('iframe'); f.onload = done; f.src = %q; document.body.append(f) }).then(() => 0)", bank+"/frame"))
			name := s.frameOf(bank)
			s.server.hold(s.name)
			got := s.server.raw(s.name, "Accessibility.getFullAXTree", object{"frameId": name})
			if got.Code != "forbidden" {
				t.Errorf("the frame by its name is answered %s %s", got.Code, got.body)
			}
			answered := 0
			for number := range 80 {
				got := s.server.raw(s.name, "Accessibility.getPartialAXTree", object{"backendNodeId": number, "fetchRelatives": true})
				if strings.Contains(string(got.body), "balance") {
					t.Fatalf("node %d is answered %s", number, got.body)
				}
				if got.Error == nil {
					answered++
				}
			}
			if answered == 0 {
				t.Error("no node of the page itself is answered")
			}
		})
	}
}

// A frame whose site sends it to where no address says whose it is, is that site's still.
func TestNoClientReadsAFrameThatAnotherSiteHasBlanked(t *testing.T) {
	t.Parallel()
	s := newStaying(t, "act")
	bank := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, map[string]string{
			"/one": "<title>One</title>",
			"/two": `<script>const one = parent.frames.one; one.location.href = 'about:blank';
const write = () => { let is; try { is = one.location.href === 'about:blank' && one.document.readyState === 'complete' } catch {}
	if (is) one.document.body.textContent = 'balance of one'; else setTimeout(write, 20) }; setTimeout(write, 20)</script>`,
			"/data": `<script>location.href = 'data:text/html,<p>balance of three'</script>`,
		}[r.URL.Path])
	}))
	t.Cleanup(bank.Close)
	s.server.hold(s.name)
	s.server.mustRaw(s.name, "Runtime.enable", nil)
	mark := s.server.mark()
	for _, name := range []string{"one", "two", "data"} {
		s.tab.eval(fmt.Sprintf("new Promise(done => { const f = document.createElement('iframe'); f.name = %q; f.onload = () => setTimeout(done, 300); f.src = %q; document.body.append(f) }).then(() => 0)", name, bank.URL+"/"+name))
	}
	var tree struct {
		FrameTree struct {
			ChildFrames []struct {
				Frame struct{ ID, Name, URL string }
			}
		}
	}
	s.must(s.tab.session, "Page.getFrameTree", nil, &tree)
	places := map[string]string{"one": "about:blank", "data": "data:"}
	for _, child := range tree.FrameTree.ChildFrames {
		if at := places[child.Frame.Name]; at == "" || !strings.HasPrefix(child.Frame.URL, at) {
			continue
		}
		delete(places, child.Frame.Name)
		if got := s.server.raw(s.name, "Accessibility.getFullAXTree", object{"frameId": child.Frame.ID}); got.Code != "forbidden" {
			t.Errorf("the frame at %s by its name is answered %s %s", child.Frame.URL, got.Code, got.body)
		}
	}
	if len(places) > 0 {
		t.Fatalf("the frames did not go to %v: %+v", places, tree)
	}
	if n := s.server.count(mark, event("Runtime.executionContextCreated")); n != 0 {
		t.Errorf("%d contexts are told", n)
	}
}

// The document of a frame that is gone before it is asked for is nobody's.
func TestFramesThatAreRemovedAtOnceDoNotEndTheWorkInATab(t *testing.T) {
	t.Parallel()
	s := newStaying(t, "act")
	bank := otherSite(t)
	s.server.hold(s.name)
	mark := s.server.mark()
	s.tab.eval(fmt.Sprintf(`(async () => { for (let i = 0; i < 120; i++) {
		const f = document.createElement('iframe'); f.src = %q; document.body.append(f);
		if (i %% 12 > 0) await new Promise(done => setTimeout(done, i %% 12));
		f.remove() } })().then(() => 0)`, bank+"/frame"))
	if got := s.server.evaluate(s.name, "location.pathname"); got != "/first" {
		t.Errorf("the page answers %v", got)
	}
	if n := s.server.count(mark, kind("asleep")); n != 0 {
		t.Errorf("the tab fell asleep %d times", n)
	}
}

// frameOf is the id of a frame whose address begins so, in whichever process.
func (s *sharing) frameOf(url string) string {
	s.t.Helper()
	var tree struct {
		FrameTree struct {
			ChildFrames []struct {
				Frame struct{ ID, URL string }
			}
		}
	}
	s.must(s.tab.session, "Page.getFrameTree", nil, &tree)
	for _, child := range tree.FrameTree.ChildFrames {
		if strings.HasPrefix(child.Frame.URL, url) {
			return child.Frame.ID
		}
	}
	return s.target(func(info targetInfo) bool { return strings.HasPrefix(info.URL, url) }).ID
}

// What another site answers to a page's script element is nothing that the page could read.
func TestNoClientReadsWhatAPageLoadedAsAScript(t *testing.T) {
	t.Parallel()
	bank := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = fmt.Fprint(w, map[string]string{"/array": "[4711]", "/text": "balance 4711; 17"}[r.URL.Path])
	}))
	t.Cleanup(bank.Close)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/page" {
			http.Redirect(w, r, bank.URL+r.URL.Path, http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<title>Page</title><script>var standing = 4712</script>")
	}))
	t.Cleanup(site.Close)
	s := newSharing(t, "act", "act")
	s.tab.goTo(site.URL + "/page")
	s.server.hold(s.name)
	mark := s.server.mark()
	s.server.mustRaw(s.name, "Debugger.enable", object{})
	s.server.evaluate(s.name, "window.made = 4713; 1")
	for _, from := range []string{bank.URL, site.URL} {
		for _, path := range []string{"/array", "/text"} {
			s.tab.eval(fmt.Sprintf("new Promise(done => { const f = document.createElement('script'); f.onload = done; f.src = %q; document.head.append(f) }).then(() => 0)", from+path))
		}
	}
	s.server.mustRaw(s.name, "Runtime.evaluate", object{"expression": "1"}) // what was told before has come
	var read strings.Builder
	for _, got := range s.server.scripts(mark) {
		read.Write(s.server.raw(s.name, "Debugger.getScriptSource", object{"scriptId": got}).body)
		read.Write(s.server.raw(s.name, "Debugger.searchInContent", object{"scriptId": got, "query": "4711"}).body)
	}
	if got := read.String(); strings.Contains(got, "4711") || !strings.Contains(got, "4712") || !strings.Contains(got, "4713") {
		t.Errorf("the sources are %s, want those that stand in the page, or a client made", got)
	}
}

// scripts are the ids of all that was told of since a mark.
func (s *server) scripts(mark int) []string {
	s.stateMu.Lock()
	defer s.stateMu.Unlock()
	var ids []string
	for _, got := range s.told[mark:] {
		var script struct{ ScriptID string }
		if strings.HasPrefix(got.Method, "Debugger.script") && json.Unmarshal(got.body, &script) == nil {
			ids = append(ids, script.ScriptID)
		}
	}
	return ids
}
