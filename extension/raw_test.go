package extension_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// hold holds a tab for session s_1 and answers its CDP target.
func (s *server) hold(tab string) string {
	s.t.Helper()
	held := s.ask(object{"t": "hold", "session": "s_1", "tab": tab}, nil)
	if held.T != "held" || held.Target == "" {
		s.t.Fatalf("hold %s: %+v", tab, held.header)
	}
	return held.Target
}

// raw sends one command of a client to a tab's page.
func (s *server) raw(tab, method string, params object) frame {
	s.t.Helper()
	head := object{"t": "cdp", "session": "s_1", "tab": tab, "method": method}
	if params == nil {
		return s.ask(head, nil)
	}
	return s.ask(head, params)
}

// mustRaw is raw for commands that cannot fail.
func (s *server) mustRaw(tab, method string, params object) json.RawMessage {
	s.t.Helper()
	got := s.raw(tab, method, params)
	if got.T != "reply" || got.Error != nil {
		s.t.Fatalf("%s is answered %s %s %s %+v", method, got.T, got.Code, got.Message, got.Error)
	}
	return got.body
}

// evaluate answers a script's value.
func (s *server) evaluate(tab, expression string) any {
	s.t.Helper()
	var got struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
	}
	body := s.mustRaw(tab, "Runtime.evaluate", object{"expression": expression, "returnByValue": true})
	if err := json.Unmarshal(body, &got); err != nil {
		s.t.Fatalf("evaluate answers %s: %v", body, err)
	}
	return got.Result.Value
}

// mark is how much was told until now.
func (s *server) mark() int {
	s.stateMu.Lock()
	defer s.stateMu.Unlock()
	return len(s.told)
}

// since waits for a frame that fits among those told after a mark.
func (s *server) since(mark int, what string, fits func(frame) bool) frame {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		s.stateMu.Lock()
		told, news := s.told[mark:], s.news
		s.stateMu.Unlock()
		if i := slices.IndexFunc(told, fits); i >= 0 {
			return told[i]
		}
		select {
		case <-news:
		case <-deadline:
			s.t.Fatalf("waited %s in vain for %s", patience, what)
		}
	}
}

func event(method string) func(frame) bool {
	return func(got frame) bool { return got.T == "event" && got.Method == method }
}

func kind(t string) func(frame) bool {
	return func(got frame) bool { return got.T == t }
}

func TestARawClientsCommandsAndEventsPass(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	tabs := s.server.tabsUntil("a tab with its target", func(tabs []sharedTab) bool { return tabs[0].Target != "" })
	target := s.server.hold(s.name)
	if target != tabs[0].Target || target != s.tab.target {
		t.Errorf("held target %s, listed %s, want %s", target, tabs[0].Target, s.tab.target)
	}
	if title := s.server.evaluate(s.name, "document.title"); title != "Page /first" {
		t.Errorf("title is %v", title)
	}
	mark := s.server.mark()
	s.server.mustRaw(s.name, "Page.navigate", object{"url": s.site.URL + "/second"})
	got := s.server.since(mark, "a navigation", event("Page.frameNavigated"))
	if got.Tab != s.name || !strings.Contains(string(got.body), "/second") {
		t.Errorf("event is %+v %s", got.header, got.body)
	}
	failed := s.server.raw(s.name, "Runtime.evaluate", object{"expression": 1})
	if failed.T != "error" && failed.Error == nil {
		t.Errorf("a wrong parameter is answered %+v", failed.header)
	}
	s.server.say(object{"t": "drop", "session": "s_1", "tab": s.name})
	s.free()
	if refused := s.server.raw(s.name, "Page.reload", object{}); refused.Code != "bad_request" {
		t.Errorf("a command to a tab that is not held is answered %+v", refused.header)
	}
}

func TestRawRepliesAndEventsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	s.server.mustRaw(s.name, "Runtime.enable", nil)
	mark := s.server.mark()
	const count = 150
	for i := range count {
		s.server.say(object{"t": "cdp", "id": 10000 + i, "session": "s_1", "tab": s.name, "method": "Runtime.evaluate"},
			object{"expression": fmt.Sprintf("console.log('n', %d)", i)})
	}
	s.server.since(mark, "the last reply", func(got frame) bool { return got.T == "reply" && got.ID == 10000+count-1 })
	s.server.stateMu.Lock()
	told := slices.Clone(s.server.told[mark:])
	s.server.stateMu.Unlock()
	var order []string
	for _, got := range told {
		switch {
		case got.T == "reply":
			order = append(order, fmt.Sprint("reply ", got.ID-10000))
		case got.Method == "Runtime.consoleAPICalled":
			var params struct {
				Args []struct {
					Value any `json:"value"`
				} `json:"args"`
			}
			if err := json.Unmarshal(got.body, &params); err != nil {
				t.Fatal(err)
			}
			order = append(order, fmt.Sprint("event ", params.Args[1].Value))
		}
	}
	want := make([]string, 0, 2*count)
	for i := range count {
		want = append(want, fmt.Sprint("event ", i), fmt.Sprint("reply ", i))
	}
	if !slices.Equal(order, want) {
		t.Errorf("order is %v", order)
	}
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
