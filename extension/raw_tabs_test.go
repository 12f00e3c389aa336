package extension_test

import (
	"slices"
	"strings"
	"testing"
)

func (s *server) make() string {
	s.t.Helper()
	made := s.ask(object{"t": "new", "session": "s_1"}, nil)
	if made.T != "made" || made.Tab == "" {
		s.t.Fatalf("new is answered %+v", made.header)
	}
	return made.Tab
}

func TestANewTabIsListedWithItsTargetBeforeItIsMade(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	mark := s.server.mark()
	name := s.server.make()
	s.server.stateMu.Lock()
	told := slices.Clone(s.server.told[mark:])
	s.server.stateMu.Unlock()
	at := slices.IndexFunc(told, kind("made"))
	isListed := slices.ContainsFunc(told[:at], func(got frame) bool {
		return slices.ContainsFunc(got.Tabs, func(tab sharedTab) bool {
			return tab.ID == name && tab.Target != "" && tab.Made && tab.Session == "s_1" && tab.Level == "act"
		})
	})
	if !isListed {
		t.Errorf("the new tab was not listed before: %+v", told[:at])
	}
	s.server.hold(name)
	if got := s.server.evaluate(name, "location.href"); got != "about:blank" {
		t.Errorf("the new tab is at %v", got)
	}
	s.popup.until("chrome.tabs.query({active: true}).then(all => all.every(tab => tab.url !== 'about:blank'))")
}

func TestOnlyTabsThatTheSessionMadeAreShut(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	shut := func(session, tab string) frame {
		return s.server.ask(object{"t": "shut", "session": session, "tab": tab}, nil)
	}
	if got := shut("s_1", s.name); got.Code != "forbidden" {
		t.Errorf("shutting the person's tab is answered %+v, want forbidden", got.header)
	}
	s.server.hold(s.name)
	if got := shut("s_1", s.name); got.Code != "forbidden" {
		t.Errorf("shutting the person's tab that is held is answered %+v, want forbidden", got.header)
	}
	for sentence, script := range map[string]string{
		"an ordinary page":                 "1",
		"a page that hangs":                "void setTimeout(() => { for (;;); })",
		"a page that asks before it goes":  "onbeforeunload = () => 'no'; document.body.innerHTML = '<input>'; 1",
		"a page that asks, and then hangs": "onbeforeunload = () => { for (;;); }; 1",
		"a page with a dialog":             "void setTimeout(() => alert('stay'))",
	} {
		for _, isHeld := range []bool{true, false} {
			name := s.server.make()
			s.server.hold(name)
			s.server.mustRaw(name, "Page.navigate", object{"url": s.site.URL + "/shut"})
			s.server.mustRaw(name, "Runtime.evaluate", object{"expression": script, "userGesture": true})
			if !isHeld {
				s.server.say(object{"t": "drop", "session": "s_1", "tab": name})
			}
			if got := shut("s_2", name); got.Code != "forbidden" {
				t.Errorf("%s: shutting another session's tab is answered %+v, want forbidden", sentence, got.header)
			}
			if got := shut("s_1", name); got.T != "done" {
				t.Errorf("%s, held %v: shut is answered %+v, want done", sentence, isHeld, got.header)
			}
			s.popup.until("chrome.tabs.query({}).then(all => all.length === 3)") // the first, the shared one, the popup
			if got := shut("s_1", name); got.Code != "tab_closed" {
				t.Errorf("%s: shutting a tab twice is answered %+v, want tab_closed", sentence, got.header)
			}
		}
	}
}

func TestAWindowThatAClientMadeAPageOpenIsTheSessions(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	s.server.mustRaw(s.name, "Runtime.evaluate", object{"expression": "void open('/window')", "userGesture": true})
	tabs := s.server.tabsUntil("an adopted window", func(tabs []sharedTab) bool {
		return len(tabs) == 2 && tabs[1].Target != "" && strings.HasSuffix(tabs[1].URL, "/window")
	})
	if got := tabs[1]; got.Opener != s.name || !got.Made || got.Session != "s_1" || got.Level != "act" {
		t.Errorf("the window is %+v, want one that %s opened for s_1", got, s.name)
	}
	s.server.hold(tabs[1].ID)
	if got := s.server.evaluate(tabs[1].ID, "document.title"); got != "Page /window" {
		t.Errorf("the window's title is %v", got)
	}
	for range 4 { // held before its page is there
		s.server.mustRaw(s.name, "Runtime.evaluate", object{"expression": "void open('/window')", "userGesture": true})
		known := len(tabs)
		tabs = s.server.tabsUntil("one more window", func(now []sharedTab) bool { return len(now) == known+1 })
		s.server.hold(tabs[known].ID)
		eventually(t, "the window's page", func() bool { return s.server.evaluate(tabs[known].ID, "document.title") == "Page /window" })
	}
	own := s.open(s.site.URL + "/own")
	own.eval("void open('/window')")
	s.popup.until("chrome.tabs.query({}).then(all => all.length === 10)")
	s.server.evaluate(s.name, "1")
	s.server.tabsUntil("no more tabs", func(tabs []sharedTab) bool { return len(tabs) == 6 })
}
