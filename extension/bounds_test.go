package extension_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// stopWorker ends the worker as Chrome does, and waits until an event has started the next one.
func (s *sharing) stopWorker() {
	s.t.Helper()
	s.server.stateMu.Lock()
	links := s.server.links
	s.server.stateMu.Unlock()
	s.must("", "Target.closeTarget", object{"targetId": s.worker().ID}, nil)
	s.open("about:blank")
	s.server.linksUntil(links + 1)
}

// say sends a frame whose answer nobody waits for.
func (s *server) say(head object, body ...any) {
	s.t.Helper()
	s.stateMu.Lock()
	conn := s.conn
	s.stateMu.Unlock()
	message, err := json.Marshal(head)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, one := range body {
		text, err := json.Marshal(one)
		if err != nil {
			s.t.Fatal(err)
		}
		message = append(append(message, '\n'), text...)
	}
	if err := conn.Write(s.t.Context(), websocket.MessageText, message); err != nil {
		s.t.Fatalf("send %s: %v", head["t"], err)
	}
}

// free waits until the extension holds no debugger on the tab.
func (s *sharing) free() {
	s.t.Helper()
	s.popup.until(`(async () => {
		const tabId = Number(new URLSearchParams(location.search).get('tab'));
		await chrome.debugger.attach({tabId}, '1.3');
		await chrome.debugger.detach({tabId});
		return true;
	})()`)
}

const (
	noGrants  = "chrome.storage.session.get('grants').then(({grants = []}) => grants.length === 0)"
	connected = "document.querySelector('#status').textContent === 'Connected'"
	refused   = "document.querySelector('#status').textContent === 'Not connected'"
)

func TestAServerThatSaysTooMuchIsHeardNoMoreAndUndoesNothing(t *testing.T) {
	t.Parallel()
	for sentence, head := range map[string]object{
		"a session of 11 MiB":   {"t": "program", "id": 1, "session": strings.Repeat("s", 11<<20)},
		"a level with a burden": {"t": "level", "level": "read", "x": strings.Repeat("x", 64<<10)},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := newSharing(t, "act", "act")
			s.server.must(s.name, object{"run": "@state"})
			s.server.say(head)
			s.popup.until(refused)
			s.popup.until("document.querySelector('#trouble-text').textContent.includes('more than the protocol permits')")
			s.popup.eval("document.querySelector('#unshare').click()")
			s.popup.until(noGrants)
			s.free()
			s.must("", "Target.closeTarget", object{"targetId": s.worker().ID}, nil)
			s.open("about:blank")
			s.popup.until("document.querySelector('#share')?.hidden === false")
			s.popup.until(noGrants)
			s.popup.eval("document.querySelector('#again').click()")
			s.popup.until(connected)
			s.server.tabsUntil("no tab", noTab)
		})
	}
}

func TestANameOfASessionOutsideTheProtocolIsRefused(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	for _, session := range []string{"", "a b", strings.Repeat("s", 65)} {
		if answer := s.server.run(session, s.name, object{"run": "@state"}); answer.Error == nil || answer.Error.Code != "bad_request" {
			t.Errorf("session %.10q is answered %+v, want bad_request", session, answer.Error)
		}
	}
	s.server.must(s.name, object{"run": "@state"})
}

func TestGrantsThatCannotBeStoredEnd(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.must(s.name, object{"run": "@state"})
	s.popup.eval(`chrome.storage.session.getBytesInUse().then(used => chrome.storage.session.set({other: 'x'.repeat(chrome.storage.session.QUOTA_BYTES - used - 16)}))`)
	s.tab.eval("document.title = 'A title that is longer than what the storage has room for'")
	s.popup.until("document.querySelector('#problem').textContent.includes('nothing is shared any more')")
	s.server.tabsUntil("no tab", noTab)
	s.popup.until(noGrants)
	s.free()
	s.popup.eval("chrome.storage.session.remove('other')")
	s.stopWorker()
	s.server.tabsUntil("no tab after a stop", noTab)
	share(s.popup, "read")
	s.popup.until("document.querySelector('#problem').hidden")
}

func TestAServersNamesDoNotFillThePopup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "act")
	w.server.name = strings.Repeat("N\u202e ", 5000)
	popup := w.popup(w.open(w.site.URL + "/first"))
	w.pair(popup)
	share(popup, "act")
	if name := popup.eval("document.querySelector('#project-name').textContent"); name != strings.TrimSpace(strings.Repeat("N ", 50)) {
		t.Errorf("the project is called %q, want the beginning of its name", name)
	}
	popup.eval("document.querySelector('[data-stop]').click()")
	w.server.tabsUntil("no tab", noTab)
	popup.eval("document.querySelector('#disconnect').click()")
	w.server.forgotten()
}

