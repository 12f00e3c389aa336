package relay_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chaperone/relay/program"
)

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
		const most = 8 << 10
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

func TestCommandsThatATabDoesNotAnswerKeepNoOtherTabBack(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", ""), tab("t2", "")))
		one, first := w.held(e, w.open("s_1"), "t1")
		two, second := w.held(e, w.open("s_2"), "t2")
		for range 8 << 10 {
			send(w.t, one, first, "A.b", "{}")
			e.want("cdp")
		}
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		if err := two.Send(ctx, "", "A.two", nil, second.reply("A.two")); err != nil {
			w.t.Errorf("the other tab: %v", err)
		}
	})
}

func TestATabThatTellsMoreThanItsClientsCanBeToldRests(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		wire, s := w.held(e, w.open("s_1"), "t1")
		s.fill(true)
		e.event("t1", "", "Page.event", "{}")
		if got := e.want("drop").head["tab"]; got != "t1" {
			w.t.Errorf("%v is let go", got)
		}
		s.want(w.t, "event Page.event {}", "asleep tab_suspended")
		if err := wire.Send(w.t.Context(), "", "A.b", nil, s.reply("A.b")); code(err) != "tab_suspended" {
			w.t.Errorf("send: %v", err)
		}
		s.fill(false)
		for range 4 { // the list says that it is ready, and it rests all the same
			e.send(object{"t": "tabs", "tabs": []program.Tab{tab("t1", "s_1")}})
		}
		synctest.Wait()
		<-time.After(5 * time.Second)
		e.send(object{"t": "tabs", "tabs": []program.Tab{tab("t1", "s_1")}})
		e.attach(e.want("hold"), "T1")
		s.want(w.t, "reset T1")
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
