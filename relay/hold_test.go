package relay_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chaperone/relay"
	"chaperone/relay/endpoint"
	"chaperone/relay/program"
)

// sink keeps what a held tab told, a line each, and the replies with it, in their order.
type sink struct {
	mu    sync.Mutex
	lines []string
	words []string // of failures and of falling asleep
}

func (s *sink) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.words = append(s.words, err.Error())
}

// mayBeDone says of each failure whether it claims that what was asked may have been done.
func (s *sink) mayBeDone() []bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	claims := make([]bool, 0, len(s.words))
	for _, words := range s.words {
		claims = append(claims, strings.Contains(words, "may have been done"))
	}
	return claims
}

func (s *sink) add(format string, a ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, strings.Join(strings.Fields(fmt.Sprintf(format, a...)), " "))
}

func (s *sink) Event(child, method string, params []byte) {
	s.add("event %s %s %s", child, method, params)
}

func (s *sink) Asleep(why *program.Error) {
	s.note(why)
	s.add("asleep %s", why.Code)
}

func (s *sink) Reset(target string) { s.add("reset %s", target) }

func (s *sink) Gone(why *program.Error) { s.add("gone %s", why.Code) }

// forget drops a line once everything has been told.
func (s *sink) forget(line string) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = slices.DeleteFunc(s.lines, func(l string) bool { return l == line })
}

// reply is what a Send's answer is noted as.
func (s *sink) reply(name string) func([]byte, error) {
	return func(result []byte, err error) {
		var refused *program.CallError
		switch {
		case errors.As(err, &refused):
			s.add("%s refused %d %s", name, refused.Code, refused.Message)
		case err != nil:
			s.note(err)
			s.add("%s failed %s", name, code(err))
		default:
			s.add("%s %s", name, result)
		}
	}
}

func (s *sink) want(t *testing.T, lines ...string) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got, want := strings.Join(s.lines, "\n"), strings.Join(lines, "\n"); got != want {
		t.Errorf("the sink heard\n%s\nwant\n%s", got, want)
	}
	s.lines = nil
}

// held is what Browser.Hold answered.
type held struct {
	wire endpoint.Wire
	err  error
}

func hold(ctx context.Context, b *relay.Browser, tab string, s endpoint.Sink) <-chan held {
	answered := make(chan held, 1)
	go func() {
		wire, err := b.Hold(ctx, tab, s)
		answered <- held{wire, err}
	}()
	return answered
}

// held is a tab that e has attached for a session.
func (w *world) held(e *extension, b *relay.Browser, tab string) (endpoint.Wire, *sink) {
	w.t.Helper()
	s := &sink{}
	answered := hold(w.t.Context(), b, tab, s)
	e.attach(e.want("hold"), "T-"+tab)
	got := <-answered
	if got.err != nil {
		w.t.Fatalf("hold %s: %v", tab, got.err)
	}
	return got.wire, s
}

func (e *extension) attach(f frame, target string) {
	e.t.Helper()
	e.send(object{"t": "held", "id": f.id(), "tab": f.head["tab"], "target": target})
}

func (e *extension) event(tab, child, method, params string) {
	e.t.Helper()
	head := object{"t": "event", "tab": tab, "method": method}
	if child != "" {
		head["child"] = child
	}
	if params == "" {
		e.send(head)
		return
	}
	e.send(head, params)
}

func (e *extension) reply(f frame, result string) {
	e.t.Helper()
	e.send(object{"t": "reply", "id": f.id()}, result)
}

// send sends "METHOD" to the page, or "CHILD METHOD", and has its answer noted by the method.
func send(t *testing.T, wire endpoint.Wire, s *sink, command, params string) {
	t.Helper()
	child, method, ok := strings.Cut(command, " ")
	if !ok {
		child, method = "", command
	}
	if err := wire.Send(t.Context(), child, method, []byte(params), s.reply(method)); err != nil {
		t.Fatalf("send %s: %v", method, err)
	}
}

