package extension_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// elsewhere is script that sends where it runs, but not from the site that is shared.
func (s *sharing) elsewhere(c *thief) string {
	port := s.site.URL[strings.LastIndex(s.site.URL, ":")+1:]
	return fmt.Sprintf("location.port === %q || ", port) + c.steal()
}

// goes makes the page go on by script, a moment from now.
func (s *sharing) goes(script string) {
	s.server.mustRaw(s.name, "Runtime.evaluate", object{"expression": "setTimeout(() => { " + script + " }, 200); 1"})
}

// bankWithWorker is another site, whose service worker answers for it.
func bankWithWorker(t *testing.T) string {
	t.Helper()
	bank := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/worker.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = fmt.Fprint(w, `oninstall = (e) => e.waitUntil(skipWaiting());
onactivate = (e) => e.waitUntil(clients.claim());
onfetch = (e) => { if (e.request.mode === 'navigate' && !e.request.url.endsWith('/install')) e.respondWith(new Response('<title>Bank</title><p>balance 4711', {headers: {'Content-Type': 'text/html'}})) }`)
		case "/install":
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprint(w, `<script>navigator.serviceWorker.register('/worker.js'); navigator.serviceWorker.ready.then(() => { window.isReady = true; parent.postMessage('ready', '*') })</script>`)
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprint(w, "<title>Bank</title><p>balance 4711")
		}
	}))
	t.Cleanup(bank.Close)
	return strings.Replace(bank.URL, "127.0.0.1", "localhost", 1)
}

// Documents that Chrome asks nobody about: what clients left and what they have under way fits none of them.
func TestNothingOfClientsRunsInADocumentThatComesUnasked(t *testing.T) {
	t.Parallel()
	for sentence, way := range map[string]func(*testing.T) (s *sharing, to, script string){
		"a service worker answers": func(t *testing.T) (*sharing, string, string) {
			t.Helper()
			s, bank := newStaying(t, "act").sharing, bankWithWorker(t)
			s.open(bank + "/install").until("window.isReady === true")
			s.server.hold(s.name)
			return s, bank + "/top", fmt.Sprintf("location.href = %q", bank+"/top")
		},
		"it was loaded ahead": func(t *testing.T) (*sharing, string, string) {
			t.Helper()
			s := newSharing(t, "act", "act")
			s.must("", "Target.activateTarget", object{"targetId": s.tab.target}, nil) // a hidden page loads nothing ahead
			to := s.server.http.URL + "/dashboard"
			s.server.hold(s.name)
			s.server.mustRaw(s.name, "Runtime.evaluate", object{"expression": fmt.Sprintf(`{ const r = document.createElement('script'); r.type = 'speculationrules'; r.text = JSON.stringify({prefetch: [{source: 'list', urls: [%q], eagerness: 'immediate'}]}); document.head.append(r) }; 1`, to)})
			return s, to, fmt.Sprintf("location.href = %q", to)
		},
		"it was kept for going back": func(t *testing.T) (*sharing, string, string) {
			t.Helper()
			w, bank := newWorld(t, "act"), otherSite(t)
			s := &sharing{world: w, tab: w.open(bank + "/top")}
			s.tab.goTo(w.site.URL + "/first")
			s.popup = w.popup(s.tab)
			w.pair(s.popup)
			s.popup.eval("document.querySelector('#stays').click()")
			share(s.popup, "act")
			s.name = w.server.tabsUntil("a tab", withLevel("act"))[0].ID
			s.server.hold(s.name)
			return s, bank + "/top", "history.back()"
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s, to, script := way(t)
			c := newThief(t)
			s.server.mustRaw(s.name, "Page.addScriptToEvaluateOnNewDocument", object{"source": c.steal()})
			s.goes(script)
			s.sneak(s.elsewhere(c))
			s.gone(to, c)
			if c.has("AT " + to) {
				t.Errorf("script of clients ran there: %q", c.loot)
			}
		})
	}
}

