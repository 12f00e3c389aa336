package relay_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"chaperone/relay"
	"chaperone/relay/program"
)

func TestALinkIsDeadAfterAMinutesSilence(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest())
		pass(t, time.Minute-time.Millisecond)
		e.send(object{"t": "ping"})
		e.want("pong")
		pass(t, time.Minute-time.Millisecond)
		if !w.status().Connected {
			t.Error("dead before a minute had passed since the ping")
		}
		pass(t, time.Millisecond)
		if w.status().Connected {
			t.Error("alive after a minute's silence")
		}
		w.log.want(t, "link.connected", "link.lost lost")
	})
}

func TestALargeMessageOnASlowLineIsASignOfLife(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest())
		out, err := e.conn.Writer(t.Context(), websocket.MessageText)
		if err != nil {
			t.Fatal(err)
		}
		part := []byte(strings.Repeat(" ", 8<<10)) // more than the client's write buffer
		for range 4 {
			pass(t, 40*time.Second)
			if _, err := out.Write(part); err != nil {
				t.Fatalf("the link ended under the message: %v", err)
			}
		}
		if _, err := out.Write([]byte(`{"t":"ping"}`)); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		e.want("pong")
	})
}

func TestASignOfLifeCountsThatCameWhileTheAuthorityWasAsked(t *testing.T) {
	for range 8 { // each time the watch finds two things to do and takes either
		inWorld(t, func(t *testing.T, w *world) {
			w.auth.slow = 5 * time.Second
			e := w.pair(honest())
			pass(t, time.Second)
			e.send(object{"t": "ping"})
			e.want("pong")
			pass(t, time.Minute-500*time.Millisecond)
			e.send(object{"t": "ping"})
			e.want("pong")
			pass(t, 10*time.Second)
			if !w.status().Connected {
				t.Fatal("taken for dead")
			}
		})
	}
}

func TestTheAuthorityIsAskedAtEveryHeartbeat(t *testing.T) {
	tests := map[string]struct {
		err    error
		close  int
		reason string
		ended  bool
	}{
		"access that is gone revokes":     {errors.New("not a member"), 4001, "revoked", true},
		"a code of the contract revokes":  {&program.Error{Code: "forbidden"}, 4001, "revoked", true},
		"a server in trouble asks again":  {&program.Error{Code: "unavailable"}, 1001, "trouble", false},
		"a question that took too long":   {context.DeadlineExceeded, 1001, "trouble", false},
		"a question that was interrupted": {context.Canceled, 4001, "revoked", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				e := w.pair(honest())
				b := w.open("s_1")
				pass(t, 20*time.Second)
				if w.auth.asked != 1 || w.auth.last.Token != token || w.auth.last.Project != project {
					t.Errorf("asked %d times about %+v", w.auth.asked, w.auth.last)
				}
				w.auth.set(func(a *authority) { a.check = tt.err })
				e.send(object{"t": "ping"})
				e.want("pong")
				pass(t, 20*time.Second)
				e.wantClose(tt.close)
				if got := isDone(b); got != tt.ended {
					t.Errorf("browser done %v, want %v", got, tt.ended)
				}
				w.log.want(t, "link.connected", "link.lost "+tt.reason)
			})
		})
	}
}

func TestALinkLivesEightHours(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		for range 8 * 60 * 2 {
			if !w.status().Connected {
				t.Fatal("ended before its time")
			}
			e.send(object{"t": "ping"})
			e.want("pong")
			pass(t, 30*time.Second)
		}
		e.wantClose(4003)
		again := w.pair(honest().with(tab("t1", "s_1")))
		answered := run(t, b, clickIn("t1"))
		again.answer(again.want("program"), `{"tab":"t1","steps":[]}`)
		if got := <-answered; got.err != nil {
			t.Errorf("run after renewal: %v", got.err)
		}
		w.log.want(t, "link.connected", "tab.shared t1", "link.lost expired", "link.connected")
	})
}