func TestACommandCrossesUnchangedAndIsAnsweredOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		wire, s := w.held(e, w.open("s_1"), "t1")
		if wire.Target() != "T-t1" {
			w.t.Errorf("target %s", wire.Target())
		}
		send(w.t, wire, s, "Page.navigate", "{\n\"url\": \"https://example.com/\"}")
		f := e.want("cdp")
		if string(f.body) != "{\n\"url\": \"https://example.com/\"}" || f.head["child"] != nil ||
			f.head["session"] != "s_1" || f.head["tab"] != "t1" || f.head["method"] != "Page.navigate" {
			w.t.Errorf("frame %v, body %q", f.head, f.body)
		}
		send(w.t, wire, s, "C1 Runtime.enable", "")
		g := e.want("cdp")
		if g.head["child"] != "C1" || g.body != nil {
			w.t.Errorf("frame %v, body %q", g.head, g.body)
		}
		e.reply(g, "")
		e.reply(f, `{"frameId":1.50}`)
		e.reply(f, `{"again":true}`)
		s.want(w.t, "Runtime.enable {}", `Page.navigate {"frameId":1.50}`)
	})
}

func TestHowACommandIsAnswered(t *testing.T) {
	tests := map[string]struct {
		answer func(e *extension, f frame)
		want   string
	}{
		"the browser refuses it": {func(e *extension, f frame) {
			e.send(object{"t": "reply", "id": f.id(), "error": object{"code": -32000, "message": "no such node"}})
		}, "A.b refused -32000 no such node"},
		"the extension refuses it": {func(e *extension, f frame) {
			e.send(object{"t": "error", "id": f.id(), "code": "forbidden", "message": "no"})
		}, "A.b failed forbidden"},
		"the extension refuses it without a code": {func(e *extension, f frame) {
			e.send(object{"t": "error", "id": f.id()})
		}, "A.b failed internal"},
		"a result that is no object": {func(e *extension, f frame) { e.reply(f, `"text"`) }, "A.b failed internal"},
		"a result cut off":           {func(e *extension, f frame) { e.reply(f, `{"a":`) }, "A.b failed internal"},
		"an answer of another kind is dropped": {func(e *extension, f frame) {
			e.send(object{"t": "result", "id": f.id()}, `{}`)
			e.send(object{"t": "held", "id": f.id(), "tab": "t1", "target": "T9"})
			e.reply(f, `{"a":1}`)
		}, `A.b {"a":1}`},
		"the link ends": {func(e *extension, _ frame) { _ = e.conn.CloseNow() }, "A.b failed not_connected\nasleep not_connected"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				e := w.pair(honest().with(tab("t1", "")))
				wire, s := w.held(e, w.open("s_1"), "t1")
				send(w.t, wire, s, "A.b", "{}")
				tt.answer(e, e.want("cdp"))
				s.want(w.t, tt.want)
			})
		})
	}
}

func TestRepliesAndEventsKeepTheirOrder(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		wire, s := w.held(e, w.open("s_1"), "t1")
		want := make([]string, 0, 200)
		for i := range 100 {
			send(w.t, wire, s, "A.b", "{}")
			f := e.want("cdp")
			e.event("t1", "C1", "Page.event", fmt.Sprintf(`{"n":%d}`, i))
			e.reply(f, fmt.Sprintf(`{"n":%d}`, i))
			want = append(want, fmt.Sprintf(`event C1 Page.event {"n":%d}`, i), fmt.Sprintf(`A.b {"n":%d}`, i))
		}
		s.want(w.t, want...)
	})
}

func TestWhoMayHoldATab(t *testing.T) {
	tests := map[string]struct {
		tabs   []program.Tab
		answer func(e *extension, f frame) // nil where nothing is asked
		code   string
	}{
		"a tab that no session owns":  {[]program.Tab{tab("t1", "")}, func(e *extension, f frame) { e.attach(f, "T1") }, ""},
		"a tab of the session's own":  {[]program.Tab{tab("t1", "s_1")}, func(e *extension, f frame) { e.attach(f, "T1") }, ""},
		"another session's tab":       {[]program.Tab{tab("t1", "s_2")}, nil, "forbidden"},
		"a tab that may be read only": {[]program.Tab{reading("t1")}, nil, "forbidden"},
		"a tab that is not there":     {[]program.Tab{tab("t2", "")}, nil, "tab_closed"},
		"a tab that Chrome does not attach to": {[]program.Tab{tab("t1", "")}, func(e *extension, f frame) {
			e.send(object{"t": "error", "id": f.id(), "code": "tab_suspended", "message": "DevTools"})
		}, "tab_suspended"},
		"an extension that leaves": {[]program.Tab{tab("t1", "")}, func(e *extension, _ frame) { _ = e.conn.CloseNow() }, "not_connected"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				e, s := w.pair(honest()), &sink{}
				b := w.open("s_1")
				e.send(object{"t": "tabs", "tabs": tt.tabs})
				synctest.Wait()
				answered := hold(w.t.Context(), b, "t1", s)
				if tt.answer != nil {
					tt.answer(e, e.want("hold"))
				}
				if got := <-answered; code(got.err) != tt.code || (got.err == nil) != (tt.code == "") {
					w.t.Errorf("hold: %v, want %q", got.err, tt.code)
				}
				s.want(w.t)
			})
		})
	}
}

