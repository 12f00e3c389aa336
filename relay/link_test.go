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
	inWorld(t, func(w *world) {
		e := w.pair(honest())
		pass(w.t, time.Minute-time.Millisecond)
		e.send(object{"t": "ping"})
		e.want("pong")
		pass(w.t, time.Minute-time.Millisecond)
		if !w.status().Connected {
			w.t.Error("dead before a minute had passed since the ping")
		}
		pass(w.t, time.Millisecond)
		if w.status().Connected {
			w.t.Error("alive after a minute's silence")
		}
		w.log.want(w.t, "link.connected", "link.lost lost")
	})
}

func TestALargeMessageOnASlowLineIsASignOfLife(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest())
		out, err := e.conn.Writer(w.t.Context(), websocket.MessageText)
		if err != nil {
			w.t.Fatal(err)
		}
		part := []byte(strings.Repeat(" ", 8<<10)) // more than the client's write buffer
		for range 4 {
			pass(w.t, 40*time.Second)
			if _, err := out.Write(part); err != nil {
				w.t.Fatalf("the link ended under the message: %v", err)
			}
		}
		if _, err := out.Write([]byte(`{"t":"ping"}`)); err != nil {
			w.t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			w.t.Fatal(err)
		}
		e.want("pong")
	})
}

func TestASignOfLifeCountsThatCameWhileTheAuthorityWasAsked(t *testing.T) {
	for range 8 { // each time the watch finds two things to do and takes either
		inWorld(t, func(w *world) {
			w.auth.slow = 5 * time.Second
			e := w.pair(honest())
			pass(w.t, time.Second)
			e.send(object{"t": "ping"})
			e.want("pong")
			pass(w.t, time.Minute-500*time.Millisecond)
			e.send(object{"t": "ping"})
			e.want("pong")
			pass(w.t, 10*time.Second)
			if !w.status().Connected {
				w.t.Fatal("taken for dead")
			}
			pass(w.t, time.Minute)
			if w.status().Connected {
				w.t.Fatal("alive after a minute's silence")
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
			inWorld(t, func(w *world) {
				e := w.pair(honest())
				b := w.open("s_1")
				pass(w.t, 20*time.Second)
				if w.auth.asked != 1 || w.auth.last.Token != token || w.auth.last.Project != project {
					w.t.Errorf("asked %d times about %+v", w.auth.asked, w.auth.last)
				}
				w.auth.set(func(a *authority) { a.check = tt.err })
				e.send(object{"t": "ping"})
				e.want("pong")
				pass(w.t, 20*time.Second)
				e.wantClose(tt.close)
				if got := isDone(b); got != tt.ended {
					w.t.Errorf("browser done %v, want %v", got, tt.ended)
				}
				w.log.want(w.t, "link.connected", "link.lost "+tt.reason)
			})
		})
	}
}

func TestALinkLivesEightHours(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		for range 8 * 60 * 2 {
			if !w.status().Connected {
				w.t.Fatal("ended before its time")
			}
			e.send(object{"t": "ping"})
			e.want("pong")
			pass(w.t, 30*time.Second)
		}
		e.wantClose(4003)
		again := w.pair(honest().with(tab("t1", "s_1")))
		answered := run(w.t, b, clickIn("t1"))
		again.answer(again.want("program"), `{"tab":"t1","steps":[]}`)
		if got := <-answered; got.err != nil {
			w.t.Errorf("run after renewal: %v", got.err)
		}
		w.log.want(w.t, "link.connected", "tab.shared t1", "link.lost expired", "link.connected")
	})
}

