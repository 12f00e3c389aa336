package extension_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// heldAnew waits until a tab that fell asleep after a mark is attached anew.
func (s *server) heldAnew(mark int) {
	s.t.Helper()
	s.since(mark, "asleep", kind("asleep"))
	s.since(mark, "held anew", func(got frame) bool { return got.T == "held" && got.ID == 0 && got.Target != "" })
}

// Where Chrome takes the attachment away and the tab lives on, its clients sleep and wake.
func TestAHeldTabIsAttachedAnew(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		why  string
		away func(*sharing)
		back func(*sharing)
	}{
		"from a page of nobody": {
			"not an ordinary web page",
			func(s *sharing) { s.tab.goTo("chrome://version/") },
			func(s *sharing) { s.tab.goTo(s.site.URL + "/back") },
		},
		"after a discard": {
			"",
			func(s *sharing) { s.popup.eval(fmt.Sprintf("void chrome.tabs.discard(%d)", s.tabID())) },
			func(*sharing) {},
		},
	}
	for sentence, c := range cases {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := newSharing(t, "act", "act")
			s.server.hold(s.name)
			s.server.mustRaw(s.name, "Page.addScriptToEvaluateOnNewDocument", object{"source": "window.owned = true"})
			mark := s.server.mark()
			c.away(s)
			s.server.since(mark, "asleep", kind("asleep"))
			if c.why != "" {
				if got := s.server.raw(s.name, "Runtime.evaluate", object{"expression": "1"}); got.Code != "tab_suspended" || !strings.Contains(got.Message, c.why) {
					t.Errorf("a command meanwhile is answered %+v, want tab_suspended: %s", got.header, c.why)
				}
			}
			c.back(s)
			s.server.heldAnew(mark)
			eventually(t, "a page", func() bool {
				got := s.server.raw(s.name, "Runtime.evaluate", object{"expression": "document.readyState"})
				return got.T == "reply" && strings.Contains(string(got.body), "complete")
			})
			if got := s.server.evaluate(s.name, "window.owned === undefined"); got != true {
				t.Errorf("what clients did before is still there")
			}
		})
	}
}

func TestANewLinkHoldsAnew(t *testing.T) {
	t.Parallel()
	for sentence, end := range map[string]func(*sharing){
		"after eight hours": func(s *sharing) { s.server.drop(4003) },
		"after a loss":      func(s *sharing) { s.server.drop(websocket.StatusGoingAway) },
		"after the worker stopped": func(s *sharing) {
			s.must("", "Target.closeTarget", object{"targetId": s.worker().ID}, nil)
			s.open("about:blank")
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := newSharing(t, "act", "act")
			s.server.hold(s.name)
			s.server.mustRaw(s.name, "Page.addScriptToEvaluateOnNewDocument", object{"source": "window.owned = true"})
			s.server.say(object{"t": "cdp", "id": 7000, "session": "s_1", "tab": s.name, "method": "Runtime.evaluate"}, object{"expression": "new Promise(() => {})", "awaitPromise": true})
			s.server.until(s.name)
			begun := time.Now()
			end(s)
			s.server.linksUntil(2)
			t.Logf("linked anew after %s", time.Since(begun))
			if got := s.server.raw(s.name, "Page.reload", nil); got.Code != "bad_request" {
				t.Errorf("a command over the new link is answered %+v, want bad_request: nothing is held", got.header)
			}
			s.server.hold(s.name)
			s.server.mustRaw(s.name, "Page.navigate", object{"url": s.site.URL + "/anew"})
			s.tab.until("location.pathname === '/anew' && document.readyState === 'complete'")
			if got := s.tab.eval("window.owned === undefined"); got != true {
				t.Errorf("what clients did before is still there")
			}
			if n := s.server.count(0, func(got frame) bool { return got.ID == 7000 }); n > 1 {
				t.Errorf("the command that was under way is answered %d times", n)
			}
		})
	}
}

func TestACrashedPageAnswersClientsAtOnceAndOpensAnew(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	waiting := make(chan frame, 1)
	go func() {
		waiting <- s.server.raw(s.name, "Runtime.evaluate", object{"expression": "new Promise(() => {})", "awaitPromise": true})
	}()
	s.server.until(s.name)
	mark := s.server.mark()
	s.crash()
	if got := <-waiting; got.Error == nil || !strings.Contains(got.Error.Message, "crashed") {
		t.Errorf("the command under way is answered %+v, want that the page crashed", got.header)
	}
	s.server.since(mark, "the crash", event("Inspector.targetCrashed"))
	if got := s.server.raw(s.name, "Runtime.evaluate", object{"expression": "1"}); got.Error == nil || !strings.Contains(got.Error.Message, "crashed") {
		t.Errorf("a command is answered %+v, want that the page crashed", got.header)
	}
	s.server.mustRaw(s.name, "Page.navigate", object{"url": s.site.URL + "/anew"})
	eventually(t, "the new page", func() bool { return s.server.evaluate(s.name, "document.title") == "Page /anew" })
	if got := s.server.evaluate(s.name, "history.length"); got != float64(2) {
		t.Errorf("the tab's history has %v entries, want the page that crashed and the new one", got)
	}
	answer := s.server.must(s.name, object{"run": "@snapshot", "args": object{"budget": 4000}})
	if !strings.Contains(fmt.Sprintf("%s", answer.Steps), "Page /anew") {
		t.Errorf("a program reads %s", answer.Steps)
	}
	s.crash()
	s.server.mustRaw(s.name, "Page.reload", nil)
	eventually(t, "the page again", func() bool { return s.server.evaluate(s.name, "document.title") == "Page /anew" })
}