func reading(id string) program.Tab {
	t := tab(id, "")
	t.Level = program.LevelRead
	return t
}

func TestAnOldExtensionHasNoRawRoad(t *testing.T) {
	inWorld(t, func(w *world) {
		old := honest().with(tab("t1", ""))
		old.features = []string{"something-else"}
		e := w.upgrade()
		e.greet(old)
		if got := fmt.Sprint(e.want("paired").head["features"]); got != "[]" {
			w.t.Errorf("features %s", got)
		}
		b := w.open("s_1")
		if _, err := b.Hold(w.t.Context(), "t1", &sink{}); code(err) != "update_required" {
			w.t.Errorf("hold: %v", err)
		}
		if _, err := b.NewTab(w.t.Context()); code(err) != "update_required" {
			w.t.Errorf("new tab: %v", err)
		}
	})
}

func TestATabIsHeldOnceAtATime(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b, other := w.open("s_1"), w.open("s_2")
		wire, s := w.held(e, b, "t1")
		if _, err := b.Hold(w.t.Context(), "t1", &sink{}); code(err) != "bad_request" {
			w.t.Errorf("a second time: %v", err)
		}
		if _, err := other.Hold(w.t.Context(), "t1", &sink{}); code(err) != "forbidden" {
			w.t.Errorf("by another session: %v", err)
		}
		send(w.t, wire, s, "A.b", "{}")
		e.want("cdp")
		wire.Release()
		wire.Release()
		if f := e.want("drop"); f.head["tab"] != "t1" || f.head["session"] != "s_1" || f.id() != nil {
			w.t.Errorf("drop %v", f.head)
		}
		s.want(w.t, "A.b failed tab_suspended")
		if err := wire.Send(w.t.Context(), "", "A.b", nil, s.reply("late")); code(err) != "tab_suspended" {
			w.t.Errorf("send after release: %v", err)
		}
		again := &sink{}
		answered := hold(w.t.Context(), b, "t1", again)
		f := e.want("hold")
		e.event("t1", "", "Page.old", "{}")
		e.attach(f, "T2")
		e.event("t1", "", "Page.new", "{}")
		if got := <-answered; got.err != nil || got.wire.Target() != "T2" {
			w.t.Errorf("hold again: %v", got.err)
		}
		s.want(w.t)
		again.want(w.t, "event Page.new {}")
	})
}

func TestAHoldThatNobodyWaitsForIsDropped(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		ctx, cancel := context.WithCancel(w.t.Context())
		s := &sink{}
		answered := hold(ctx, w.open("s_1"), "t1", s)
		f := e.want("hold")
		cancel()
		if got := <-answered; !errors.Is(got.err, context.Canceled) {
			w.t.Errorf("hold: %v", got.err)
		}
		e.want("drop")
		e.attach(f, "T1")
		e.event("t1", "", "Page.event", "{}")
		s.want(w.t)
	})
}