func TestFramesThatTheProtocolDoesNotHaveCloseTheLink(t *testing.T) {
	tests := map[string]struct {
		send  func(e *extension)
		close int
	}{
		"an unknown kind":          {func(e *extension) { e.send(object{"t": "eval"}) }, 4004},
		"no kind":                  {func(e *extension) { e.send(object{}) }, 4004},
		"a hello after pairing":    {func(e *extension) { e.send(honest().hello(nonce())) }, 4004},
		"a header cut off":         {func(e *extension) { e.raw(`{"t":"ping"`) }, 4004},
		"an empty message":         {func(e *extension) { e.raw("") }, 4004},
		"an id that is a text":     {func(e *extension) { e.raw(`{"t":"result","id":"1"}`) }, 4004},
		"a tab without a name":     {func(e *extension) { e.send(object{"t": "tabs", "tabs": []program.Tab{tab("", "")}}) }, 4004},
		"a tab of another level":   {func(e *extension) { e.raw(`{"t":"tabs","tabs":[{"id":"t1","level":"root"}]}`) }, 4004},
		"too many tabs":            {func(e *extension) { e.send(object{"t": "tabs", "tabs": manyTabs(129)}) }, 1009},
		"a header over a mebibyte": {func(e *extension) { e.raw(`{"t":"ping","x":"` + strings.Repeat("x", 1<<20) + `"}`) }, 1009},
		"a message over 16 MiB":    {func(e *extension) { e.long(16<<20 + 1) }, 1009},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
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
			inWorld(t, func(w *world) {
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

func TestABrowserThatDoesNotReadIsCutOff(t *testing.T) {
	inWorld(t, func(w *world) {
		w.pair(honest())
		b := w.open("s_1")
		large := clickIn("t1")
		large.Steps = []program.Step{{Call: "Input.insertText", Params: []byte(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`)}}
		ctx, cancel := context.WithCancel(w.t.Context())
		defer cancel()
		waiting := make([]<-chan ran, 0, 7)
		for range 7 {
			waiting = append(waiting, runIn(ctx, b, large))
			synctest.Wait()
		}
		if _, err := b.Run(ctx, large); code(err) != "busy" {
			w.t.Errorf("over 8 MiB of waiting frames: %v", err)
		}
		pass(w.t, 30*time.Second)
		for _, answered := range waiting {
			if got := <-answered; code(got.err) != "not_connected" {
				w.t.Errorf("run: %v", got.err)
			}
		}
		w.log.want(w.t, "link.connected", "link.lost lost")
	})
}

func TestABrowserThatReadsMayBeToldMuch(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		large := clickIn("t1")
		large.Steps = []program.Step{{Call: "Input.insertText", Params: []byte(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`)}}
		for range 9 { // MiB, more than may wait at once
			answered := run(w.t, b, large)
			e.answer(e.want("program"), `{"tab":"t1"}`)
			if got := <-answered; got.err != nil {
				w.t.Fatalf("run: %v", got.err)
			}
		}
	})
}

func TestAHubThatClosesEndsEverything(t *testing.T) {
	inWorld(t, func(w *world) {
		silent := w.upgrade()
		synctest.Wait()
		e := w.pair(honest())
		b := w.open("s_1")
		closed, start := make(chan error, 1), time.Now()
		go func() { closed <- w.hub.Close(context.Background()) }()
		e.wantClose(1001)
		silent.wantClose(-1)
		if err := <-closed; err != nil || !isDone(b) || time.Since(start) != 0 {
			w.t.Errorf("close: %v after %s, browser done %v", err, time.Since(start), isDone(b))
		}
		if got := w.dialStatus(host, map[string][]string{"Origin": {origin}}); got != 503 {
			w.t.Errorf("a closed hub admits: %d", got)
		}
		if _, err := w.hub.Open(w.t.Context(), relay.OpenOptions{Account: account, Project: project, Session: "s_2"}); code(err) != "not_connected" {
			w.t.Errorf("a closed hub opens: %v", err)
		}
		w.log.want(w.t, "link.connected", "link.lost shutdown")
	})
}

func TestCloseGivesUpWhenItsContextEnds(t *testing.T) {
	inWorld(t, func(w *world) {
		w.pair(honest()) // reads nothing any more, so that the close handshake has to time out
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		if err := w.hub.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			w.t.Errorf("close: %v", err)
		}
	})
}