func TestFramesThatTheProtocolDoesNotHaveCloseTheLink(t *testing.T) {
	tests := map[string]struct {
		send  func(e *extension)
		close int
	}{
		"an unknown kind":          {func(e *extension) { e.send(object{"t": "eval"}) }, 4004},
		"no kind":                  {func(e *extension) { e.send(object{}) }, 4004},
		"a hello after pairing":    {func(e *extension) { e.send(honest().hello(nonce(7))) }, 4004},
		"a header cut off":         {func(e *extension) { e.raw(`{"t":"ping"`) }, 4004},
		"an empty message":         {func(e *extension) { e.raw("") }, 4004},
		"an id that is a text":     {func(e *extension) { e.raw(`{"t":"result","id":"1"}`) }, 4004},
		"a tab without a name":     {func(e *extension) { e.send(object{"t": "tabs", "tabs": []program.Tab{tab("", "")}}) }, 4004},
		"a tab of another level":   {func(e *extension) { e.raw(`{"t":"tabs","tabs":[{"id":"t1","level":"root"}]}`) }, 4004},
		"too many tabs":            {func(e *extension) { e.send(object{"t": "tabs", "tabs": manyTabs(129)}) }, 4004},
		"a header over a mebibyte": {func(e *extension) { e.raw(`{"t":"ping","x":"` + strings.Repeat("x", 1<<20) + `"}`) }, 4004},
		"a message over 16 MiB":    {func(e *extension) { e.long(16<<20 + 1) }, 1009},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				e := w.pair(honest())
				go tt.send(e)
				e.wantClose(tt.close)
			})
		})
	}
}

func TestFramesJustInsideTheBoundsAreTaken(t *testing.T) {
	tests := map[string]func(e *extension){
		"a message of 16 MiB":       func(e *extension) { e.long(16 << 20) },
		"an answer to nothing":      func(e *extension) { e.send(object{"t": "result", "id": 99}, "{}") },
		"an unknown header field":   func(e *extension) { e.send(object{"t": "ping", "load": 3}); e.want("pong") },
		"as many tabs as there are": func(e *extension) { e.send(object{"t": "tabs", "tabs": manyTabs(128)}) },
	}
	for name, send := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				e := w.pair(honest())
				send(e)
				e.send(object{"t": "ping"})
				e.want("pong")
			})
		})
	}
}

// long sends a frame of n bytes that answers nothing.
func (e *extension) long(n int) {
	head := `{"t":"result","id":99}` + "\n"
	_ = e.conn.Write(context.Background(), websocket.MessageText, []byte(head+strings.Repeat("x", n-len(head))))
}

func manyTabs(n int) []program.Tab {
	tabs := make([]program.Tab, n)
	for i := range tabs {
		tabs[i] = tab("t"+strings.Repeat("1", i+1), "")
	}
	return tabs
}

func TestAnotherBrowserReplacesTheFirst(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		first := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		second := w.upgrade()
		second.greet(honest().as("install-2").with(tab("t1", "")))
		first.wantClose(4002)
		second.want("paired")
		if !isDone(b) {
			t.Error("a session of the first browser would go on in the second")
		}
		if _, err := b.Run(t.Context(), clickIn("t1")); code(err) != "not_connected" {
			t.Errorf("run: %v", err)
		}
		w.log.want(t, "link.connected", "tab.shared t1",
			"link.lost replaced", "tab.unshared t1", "link.connected", "tab.shared t1")
	})
}

func TestTheSameBrowserReplacesItsOlderSocketSilently(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		first := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		second := w.upgrade()
		second.greet(honest().with(tab("t1", "s_1"), tab("t2", "")))
		first.wantClose(1000)
		second.want("paired")
		first.conn.CloseNow() //nolint:errcheck // closed already
		answered := run(t, b, clickIn("t1"))
		second.answer(second.want("program"), `{"tab":"t1","steps":[]}`)
		if got := <-answered; got.err != nil {
			t.Errorf("run: %v", got.err)
		}
		w.log.want(t, "link.connected", "tab.shared t1", "tab.shared t2")
	})
}

func TestAListThatAnOlderSocketSentLateIsDropped(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		first := w.pair(honest().with(tab("t1", "")))
		w.pair(honest().with(tab("t2", "")))
		_ = first.conn.Write(t.Context(), websocket.MessageText, []byte(`{"t":"tabs","tabs":[]}`))
		w.log.want(t, "link.connected", "tab.shared t1", "tab.unshared t1", "tab.shared t2")
	})
}

func TestThePersonDisconnects(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		e.send(object{"t": "disconnect"})
		e.wantClose(1000)
		if !isDone(b) || w.status().Connected {
			t.Error("the browser is still there")
		}
		w.log.want(t, "link.connected", "tab.shared t1", "link.lost forgotten", "tab.unshared t1")
	})
}

func TestTheServerDisconnects(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		answered := run(t, b, clickIn("t1"))
		e.want("program")
		w.hub.Disconnect(account, project, relay.ReasonReset)
		if got := <-answered; code(got.err) != "not_connected" {
			t.Errorf("run: %v", got.err)
		}
		if !isDone(b) || w.status().Connected {
			t.Error("the browser is still there")
		}
		e.wantClose(4001)
		w.hub.Disconnect(account, project, relay.ReasonReset)
		w.log.want(t, "link.connected", "tab.shared t1", "link.lost reset", "tab.unshared t1")
	})
}