// What a page calls itself is told in part, on the link as in the list that opens one.
func TestAPageWithALongAddressKeepsTheLink(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.tab.eval("history.replaceState(null, '', '/long?' + 'x'.repeat(1_500_000)); document.title = 'x' + '😀'.repeat(100_000)")
	isCut := func(tabs []sharedTab) bool {
		return len(tabs) == 1 && strings.HasPrefix(tabs[0].URL, s.site.URL+"/long?x") && len(tabs[0].URL) == 4096 &&
			tabs[0].Title == "x"+strings.Repeat("😀", 149)
	}
	s.server.tabsUntil("a tab whose address is cut", isCut)
	s.server.must(s.name, object{"run": "@state"})
	s.popup.until(connected)
	s.stopWorker()
	s.server.tabsUntil("the same in the proof", isCut)
}

func TestAProgramOfAnEarlierLinkLeavesTheNextOneAlone(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.tab.eval("void setTimeout(() => { for (;;); })") // attaching waits for such a page in vain
	s.server.say(object{"t": "program", "id": 1, "session": "s_1"}, object{"tab": s.name, "deadline_ms": 15000, "steps": []any{object{"run": "@state"}}})
	s.server.tabsUntil("an owned tab", func(tabs []sharedTab) bool { return len(tabs) == 1 && tabs[0].Session == "s_1" })
	s.server.drop(websocket.StatusGoingAway)
	s.server.linksUntil(2)
	for _, session := range []string{"s_2", "s_1"} { // the first of them is program 1 of its link
		answer := s.server.run(session, "new", call("Page.navigate", object{"url": s.site.URL + "/made"}))
		if answer.Error != nil || len(answer.Steps) != 1 {
			t.Errorf("session %s is answered %+v and %s, want the one step", session, answer.Error, answer.Steps)
		}
	}
}

func TestACastCancelledAtOnceDoesNotBlindTheNext(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "read", "read")
	options := object{"tab": s.name, "max_width": 320, "max_height": 240, "quality": 50, "fps": 4}
	s.server.say(object{"t": "cast", "id": 900, "session": "s_1", "options": options})
	s.server.say(object{"t": "cancel", "id": 900})
	s.server.must(s.name, object{"run": "@state"})
	if picture := s.server.ask(object{"t": "cast", "session": "s_1", "options": options}, nil); picture.T != "picture" {
		t.Errorf("cast answers %s, want a picture", picture.T)
	}
}

func TestACrashedPageIsSaidToHaveCrashedAndOpensAnew(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	wantCrash := func(when string, answer result) {
		t.Helper()
		if answer.Error == nil || answer.Error.Code != "tab_closed" || !strings.Contains(answer.Error.Message, "crashed") {
			t.Errorf("%s is answered %+v, want tab_closed and that the page crashed", when, answer.Error)
		}
	}
	waiting := make(chan result, 1)
	go func() {
		defer close(waiting)
		waiting <- s.server.run("s_1", s.name,
			call("Page.navigate", object{"url": s.site.URL + "/begun"}),
			object{"await": object{"run": "@has_text", "args": object{"text": "never there"}, "max_ms": 14000}})
	}()
	s.tab.until("location.pathname === '/begun'")
	s.crash()
	wantCrash("the program that was running", <-waiting)
	wantCrash("the next one", s.server.run("s_1", s.name, object{"run": "@state"}))
	open := call("Page.navigate", object{"url": s.site.URL + "/anew"})
	settle := object{"settle": object{"quiet_ms": 100, "max_ms": 3000}}
	answer := s.server.must(s.name, open, settle, object{"run": "@snapshot", "args": object{"budget": 4000}})
	if !strings.Contains(fmt.Sprintf("%s", answer.Steps), "Page /anew") {
		t.Errorf("the page opened anew reads %s", answer.Steps)
	}
	if got := s.tab.eval("history.length"); got != float64(3) {
		t.Errorf("the tab's history has %v entries, want the two pages before and the new one", got)
	}

	s.popup.eval("document.querySelector('#unshare').click()")
	s.free()
	s.crash()
	share(s.popup, "act")
	name := s.server.tabsUntil("the tab shared anew", func(tabs []sharedTab) bool { return len(tabs) == 1 && tabs[0].ID != s.name })[0].ID
	wantCrash("a program in a tab that had crashed before", s.server.run("s_1", name, object{"run": "@state"}))
	s.server.must(name, open, settle, object{"run": "@state"})
}

// crash takes the process of the shared tab's page away.
func (s *sharing) crash() {
	s.t.Helper()
	message := fmt.Sprintf(`{"id":1000000,"sessionId":%q,"method":"Page.crash"}`, s.tab.session) // Chrome never answers it
	if err := s.conn.Write(s.t.Context(), websocket.MessageText, []byte(message)); err != nil {
		s.t.Fatal(err)
	}
	s.popup.until("chrome.tabs.get(Number(new URLSearchParams(location.search).get('tab'))).then(tab => tab.status === 'unloaded')")
}