func TestAHeldTabSurvivesTheLink(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		wire, s := w.held(e, w.open("s_1"), "t1")
		send(w.t, wire, s, "A.b", "{}")
		e.want("cdp")
		_ = e.conn.CloseNow()
		s.want(w.t, "A.b failed not_connected", "asleep not_connected")
		if got := s.mayBeDone(); !slices.Equal(got, []bool{true, false}) {
			w.t.Errorf("claim that it may have been done: %v", got)
		}
		err := wire.Send(w.t.Context(), "", "A.b", nil, s.reply("A.b"))
		if code(err) != "not_connected" || !strings.Contains(err.Error(), "not sent") {
			w.t.Errorf("send without a link: %v", err)
		}
		again := w.pair(honest().with(tab("t1", "s_1")))
		f := again.want("hold")
		again.event("t1", "", "Page.early", "{}")
		again.attach(f, "T2")
		again.event("t1", "", "Page.event", "{}")
		s.want(w.t, "reset T2", "event Page.event {}")
		if wire.Target() != "T2" {
			w.t.Errorf("target %s", wire.Target())
		}
		send(w.t, wire, s, "A.c", "{}")
		again.reply(again.want("cdp"), "{}")
		s.want(w.t, "A.c {}")
		wire.Release()
		again.want("drop")
	})
}

func TestARenewedLinkTakesTheHoldsOver(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		wire, s := w.held(e, w.open("s_1"), "t1")
		send(w.t, wire, s, "A.b", "{}")
		e.want("cdp")
		second := w.upgrade()
		second.greet(honest().with(tab("t1", "s_1")))
		second.want("paired")
		second.attach(second.want("hold"), "T2")
		s.want(w.t, "A.b failed not_connected", "asleep not_connected", "reset T2")
		e.wantClose(1000)
	})
}

func TestWhatEndsAHold(t *testing.T) {
	tests := map[string]struct {
		end  func(w *world, e *extension, b *relay.Browser)
		want string
		drop bool // the extension is told
	}{
		"the tab leaves the list": {func(_ *world, e *extension, _ *relay.Browser) {
			e.send(object{"t": "tabs", "tabs": []program.Tab{tab("t2", "")}})
		}, "gone tab_closed", true},
		"the tab is lowered": {func(_ *world, e *extension, _ *relay.Browser) {
			e.send(object{"t": "tabs", "tabs": []program.Tab{reading("t1")}})
		}, "gone forbidden", true},
		"the ceiling is lowered": {func(w *world, e *extension, _ *relay.Browser) {
			w.hub.SetLevel(account, project, program.LevelRead)
			e.want("level")
		}, "gone forbidden", true},
		"another session has it": {func(_ *world, e *extension, _ *relay.Browser) {
			e.send(object{"t": "tabs", "tabs": []program.Tab{tab("t1", "s_9")}})
		}, "gone forbidden", true},
		"the session ends": {func(_ *world, e *extension, b *relay.Browser) {
			go b.Close(context.Background()) //nolint:errcheck // the link's end ends it too
			e.want("end")
		}, "gone session_ended", false},
		"the server disconnects the browser": {func(w *world, e *extension, _ *relay.Browser) {
			w.hub.Disconnect(account, project, relay.ReasonReset)
			e.wantClose(4001)
		}, "gone not_connected", false},
		"another browser takes the place": {func(w *world, _ *extension, _ *relay.Browser) {
			w.pair(honest().as("install-2").with(tab("t1", "")))
		}, "gone not_connected", false},
		"the person disconnects": {func(_ *world, e *extension, _ *relay.Browser) {
			e.send(object{"t": "disconnect"})
			e.wantClose(1000)
		}, "gone not_connected", false},
		"the browser comes back without the tab": {func(w *world, e *extension, _ *relay.Browser) {
			_ = e.conn.CloseNow()
			synctest.Wait()
			w.pair(honest().with(tab("t2", "")))
		}, "asleep not_connected\ngone tab_closed", false},
		"the browser comes back and refuses": {func(w *world, e *extension, _ *relay.Browser) {
			_ = e.conn.CloseNow()
			synctest.Wait()
			again := w.pair(honest().with(tab("t1", "s_1")))
			again.send(object{"t": "error", "id": again.want("hold").id(), "code": "forbidden", "message": "no"})
		}, "asleep not_connected\ngone forbidden", false},
		"the browser comes back with an older extension": {func(w *world, e *extension, _ *relay.Browser) {
			_ = e.conn.CloseNow()
			synctest.Wait()
			older := honest().with(tab("t1", "s_1"))
			older.features = nil
			w.pair(older)
		}, "asleep not_connected\ngone update_required", false},
		"the hub closes": {func(w *world, _ *extension, _ *relay.Browser) {
			go w.hub.Close(context.Background()) //nolint:errcheck // the test closes it too
		}, "gone not_connected", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				e := w.pair(honest().with(tab("t1", "")))
				b := w.open("s_1")
				wire, s := w.held(e, b, "t1")
				send(w.t, wire, s, "A.b", "{}")
				e.want("cdp")
				tt.end(w, e, b)
				first, rest, _ := strings.Cut(tt.want, "\n")
				_, why, _ := strings.Cut(first, " ")
				lines := []string{"A.b failed " + why, first, rest}
				if rest == "" {
					s.forget("asleep not_connected") // the link's end may come first, or the hold's
				}
				s.want(w.t, lines[:2+strings.Count(tt.want, "\n")]...)
				if tt.drop {
					e.want("drop")
				}
				if err := wire.Send(context.Background(), "", "A.b", nil, s.reply("late")); err == nil {
					w.t.Error("a command goes on")
				}
				wire.Release()
				s.want(w.t)
				_ = e.conn.CloseNow()
			})
		})
	}
}

