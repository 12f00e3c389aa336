package extension_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// staying is a sharing of a tab that stays on its site, and another site, where every address holds a secret.
type staying struct {
	*sharing
	elsewhere *httptest.Server
}

const secret = "hush-hush"

func newStaying(t *testing.T, level string) *staying {
	t.Helper()
	w := newWorld(t, level)
	elsewhere := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(elsewhere.Close)
	return &staying{w.stayingAt(w.site.URL+"/first", level), elsewhere}
}

// stayingAt shares a tab with a page that stays on its site.
func (w *world) stayingAt(page, level string) *sharing {
	w.t.Helper()
	tab := w.open(page)
	popup := w.popup(tab)
	w.pair(popup)
	popup.eval("document.querySelector('#stays').click()")
	share(popup, level)
	name := w.server.tabsUntil("a tab", withLevel(level))[0].ID
	return &sharing{world: w, tab: tab, popup: popup, name: name}
}

// The address of a page elsewhere can be a secret of its own: a code, a name, what was searched for.
func TestATabThatStaysOnItsSiteTellsNoClientWhereItWent(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"read", "act"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			s := newStaying(t, level)
			s.server.hold(s.name)
			mark := s.server.mark()
			for sentence, way := range waysOut(level) {
				s.listen()
				address := s.elsewhere.URL + "/" + secret
				way = strings.NewReplacer("THERE", address, "LOCAL", strings.Replace(address, "127.0.0.1", "localhost", 1)).Replace(way)
				s.tab.eval("void setTimeout(() => {" + way + "}); 0")
				s.server.tabsUntil("a sleeping tab after "+sentence, func(tabs []sharedTab) bool { return tabs[0].Suspended != "" })
				s.ask(s.name)
				s.tab.goTo(s.site.URL + "/back")
				s.server.tabsUntil("a tab that is awake", func(tabs []sharedTab) bool { return tabs[0].Suspended == "" })
				eventually(t, "an attached tab", func() bool { return s.server.raw(s.name, "Page.enable", nil).T == "reply" })
			}
			history := string(s.server.mustRaw(s.name, "Page.getNavigationHistory", nil))
			if !strings.Contains(history, "/first") || strings.Contains(history, secret) {
				t.Errorf("the history is %s", history)
			}
			s.tellsNothing(mark)
		})
	}
}

// waysOut are scripts by which a page goes to THERE, or LOCAL, which is in another process.
func waysOut(level string) map[string]string {
	if level == "read" {
		return map[string]string{"a script": "location.href = 'THERE'", "a redirect": "location.href = '/redirected'"}
	}
	return map[string]string{
		"a link":                   "document.body.innerHTML = `<a href='THERE'>x</a>`; document.querySelector('a').click()",
		"a script":                 "location.href = 'THERE'",
		"a script that waits":      "void setTimeout(() => { location.href = 'THERE' })",
		"a refresh":                "document.head.insertAdjacentHTML('beforeend', `<meta http-equiv=refresh content='0;url=THERE'>`)",
		"a redirect":               "location.href = '/redirected'",
		"another process":          "location.href = 'LOCAL'",
		"a form":                   "document.body.innerHTML = `<form action='THERE'></form>`; document.forms[0].submit()",
		"a page that is not":       "location.href = 'http://nowhere.invalid/" + secret + "'",
		"something opened by name": "window.name = 'me'; open('THERE', 'me')",
	}
}

// listen has everything told that a client can ask for.
func (s *staying) listen() {
	s.t.Helper()
	for _, domain := range []string{"Page", "Network", "Runtime", "DOM", "Log", "Audits", "Accessibility"} {
		s.server.raw(s.name, domain+".enable", nil)
	}
	s.server.raw(s.name, "Page.setLifecycleEventsEnabled", object{"enabled": true})
}

// ask has a client ask for whatever a page can say.
func (s *staying) ask(tab string) {
	s.t.Helper()
	for method, params := range map[string]object{
		"Page.getNavigationHistory": {},
		"Page.getFrameTree":         {},
		"DOM.getDocument":           {},
		"Runtime.evaluate":          {"expression": "location.href + document.title"},
	} {
		s.server.raw(tab, method, params)
	}
}

// tellsNothing holds everything that was told since a mark against the secret.
func (s *staying) tellsNothing(mark int) {
	s.t.Helper()
	s.server.stateMu.Lock()
	told := slices.Clone(s.server.told[mark:])
	s.server.stateMu.Unlock()
	events := 0
	for _, got := range told {
		if got.T == "event" {
			events++
		}
		if whole := fmt.Sprintf("%+v %s", got.header, got.body); strings.Contains(whole, secret) {
			s.t.Errorf("%s %s tells where the tab went: %.600s", got.T, got.Method, whole)
		}
	}
	if events < 10 {
		s.t.Errorf("%d events were told, want all the others", events)
	}
}

// Between the coming of a page and the tab's sleep there is no moment in which the page can be asked.
func TestCommandsReachNoPageElsewhereWhileTheTabFallsAsleep(t *testing.T) {
	t.Parallel()
	s := newStaying(t, "act")
	for _, host := range []string{"127.0.0.1", "localhost"} {
		s.server.hold(s.name)
		mark := s.server.mark()
		address := strings.Replace(s.elsewhere.URL, "127.0.0.1", host, 1) + "/" + secret
		s.tab.eval(fmt.Sprintf("void setTimeout(() => { location.href = %q }, 50); 0", address))
		isThere := "location.href + document.documentElement.innerText + new Date().getTime()"
		for id := 100_000; s.server.count(mark, kind("asleep")) == 0; id++ {
			s.server.say(object{"t": "cdp", "id": id, "session": "s_1", "tab": s.name, "method": "Runtime.evaluate"}, object{"expression": isThere})
			s.server.say(object{"t": "cdp", "id": 1_000_000 + id, "session": "s_1", "tab": s.name, "method": "DOM.getDocument"}, object{"depth": -1})
			s.server.say(object{"t": "ping"})
			s.server.raw(s.name, "Page.getNavigationHistory", nil)
		}
		s.server.raw(s.name, "Page.getFrameTree", nil)
		s.server.stateMu.Lock()
		told := slices.Clone(s.server.told[mark:])
		s.server.stateMu.Unlock()
		for _, got := range told {
			if strings.Contains(string(got.body), secret) {
				t.Errorf("%s %s tells of the page elsewhere: %.300s", got.T, got.Method, got.body)
			}
		}
		s.tab.goTo(s.site.URL + "/back")
		s.server.tabsUntil("a tab that is awake", func(tabs []sharedTab) bool { return tabs[0].Suspended == "" })
		s.server.say(object{"t": "drop", "session": "s_1", "tab": s.name})
	}
}
