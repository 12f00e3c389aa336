package relay_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chaperone/relay"
	"chaperone/relay/program"
)

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