func TestATabThatFallsAsleepWakes(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		wire, s := w.held(e, w.open("s_1"), "t1")
		send(w.t, wire, s, "A.b", "{}")
		f := e.want("cdp")
		e.send(object{"t": "asleep", "tab": "t1", "code": "tab_suspended", "message": "DevTools took over"})
		s.want(w.t, "A.b failed tab_suspended", "asleep tab_suspended")
		e.reply(f, "{}")
		e.event("t1", "", "Page.late", "{}")
		err := wire.Send(w.t.Context(), "", "A.b", nil, s.reply("A.b"))
		if code(err) != "tab_suspended" || !strings.Contains(err.Error(), "DevTools took over") {
			w.t.Errorf("send: %v", err)
		}
		e.send(object{"t": "held", "tab": "t1", "target": "T3"})
		e.event("t1", "", "Page.event", "")
		s.want(w.t, "reset T3", "event Page.event {}")
		send(w.t, wire, s, "A.c", "{}")
		e.want("cdp")
		e.send(object{"t": "held", "tab": "t1", "target": "T4"})
		s.want(w.t, "A.c failed tab_suspended", "asleep tab_suspended", "reset T4")
		if got := s.mayBeDone(); !slices.Equal(got, []bool{false, false, true, false}) {
			w.t.Errorf("claim that it may have been done: %v", got)
		}
	})
}

func TestATabThatIsAsleepWhenTheLinkComesBackIsAskedForAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		wire, s := w.held(e, w.open("s_1"), "t1")
		_ = e.conn.CloseNow()
		suspended := tab("t1", "s_1")
		suspended.Suspended = "a page of Chrome's own"
		again := w.pair(honest().with(suspended))
		again.send(object{"t": "error", "id": again.want("hold").id(), "code": "tab_suspended", "message": "not now"})
		again.send(object{"t": "tabs", "tabs": []program.Tab{suspended}})
		synctest.Wait()
		if err := wire.Send(w.t.Context(), "", "A.b", nil, s.reply("A.b")); code(err) != "tab_suspended" {
			w.t.Errorf("send: %v", err)
		}
		again.send(object{"t": "tabs", "tabs": []program.Tab{tab("t1", "s_1")}})
		again.send(object{"t": "error", "id": again.want("hold").id(), "code": "tab_suspended", "message": "not yet"})
		pass(w.t, 20*time.Second)
		again.attach(again.want("hold"), "T2")
		s.want(w.t, "asleep not_connected", "asleep tab_suspended", "asleep tab_suspended", "reset T2")
	})
}

