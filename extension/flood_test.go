package extension_test

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// latency is how long a command to a tab takes, the slowest of some.
func (s *server) latency(tab string) (median, worst time.Duration) {
	s.t.Helper()
	const times = 40
	all := make([]time.Duration, 0, times)
	for range times {
		begun := time.Now()
		s.evaluate(tab, "1")
		all = append(all, time.Since(begun))
	}
	slices.Sort(all)
	return all[len(all)/2], all[len(all)-1]
}

// A tab that answers nothing, or tells without end, is no other tab's trouble. It measures, and so runs alone.
func TestOneTabsTroubleIsNotAnothers(t *testing.T) {
	for sentence, trouble := range map[string]struct {
		script  string
		enable  []string
		mayStop bool
	}{
		"a page that hangs":                    {"void setTimeout(() => { for (;;); })", nil, false},
		"a page that logs without end":         {"void setInterval(() => { for (let i = 0; i < 2000; i++) console.log('flood', i, {a: 1}) }, 10)", []string{"Runtime.enable", "Log.enable"}, true},
		"a page that logs huge lines":          {"void setInterval(() => { console.log('x'.repeat(2_000_000)) }, 10)", []string{"Runtime.enable"}, true},
		"a page that asks without end":         {"void setInterval(() => { for (let i = 0; i < 50; i++) fetch('/x?' + Math.random()).catch(() => 0) }, 50)", []string{"Network.enable"}, true},
		"a page that changes without end":      {"void setInterval(() => { for (let i = 0; i < 5000; i++) document.body.setAttribute('a', i) }, 10)", []string{"DOM.enable"}, true},
		"a page that makes frames without end": {"void setInterval(() => { for (let i = 0; i < 20; i++) { const f = document.createElement('iframe'); document.body.append(f); f.remove() } }, 10)", []string{"Runtime.enable"}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newSharing(t, "act", "act")
			other := s.server.make()
			s.server.hold(other)
			s.server.hold(s.name)
			for _, method := range trouble.enable {
				s.server.mustRaw(s.name, method, nil)
			}
			if slices.Contains(trouble.enable, "DOM.enable") {
				s.server.mustRaw(s.name, "DOM.getDocument", object{"depth": -1})
			}
			calm, worstCalm := s.server.latency(other)
			limit := max(100*time.Millisecond, 10*calm) // a busy machine answers late as it is
			mark, begun := s.server.mark(), time.Now()
			s.server.mustRaw(s.name, "Runtime.evaluate", object{"expression": trouble.script})
			var busy, worst time.Duration
			eventually(t, "another tab that is not slowed", func() bool {
				s.popup.eval("new Promise(resolve => setTimeout(resolve, 500))")
				busy, worst = s.server.latency(other)
				return busy < limit && worst < 10*limit
			})
			took := time.Since(begun)
			asleep := s.server.count(mark, kind("asleep"))
			events := s.server.count(mark, kind("event"))
			t.Logf("calm %s (worst %s), then %s (worst %s) after %s; %d events, asleep %d times", calm, worstCalm, busy, worst, took, events, asleep)
			if asleep > 0 {
				if why := s.server.since(mark, "asleep", kind("asleep")).Message; !trouble.mayStop || !strings.Contains(why, "more than") {
					t.Errorf("the tab sleeps because %q", why)
				}
			}
		})
	}
}

func TestAnAnswerThatIsTooLargeFailsAlone(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	big := func(size int) frame {
		return s.server.raw(s.name, "Runtime.evaluate", object{"expression": "'x'.repeat(" + string(mustJSON(t, size)) + ")", "returnByValue": true})
	}
	if got := big(17 << 20); got.T != "error" || got.Code != "too_large" {
		t.Errorf("17 MiB are answered %+v, want too_large", got.header)
	}
	if got := big(12 << 20); got.T != "reply" || len(got.body) < 12<<20 {
		t.Errorf("12 MiB are answered %+v and %d bytes", got.header, len(got.body))
	}
	s.server.evaluate(s.name, "1")
}

func TestCommandsThatHaveNoAnswerKeepNobodyWaitingAndAreAnsweredWithTheDrop(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	mark := s.server.mark()
	never := object{"expression": "new Promise(() => {})", "awaitPromise": true}
	for i := range 1024 {
		s.server.say(object{"t": "cdp", "id": 20000 + i, "session": "s_1", "tab": s.name, "method": "Runtime.evaluate"}, never)
	}
	s.server.evaluate(s.name, "1")
	s.server.say(object{"t": "drop", "session": "s_1", "tab": s.name})
	eventually(t, "an answer to each", func() bool {
		return s.server.count(mark, func(got frame) bool { return got.T == "error" && got.ID >= 20000 && got.Code == "tab_closed" }) == 1024
	})
	s.server.hold(s.name)
	s.server.evaluate(s.name, "1")
}