func TestAFrameThatNobodyKnowsThePlaceOfIsNotForClients(t *testing.T) {
	t.Parallel()
	s, c, bank := newStaying(t, "act"), newThief(t), bankWithWorker(t)
	s.server.hold(s.name)
	frame := func(src string) {
		s.tab.eval(fmt.Sprintf("{ const f = document.createElement('iframe'); f.src = %q; f.onload = () => { window.framed = true }; document.body.append(f) }; 0", src))
	}
	s.tab.eval("onmessage = (e) => { window.got = e.data }; 0")
	frame(bank + "/install")
	s.tab.until("window.got === 'ready'")
	s.server.mustRaw(s.name, "Target.setAutoAttach", object{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true})
	s.tab.eval("delete window.framed")
	mark := s.server.mark()
	frame(bank + "/top")
	s.tab.until("window.framed === true") // it is not left standing either
	s.server.until(s.name)
	if n := s.server.count(mark, event("Target.attachedToTarget")); n != 0 {
		t.Errorf("clients are told of %d frames of another site", n)
	}
	if c.has("4711") {
		t.Errorf("a frame of another site was read: %q", c.loot)
	}
}

func TestDocumentsWaitUntilWhatClientsLeftIsGone(t *testing.T) {
	t.Parallel()
	s, c := newSharing(t, "act", "act"), newThief(t)
	to := "file:///etc/hostname"
	s.server.hold(s.name)
	s.server.mustRaw(s.name, "Page.addScriptToEvaluateOnNewDocument", object{"source": c.steal()})
	s.server.say(object{"t": "program", "id": 9000, "session": "s_1"}, object{"tab": s.name, "deadline_ms": 30_000, "steps": []any{linger(25_000)}})
	s.tab.until("document.readyState === 'complete'")
	s.server.until(s.name)
	s.server.say(object{"t": "drop", "session": "s_1", "tab": s.name})
	s.heavyPrograms(50_000, 48)
	_, _ = s.call(s.tab.session, "Page.navigate", object{"url": to})
	s.gone(to, c)
	if c.has("AT " + to) {
		t.Errorf("script of clients ran there: %q", c.loot)
	}
}

// heavyPrograms are programs that cost the worker time and do nothing.
func (s *sharing) heavyPrograms(id, count int) {
	s.server.stateMu.Lock()
	conn := s.server.conn
	s.server.stateMu.Unlock()
	body := "{\"tab\":\"t99\",\"x\":[" + strings.Repeat("{},", 600_000) + "0]}"
	for i := range count {
		head := mustJSON(s.t, object{"t": "program", "id": id + i, "session": "s_9"})
		_ = conn.Write(s.t.Context(), 1, []byte(string(head)+"\n"+body))
	}
}

// What clients add acts on their own pages as in any browser, and the page script's world is nobody's.
func TestScriptsForNewDocumentsActWhereTheyMay(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	s.server.mustRaw(s.name, "Page.addScriptToEvaluateOnNewDocument", object{"source": "var first = 1; function second() { return first + 1 }"})
	s.server.mustRaw(s.name, "Page.addScriptToEvaluateOnNewDocument", object{"source": "globalThis.third = 3", "worldName": "aside"})
	s.server.mustRaw(s.name, "Page.addScriptToEvaluateOnNewDocument", object{"source": "} document.title = 'out'; {"})
	s.server.mustRaw(s.name, "Page.navigate", object{"url": s.site.URL + "/next"})
	eventually(t, "the page", func() bool {
		return s.server.evaluate(s.name, "location.pathname + document.readyState") == "/nextcomplete"
	})
	if got := s.server.evaluate(s.name, "[window.first, second(), window.third, document.title].join()"); got != "1,2,,Page /next" {
		t.Errorf("scripts made %v of the page", got)
	}
	s.server.must(s.name, object{"run": "@state"}) // the page script is there
	s.server.mustRaw(s.name, "Runtime.enable", nil)
	for id := range 50 {
		got := s.server.raw(s.name, "Runtime.evaluate", object{"expression": "globalThis.third ?? typeof window.second", "contextId": id, "returnByValue": true})
		if got.Error == nil && !strings.Contains(string(got.body), "3") && !strings.Contains(string(got.body), "function") {
			t.Errorf("context %d is neither the page's nor a client's: %s", id, got.body)
		}
	}
}

// Guards say where they may run by what was so when they were made.
func TestScriptsForNewDocumentsAreMadeAnewWhenAnotherServerIsPaired(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	s.server.mustRaw(s.name, "Page.addScriptToEvaluateOnNewDocument", object{"source": "window.owned = true"})
	other, mark := startServer(t, "act"), s.server.mark()
	s.popup.ask(object{"do": "connect", "code": other.code()})
	s.server.heldAnew(mark)
	s.tab.goTo(s.site.URL + "/next")
	if got := s.server.evaluate(s.name, "window.owned === undefined"); got != true {
		t.Error("a script whose guard is out of date is still there")
	}
}