func TestHostileWordsAboutTabs(t *testing.T) {
	tests := map[string]struct {
		say   func(e *extension)
		close int // 0: dropped
	}{
		"an event of a tab that is not held":  {func(e *extension) { e.event("t2", "", "Page.event", "{}") }, 0},
		"an event of a tab without a name":    {func(e *extension) { e.event("", "", "Page.event", "{}") }, 0},
		"a held of a tab that is not held":    {func(e *extension) { e.send(object{"t": "held", "tab": "t2", "target": "T"}) }, 0},
		"a held that answers nothing":         {func(e *extension) { e.send(object{"t": "held", "id": 99, "tab": "t1", "target": "T"}) }, 0},
		"an asleep of a tab that is not held": {func(e *extension) { e.send(object{"t": "asleep", "tab": "t2"}) }, 0},
		"a reply to nothing":                  {func(e *extension) { e.send(object{"t": "reply", "id": -1}, "{}") }, 0},
		"a made that answers nothing":         {func(e *extension) { e.send(object{"t": "made", "id": 1, "tab": "t1"}) }, 0},
		"an event without a method":           {func(e *extension) { e.send(object{"t": "event", "tab": "t1"}, "{}") }, 4004},
		"an event whose method is no name":    {func(e *extension) { e.event("t1", "", `A","b":"`, "{}") }, 4004},
		"an event whose child is no name":     {func(e *extension) { e.event("t1", "a b", "A.b", "{}") }, 4004},
		"an event whose params are no object": {func(e *extension) { e.event("t1", "", "A.b", "[]") }, 4004},
		"a target that is no name":            {func(e *extension) { e.send(object{"t": "held", "tab": "t1", "target": `T"`}) }, 4004},
		"a method of 128 bytes":               {func(e *extension) { e.event("t2", "", strings.Repeat("a", 128), "{}") }, 0},
		"a method of 129 bytes":               {func(e *extension) { e.event("t2", "", strings.Repeat("a", 129), "{}") }, 4004},
		"an error that is a text":             {func(e *extension) { e.raw(`{"t":"reply","id":1,"error":"no"}`) }, 4004},
		"a tab whose target is no name": {func(e *extension) {
			bad := tab("t1", "s_1")
			bad.Target = "<b>"
			e.send(object{"t": "tabs", "tabs": []program.Tab{bad}})
		}, 4004},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				e := w.pair(honest().with(tab("t1", ""), tab("t2", "")))
				_, s := w.held(e, w.open("s_1"), "t1")
				tt.say(e)
				if tt.close != 0 {
					e.wantClose(tt.close)
					s.want(w.t, "asleep not_connected")
					return
				}
				e.send(object{"t": "ping"})
				e.want("pong")
				s.want(w.t)
			})
		})
	}
}

func TestAHeldOfAnotherTabEndsTheLink(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", ""), tab("t2", "")))
		answered := hold(w.t.Context(), w.open("s_1"), "t1", &sink{})
		e.send(object{"t": "held", "id": e.want("hold").id(), "tab": "t2", "target": "T2"})
		e.wantClose(4004)
		if got := <-answered; code(got.err) != "not_connected" {
			w.t.Errorf("hold: %v", got.err)
		}
	})
}

func TestOneSessionHearsNothingOfAnothers(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", ""), tab("t2", "")))
		one, first := w.held(e, w.open("s_1"), "t1")
		two, second := w.held(e, w.open("s_2"), "t2")
		send(w.t, one, first, "A.one", "{}")
		send(w.t, two, second, "A.two", "{}")
		f, g := e.want("cdp"), e.want("cdp")
		e.event("t2", "", "Page.two", "{}")
		e.reply(g, `{"two":1}`)
		e.reply(f, `{"one":1}`)
		first.want(w.t, `A.one {"one":1}`)
		second.want(w.t, "event Page.two {}", `A.two {"two":1}`)
	})
}

func TestCommandsThatCannotBeSent(t *testing.T) {
	tests := map[string]struct {
		child, method string
		params        int
		code          string
	}{
		"just under 2 MiB":        {"", "A.b", 2<<20 - 200, ""},
		"over 2 MiB":              {"", "A.b", 2 << 20, "too_large"},
		"no method":               {"", "", 0, "bad_request"},
		"a method that is none":   {"", "A b", 0, "bad_request"},
		"a method without end":    {"", strings.Repeat("a", 200), 0, "bad_request"},
		"a child that is no name": {`C"`, "A.b", 0, "bad_request"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				e := w.pair(honest().with(tab("t1", "")))
				wire, s := w.held(e, w.open("s_1"), "t1")
				params := []byte(`{"a":"` + strings.Repeat("x", tt.params) + `"}`)
				err := wire.Send(w.t.Context(), tt.child, tt.method, params, s.reply("A.b"))
				if code(err) != tt.code || (err == nil) != (tt.code == "") {
					w.t.Errorf("send: %v, want %q", err, tt.code)
				}
				if err == nil {
					e.reply(e.want("cdp"), "{}")
					s.want(w.t, "A.b {}")
				}
			})
		})
	}
}