func TestTheCeilingChanges(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest())
		w.hub.SetLevel(account, project, program.LevelRead)
		if got := e.want("level").head["level"]; got != "read" {
			t.Errorf("level %v", got)
		}
		if got := w.status().Level; got != program.LevelRead {
			t.Errorf("status level %s", got)
		}
		pass(t, 20*time.Second)
		if got := w.auth.last.Level; got != program.LevelRead {
			t.Errorf("checked level %s", got)
		}
		w.hub.SetLevel(account, "p_other", program.LevelRead)
	})
}

func TestEventsFollowTheListOfTabs(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		made, lower := tab("t3", "s_1"), tab("t1", "")
		made.Made, lower.Level = true, program.LevelRead
		w.log.want(t, "link.connected", "tab.shared t1")
		for _, list := range [][]program.Tab{{tab("t1", ""), tab("t2", ""), made}, {lower, tab("t2", "")}, {tab("t2", "s_1")}, {}} {
			e.send(object{"t": "tabs", "tabs": list})
			synctest.Wait()
		}
		w.log.want(t, "link.connected", "tab.shared t1", "tab.shared t2", "tab.shared t1", "tab.unshared t1", "tab.unshared t2")
	})
}

func TestAFloodOfTabsIsToldInSum(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.log.gate = make(chan struct{})
		e := w.pair(honest())
		for range 700 {
			e.send(object{"t": "tabs", "tabs": []program.Tab{tab("t1", "")}})
			e.send(object{"t": "tabs", "tabs": []program.Tab{tab("t2", "")}})
		}
		e.send(object{"t": "tabs", "tabs": []program.Tab{tab("t3", "")}})
		e.send(object{"t": "ping"})
		e.want("pong")
		if got := w.dialStatus(host, map[string][]string{"Origin": {origin}}); got != 503 {
			t.Errorf("a link is admitted while nobody takes events: %d", got)
		}
		close(w.log.gate)
		synctest.Wait()
		if n := len(w.log.events); n < 1024 || n > 1100 {
			t.Errorf("%d events", n)
		}
		if shared := w.log.replay(t); len(shared) != 1 || !shared["t3"] {
			t.Errorf("told of %v in the end", shared)
		}
	})
}

// replay answers the tabs that are shared according to the events, none of which may contradict an earlier one.
func (l *eventLog) replay(t *testing.T) map[string]bool {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	shared := map[string]bool{}
	for _, e := range l.events {
		kind, id, _ := strings.Cut(e, " ")
		if tabbed := strings.HasPrefix(kind, "tab."); !tabbed {
			continue
		}
		if shared[id] == (kind == "tab.shared") {
			t.Fatalf("%s, when it was so already", e)
		}
		if shared[id] = kind == "tab.shared"; !shared[id] {
			delete(shared, id)
		}
	}
	return shared
}

func TestABrowserThatDoesNotReadIsCutOff(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.pair(honest())
		b := w.open("s_1")
		large := clickIn("t1")
		large.Steps = []program.Step{{Call: "Input.insertText", Params: []byte(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`)}}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var waiting []<-chan ran
		for range 15 {
			waiting = append(waiting, runIn(ctx, b, large))
			synctest.Wait()
		}
		if _, err := b.Run(ctx, large); code(err) != "busy" {
			t.Errorf("over 16 MiB of waiting frames: %v", err)
		}
		pass(t, 30*time.Second)
		for _, answered := range waiting {
			if got := <-answered; code(got.err) != "not_connected" {
				t.Errorf("run: %v", got.err)
			}
		}
		w.log.want(t, "link.connected", "link.lost lost")
	})
}

func TestAHubThatClosesEndsEverything(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		silent := w.upgrade()
		synctest.Wait()
		e := w.pair(honest())
		b := w.open("s_1")
		closed := make(chan error, 1)
		go func() { closed <- w.hub.Close(context.Background()) }()
		e.wantClose(1001)
		silent.wantClose(-1)
		if err := <-closed; err != nil || !isDone(b) {
			t.Errorf("close: %v, browser done %v", err, isDone(b))
		}
		if got := w.dialStatus(host, map[string][]string{"Origin": {origin}}); got != 503 {
			t.Errorf("a closed hub admits: %d", got)
		}
		if _, err := w.hub.Open(t.Context(), relay.OpenOptions{Account: account, Project: project, Session: "s_2"}); code(err) != "not_connected" {
			t.Errorf("a closed hub opens: %v", err)
		}
		w.log.want(t, "link.connected", "link.lost shutdown")
	})
}

func TestCloseGivesUpWhenItsContextEnds(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.pair(honest()) // reads nothing any more, so that the close handshake has to time out
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.hub.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close: %v", err)
		}
	})
}