func TestAHeldTabGoesThroughHistoryAndStrangeFrames(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	for _, path := range []string{"/one", "/two"} {
		s.server.mustRaw(s.name, "Page.navigate", object{"url": s.site.URL + path})
		eventually(t, path, func() bool { return s.server.evaluate(s.name, "document.title") == "Page "+path })
	}
	mark := s.server.mark()
	s.server.evaluate(s.name, "history.back()")
	s.server.since(mark, "the page before", func(got frame) bool {
		return got.Method == "Page.frameNavigated" && strings.Contains(string(got.body), "/one")
	})
	eventually(t, "/one", func() bool { return s.server.evaluate(s.name, "document.title") == "Page /one" })
	for _, src := range []string{"strange:thing", "mailto:a@b", "chrome://version"} { // Chrome may detach from the whole tab
		mark := s.server.mark()
		got := s.server.raw(s.name, "Runtime.evaluate", object{"expression": fmt.Sprintf("{ const made = document.createElement('iframe'); made.src = %q; document.body.append(made) }", src)})
		eventually(t, "an answer", func() bool {
			got := s.server.raw(s.name, "Runtime.evaluate", object{"expression": "frames.length"})
			return got.T == "reply" && got.Error == nil
		})
		t.Logf("%s: %s %s, asleep %d times", src, got.T, got.Message, s.server.count(mark, kind("asleep")))
	}
	s.server.must(s.name, object{"run": "@state"})
}

// A password manager's frame in a page keeps all other extensions out of it.
func TestAnotherExtensionsFrameSuspendsTheTabForItsStay(t *testing.T) {
	t.Parallel()
	folder, id := otherExtension(t)
	w := newWorldWith(t, "act", folder)
	s := sharingOf(w, "act")
	s.server.hold(s.name)
	mark := s.server.mark()
	s.tab.unasked(fmt.Sprintf("window.f = document.createElement('iframe'); f.src = 'chrome-extension://%s/frame.html'; document.body.append(f); 0", id))
	s.server.since(mark, "asleep", kind("asleep"))
	if got := s.server.raw(s.name, "Runtime.evaluate", object{"expression": "1"}); got.Code != "tab_suspended" {
		t.Errorf("a command meanwhile is answered %+v, want tab_suspended", got.header)
	}
	s.tab.unasked("f.remove(); 0")
	s.server.heldAnew(mark)
	s.server.must(s.name, object{"run": "@state"})
	if got := s.server.evaluate(s.name, "1 + 1"); got != float64(2) {
		t.Errorf("1 + 1 is %v", got)
	}
}

// otherExtension writes an extension that has nothing but a page for frames, and answers its folder and id.
func otherExtension(t *testing.T) (folder, id string) {
	t.Helper()
	folder = t.TempDir()
	for name, content := range map[string]string{
		"manifest.json": `{"manifest_version":3,"name":"Other","version":"1","web_accessible_resources":[{"resources":["frame.html"],"matches":["<all_urls>"]}]}`,
		"frame.html":    "<!doctype html>Other",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	digest := sha256.Sum256([]byte(folder)) // Chrome's way to name an unpacked extension without a key
	letters := make([]byte, 0, 32)
	for _, part := range digest[:16] {
		letters = append(letters, 'a'+part>>4, 'a'+part&15)
	}
	return folder, string(letters)
}

// Chrome's own bar has a Cancel. No test can press it, so the worker is told what Chrome tells it then.
// It is one for all tabs, also for those that nobody uses just then.
func TestThePersonsCancelIsNeverUndone(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.make()
	s.server.hold(s.name)
	waiting := make(chan frame, 1)
	go func() {
		waiting <- s.server.raw(s.name, "Runtime.evaluate", object{"expression": "new Promise(() => {})", "awaitPromise": true})
	}()
	s.server.until(s.name)
	worker := s.attach(s.worker().ID)
	worker.eval(fmt.Sprintf("chrome.debugger.detach({tabId: %d}).then(() => chrome.debugger.onDetach.dispatch({tabId: %[1]d}, 'canceled_by_user'))", s.tabID()))
	if got := <-waiting; got.T != "error" {
		t.Errorf("the command under way is answered %+v, want an error", got.header)
	}
	s.server.tabsUntil("no tab", noTab)
	s.popup.until(noGrants)
	if got := s.server.ask(object{"t": "hold", "session": "s_1", "tab": s.name}, nil); got.Code != "tab_closed" {
		t.Errorf("a later hold is answered %+v, want tab_closed", got.header)
	}
	s.free()
}

// Chrome stops a worker that is idle for half a minute; this one has its link to keep.
func TestAnIdleHoldLasts(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	s.server.mustRaw(s.name, "Page.addScriptToEvaluateOnNewDocument", object{"source": "window.kept = true"})
	s.popup.must(s.popup.session, "Page.navigate", object{"url": "about:blank"}, nil) // an open popup keeps the worker, too
	idle := time.NewTimer(40 * time.Second)
	defer idle.Stop()
	<-idle.C
	s.server.mustRaw(s.name, "Page.navigate", object{"url": s.site.URL + "/later"})
	eventually(t, "the page", func() bool { return s.server.evaluate(s.name, "document.title") == "Page /later" })
	if got := s.server.evaluate(s.name, "window.kept"); got != true {
		t.Error("what the client did before is gone")
	}
	s.server.stateMu.Lock()
	defer s.server.stateMu.Unlock()
	if s.server.links != 1 {
		t.Errorf("%d links, want the one", s.server.links)
	}
}