func TestRawCommandsUnderWayAreBounded(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		wire, s := w.held(e, w.open("s_1"), "t1")
		const most = 32 << 10
		frames := make([]frame, 0, most)
		for range most {
			send(w.t, wire, s, "A.b", "{}")
			frames = append(frames, e.want("cdp"))
		}
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		if err := wire.Send(ctx, "", "A.b", nil, s.reply("A.b")); !errors.Is(err, context.DeadlineExceeded) {
			w.t.Errorf("one more: %v", err)
		}
		sent := make(chan error, 1)
		go func() { sent <- wire.Send(w.t.Context(), "", "A.more", nil, s.reply("A.more")) }()
		synctest.Wait()
		if len(sent) != 0 {
			w.t.Error("one more went on")
		}
		e.reply(frames[0], "{}")
		if err := <-sent; err != nil || e.want("cdp").head["method"] != "A.more" {
			w.t.Errorf("with room again: %v", err)
		}
		wire.Release()
		if got := len(s.lines); got != most+1 {
			w.t.Errorf("%d answers", got)
		}
	})
}

func TestAFloodOfCommandsKeepsNothingElseBack(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		wire, s := w.held(e, b, "t1")
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		sent := 0 // while the browser reads nothing
		for wire.Send(ctx, "", "A.b", nil, s.reply("A.b")) == nil {
			sent++
		}
		if sent < 128 || sent > 129 {
			w.t.Errorf("%d commands wait", sent)
		}
		answered := run(w.t, b, clickIn("t1"))
		for range sent {
			e.want("cdp")
		}
		e.answer(e.want("program"), `{"tab":"t1"}`)
		if got := <-answered; got.err != nil {
			w.t.Errorf("run: %v", got.err)
		}
	})
}

func TestTabsAreMadeAndClosed(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest())
		b := w.open("s_1")
		e.send(object{"t": "tabs", "tabs": []program.Tab{tab("t1", "s_1")}})
		synctest.Wait()
		changed := b.Changed()
		made := make(chan string, 1)
		go func() {
			name, err := b.NewTab(w.t.Context())
			made <- fmt.Sprint(name, " ", err)
		}()
		f := e.want("new")
		fresh := tab("t5", "s_1")
		fresh.Made, fresh.Target = true, "T5"
		e.send(object{"t": "tabs", "tabs": []program.Tab{tab("t1", "s_1"), fresh}})
		<-changed
		if f.head["session"] != "s_1" || len(made) != 0 {
			w.t.Errorf("new %v, made %d", f.head, len(made))
		}
		e.send(object{"t": "made", "id": f.id(), "tab": "t5"})
		if got := <-made; got != "t5 <nil>" {
			w.t.Errorf("made %s", got)
		}
		if tabs := b.Tabs(); len(tabs) != 2 || tabs[1].Target != "T5" {
			w.t.Errorf("tabs %+v", tabs)
		}
		for name, want := range map[string]string{"t1": "forbidden", "t9": "tab_closed"} {
			if err := b.CloseTab(w.t.Context(), name); code(err) != want {
				w.t.Errorf("close %s: %v", name, err)
			}
		}
		closed := make(chan error, 1)
		go func() { closed <- b.CloseTab(w.t.Context(), "t5") }()
		g := e.want("shut")
		e.send(object{"t": "done", "id": g.id()})
		if err := <-closed; err != nil || g.head["tab"] != "t5" {
			w.t.Errorf("close: %v, %v", err, g.head)
		}
	})
}

func TestATabThatIsNotMadeIsAnError(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest())
		b := w.open("s_1")
		failed := make(chan error, 1)
		go func() { _, err := b.NewTab(w.t.Context()); failed <- err }()
		e.send(object{"t": "error", "id": e.want("new").id(), "code": "forbidden", "message": "the switch is off"})
		if err := <-failed; code(err) != "forbidden" {
			w.t.Errorf("new tab: %v", err)
		}
		go func() { _, err := b.NewTab(w.t.Context()); failed <- err }()
		e.want("new")
		_ = e.conn.CloseNow()
		if err := <-failed; code(err) != "not_connected" {
			w.t.Errorf("new tab: %v", err)
		}
	})
}
