package extension_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// Nothing happens in the browser for which Chrome would start the worker: the alarm does. An answer that is larger than
// the extension's memory ends like this, and no limit of Chrome's prevents it.
func TestAnExtensionThatDiedComesBackByItselfWithTheSameGrants(t *testing.T) {
	t.Parallel()
	for sentence, die := range map[string]func(*sharing){
		"because its process crashed": func(s *sharing) {
			message := fmt.Sprintf(`{"id":1000001,"sessionId":%q,"method":"Page.crash"}`, s.popup.session) // Chrome never answers it
			if err := s.conn.Write(s.t.Context(), websocket.MessageText, []byte(message)); err != nil {
				s.t.Fatal(err)
			}
		},
		"because Chrome stopped its worker": func(s *sharing) {
			s.must("", "Target.closeTarget", object{"targetId": s.worker().ID}, nil)
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := newSharing(t, "act", "act")
			s.server.hold(s.name)
			before := s.server.tabsUntil("a held tab", func(tabs []sharedTab) bool { return len(tabs) == 1 && tabs[0].Session == "s_1" })
			died := time.Now()
			die(s)
			s.server.linksUntil(2)
			back := time.Since(died)
			t.Logf("linked anew after %s", back)
			if back > 20*time.Second {
				t.Errorf("linked anew after %s, want the 5 s of the alarm and a moment", back)
			}
			after := s.server.tabsUntil("the same tab", func(tabs []sharedTab) bool { return len(tabs) == 1 })
			if after[0] != before[0] {
				t.Errorf("the tab is %+v, want %+v", after[0], before[0])
			}
			s.server.hold(s.name)
			s.server.evaluate(s.name, "1")
		})
	}
}
