package extension_test

import (
	"fmt"
	"strings"
	"testing"
)

// Chrome shows a window at once that a page opened with a person's touch, which script of clients can have.
func TestAWindowThatAnAgentOpensTakesNeitherViewNorKeyboard(t *testing.T) {
	t.Parallel()
	const active = "chrome.tabs.query({active: true}).then(all => all.map(tab => new URL(tab.url).pathname).sort().join())"
	s := newSharing(t, "act", "act")
	mine := s.open(s.site.URL + "/mine")
	s.must("", "Target.activateTarget", object{"targetId": mine.target}, nil)
	s.popup.until(active + ".then(all => all === '/mine')")
	s.server.hold(s.name)
	opens := func(script string) {
		s.server.mustRaw(s.name, "Runtime.evaluate", object{"expression": script, "userGesture": true})
	}
	opens("void open('/opened')")
	s.server.tabsUntil("the tab", func(tabs []sharedTab) bool { return len(tabs) == 2 && strings.HasSuffix(tabs[1].URL, "/opened") })
	s.popup.until(active + ".then(all => all === '/mine')")
	opens("void open('/popped', '', 'popup,width=300,height=200')")
	s.server.tabsUntil("the window", func(tabs []sharedTab) bool { return len(tabs) == 3 && strings.HasSuffix(tabs[2].URL, "/popped") })
	s.popup.until(active + ".then(all => all === '/mine,/popped')")
	mine.eval("void open('/own')")
	s.popup.until(active + ".then(all => all === '/own,/popped')") // what the person opens is theirs to look at
}

// A window that the person opens is theirs, whatever was asked of the tab meanwhile.
func TestAWindowThatThePersonOpensIsNotTaken(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"read", "act"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			s := newSharing(t, level, level)
			s.server.hold(s.name)
			mark := s.server.mark()
			opened := 0
			for method, params := range map[string]object{
				"Runtime.runIfWaitingForDebugger": nil,
				"Page.reload":                     nil,
				"Input.dispatchMouseEvent":        {"type": "mouseWheel", "x": 1, "y": 1, "deltaX": 0, "deltaY": 1},
			} {
				s.server.raw(s.name, method, params)
				s.tab.until("document.readyState === 'complete'")
				s.during([]any{linger(3000)}, func() {
					s.tab.eval("document.querySelector('a[target]').click()")
					opened++
					s.popup.until(fmt.Sprintf("chrome.tabs.query({}).then(all => all.filter(tab => tab.url.endsWith('/window')).length === %d)", opened))
				})
			}
			taken := func(got frame) bool { return got.T == "tabs" && len(got.Tabs) > 1 }
			if n := s.server.count(mark, taken); n != 0 {
				t.Errorf("windows of the person's are shared: %+v", s.server.tabs)
			}
		})
	}
}

// A person can have worked in a window that an agent made a page open.
func TestAWindowWhosePageMindsIsLeftToThePerson(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	for i, path := range []string{"/kept", "/shut"} {
		s.server.mustRaw(s.name, "Runtime.evaluate", object{"expression": fmt.Sprintf("void open(%q)", path), "userGesture": true})
		s.server.tabsUntil("the window", func(tabs []sharedTab) bool { return len(tabs) == i+2 && strings.HasSuffix(tabs[i+1].URL, path) })
	}
	kept := s.attach(s.target(func(info targetInfo) bool { return strings.HasSuffix(info.URL, "/kept") }).ID)
	kept.eval("onbeforeunload = event => event.preventDefault(); 1")
	if done := s.server.ask(object{"t": "end", "session": "s_1"}, nil); done.T != "done" {
		t.Errorf("end is answered by %s, want done", done.T)
	}
	s.popup.until("chrome.tabs.query({}).then(all => !all.some(tab => tab.url.endsWith('/shut')))")
	s.server.tabsUntil("the shared tab alone", func(tabs []sharedTab) bool { return len(tabs) == 1 })
	s.popup.until(`chrome.tabs.query({}).then(all => all.find(tab => tab.url.endsWith('/kept')).id).then(async tabId => {
		await chrome.debugger.attach({tabId}, '1.3');
		await chrome.debugger.detach({tabId});
		return true;
	})`) // it is let go
	if title := kept.eval("document.title"); title != "Page /kept" {
		t.Errorf("the page that minds is %v", title)
	}
}
