package extension_test

import (
	"slices"
	"strings"
	"testing"
)

// Chrome lets its own DevTools and an extension debug the same tab: opening them takes nothing from an agent, and closing
// them neither.
func TestDevToolsOfThePersonAndAnAgentShareATab(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	target := s.server.hold(s.name)
	s.server.evaluate(s.name, "globalThis.mark = 7")
	mark := s.server.mark()
	s.must("", "Target.openDevTools", object{"targetId": target}, nil)
	isTools := func(info targetInfo) bool { return strings.HasPrefix(info.URL, "devtools://") }
	tools := s.target(isTools)
	drive := func(when string) {
		t.Helper()
		if got := s.server.evaluate(s.name, "globalThis.mark"); got != 7.0 {
			t.Errorf("%s a client's evaluation is %v", when, got)
		}
		if got := s.server.run("s_1", s.name, call("Runtime.evaluate", object{"expression": "globalThis.mark"})); got.Error != nil {
			t.Errorf("%s a program is answered %+v", when, got.Error)
		}
	}
	drive("with DevTools open")
	s.must("", "Target.closeTarget", object{"targetId": tools.ID}, nil)
	eventually(t, "DevTools to be closed", func() bool { return !slices.ContainsFunc(s.targets(), isTools) })
	drive("after DevTools were closed")
	if n := s.server.count(mark, kind("asleep")); n > 0 {
		t.Errorf("the tab fell asleep %d times", n)
	}
}
