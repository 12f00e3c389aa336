package extension_test

import (
	"slices"
	"testing"
	"time"
)

// A page may change what it is called and where it is as often as it likes: the person's Stop, and other tabs, do not
// wait for it. It measures, and so runs alone.
func TestAPageThatRenamesItselfWithoutEndKeepsNobodyWaiting(t *testing.T) {
	for sentence, script := range map[string]string{
		"by its title":          "void setInterval(() => { for (let i = 0; i < 200; i++) document.title = Math.random() + 'x'.repeat(5000) }, 1)",
		"by its address":        "void setInterval(() => { for (let i = 0; i < 50; i++) try { history.replaceState(0, '', '/h' + Math.random()) } catch {} }, 1)",
		"by its address's hash": "void setInterval(() => { location.hash = Math.random() }, 1)",
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newSharing(t, "act", "act")
			other := s.server.make()
			s.server.hold(other)
			mark, begun := s.server.mark(), time.Now()
			go func() { _, _ = s.tab.try(script) }()
			s.server.since(mark, "a list with the page's new name", kind("tabs"))
			var busy, worst, took time.Duration
			for took < 3*time.Second {
				busy, worst = s.server.latency(other)
				took = time.Since(begun)
			}
			lists := s.server.count(mark, kind("tabs"))
			t.Logf("another tab's command takes %s (worst %s); %d lists of tabs in %s", busy, worst, lists, took)
			if busy > time.Second {
				t.Errorf("another tab's command takes %s, want at most a second", busy)
			}
			if most := 5 + 5*int(took/time.Second); lists > most {
				t.Errorf("the list of tabs is told %d times in %s, want at most %d", lists, took, most)
			}
			asked := time.Now()
			s.popup.eval("document.querySelector('#unshare').click()")
			s.server.tabsUntil("the other tab alone", func(tabs []sharedTab) bool {
				return !slices.ContainsFunc(tabs, func(tab sharedTab) bool { return tab.ID == s.name })
			})
			stopped := time.Since(asked)
			t.Logf("Stop takes %s", stopped)
			if stopped > 2*time.Second {
				t.Errorf("Stop takes %s, want at most 2 s", stopped)
			}
		})
	}
}
