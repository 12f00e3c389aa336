package extension_test

import (
	"encoding/json"
	"testing"

	"github.com/coder/websocket"
)

// child is what a Target.attachedToTarget event tells.
type child struct {
	Session string     `json:"sessionId"`
	Info    targetInfo `json:"targetInfo"`
	Waiting bool       `json:"waitingForDebugger"`
}

// children are the kinds of the children that were told of since a mark, by their sessions.
func (s *server) childSince(mark int, kind string) child {
	s.t.Helper()
	var found child
	s.since(mark, "a child of type "+kind, func(got frame) bool {
		if got.Method != "Target.attachedToTarget" || json.Unmarshal(got.body, &found) != nil {
			return false
		}
		return found.Info.Type == kind
	})
	return found
}

// isAttached fits the events that tell of one child.
func isAttached(session string) func(frame) bool {
	return func(got frame) bool {
		var told child
		return got.Method == "Target.attachedToTarget" && json.Unmarshal(got.body, &told) == nil && told.Session == session
	}
}

func (s *server) count(mark int, fits func(frame) bool) int {
	s.stateMu.Lock()
	defer s.stateMu.Unlock()
	count := 0
	for _, got := range s.told[mark:] {
		if fits(got) {
			count++
		}
	}
	return count
}

// ofChild sends a command to a child's target session.
func (s *server) ofChild(tab, child, method string, params any) frame {
	s.t.Helper()
	return s.ask(object{"t": "cdp", "session": "s_1", "tab": tab, "child": child, "method": method}, params)
}

func (s *sharing) family() {
	s.t.Helper()
	s.tab.goTo(s.site.URL + "/family")
	s.tab.until("window.heard === 'running'")
}

// seesFrames tells whether a program still sees the page and its frames.
func (s *sharing) seesFrames(want int) {
	s.t.Helper()
	answer := s.server.must(s.name, object{"run": "@snapshot", "args": object{"budget": 4000}, "each_frame": true})
	var frames []any
	if err := json.Unmarshal(answer.Steps[0], &frames); err != nil || len(frames) != want {
		s.t.Errorf("a program sees %d frames (%v), want %d: %s", len(frames), err, want, answer.Steps[0])
	}
}

func TestClientsAreToldOfTheChildrenThatAreThere(t *testing.T) {
	t.Parallel()
	for sentence, before := range map[string]func(*sharing){
		"in a tab that nobody used": func(*sharing) {},
		"in a tab that a program uses": func(s *sharing) {
			s.server.must(s.name, object{"run": "@snapshot", "args": object{"budget": 4000}, "each_frame": true})
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := newSharing(t, "act", "act")
			s.family()
			before(s)
			mark := s.server.mark()
			s.server.hold(s.name)
			worker := s.server.childSince(mark, "worker")
			inner := s.server.childSince(mark, "iframe")
			if worker.Waiting || inner.Waiting {
				t.Errorf("children wait though nobody asked: %+v %+v", worker, inner)
			}
			for _, session := range []string{worker.Session, inner.Session} {
				got := s.server.ofChild(s.name, session, "Runtime.evaluate", object{"expression": "location.pathname"})
				if got.T != "reply" || got.Error != nil {
					t.Errorf("a command to a child is answered %+v %s", got.header, got.body)
				}
			}
			if got := s.server.ofChild(s.name, "ABC", "Runtime.evaluate", object{"expression": "1"}); got.Error == nil {
				t.Errorf("a command to no child is answered %+v", got.header)
			}
			s.seesFrames(2)
			for _, one := range []child{worker, inner} {
				if count := s.server.count(mark, isAttached(one.Session)); count != 1 {
					t.Errorf("%s is told of %d times, want once", one.Info.Type, count)
				}
			}
		})
	}
}

// Whoever asked children to wait may go without a word: nothing stands still afterwards.
func TestChildrenThatWaitRunWhenNobodyHoldsTheTab(t *testing.T) {
	t.Parallel()
	for sentence, leave := range map[string]func(*sharing){
		"dropped": func(s *sharing) { s.server.say(object{"t": "drop", "session": "s_1", "tab": s.name}) },
		"dropped while a program runs": func(s *sharing) {
			s.server.say(object{"t": "program", "id": 9000, "session": "s_1"}, object{"tab": s.name, "deadline_ms": 20000, "steps": []any{linger(15000)}})
			s.tab.until("true")
			s.server.say(object{"t": "drop", "session": "s_1", "tab": s.name})
		},
		"the link ends":         func(s *sharing) { s.server.drop(websocket.StatusGoingAway) },
		"the session ends":      func(s *sharing) { s.server.say(object{"t": "end", "session": "s_1"}) },
		"the worker is stopped": func(s *sharing) { s.stopWorker() },
		"the tab is unshared":   func(s *sharing) { s.popup.eval("document.querySelector('#unshare').click()") },
		"the level is lowered":  func(s *sharing) { s.popup.eval("document.querySelector('#level-read').click()") },
		"the client resumes them": func(s *sharing) {
			for _, kind := range []string{"worker", "iframe"} {
				s.server.ofChild(s.name, s.server.childSince(s.server.waits, kind).Session, "Runtime.runIfWaitingForDebugger", nil)
			}
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := newSharing(t, "act", "act")
			s.family()
			s.server.hold(s.name)
			wait := object{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}
			s.server.mustRaw(s.name, "Target.setAutoAttach", wait)
			s.server.waits = s.server.mark()
			s.tab.unasked("window.heard = ''; window.loaded = false; work(); frame()")
			worker := s.server.childSince(s.server.waits, "worker")
			inner := s.server.childSince(s.server.waits, "iframe")
			if !worker.Waiting || !inner.Waiting {
				t.Errorf("children do not wait: %+v %+v", worker, inner)
			}
			if got := s.tab.eval("window.heard === '' && !window.loaded"); got != true {
				t.Errorf("children run though they were asked to wait")
			}
			leave(s)
			s.tab.until("window.heard === 'running' && window.loaded")
		})
	}
}
