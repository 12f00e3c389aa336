package relay_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"chaperone/relay"
	"chaperone/relay/program"
)

func TestAnotherBrowserReplacesTheFirst(t *testing.T) {
	inWorld(t, func(w *world) {
		first := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		second := w.upgrade()
		second.greet(honest().as("install-2").with(tab("t1", "")))
		first.wantClose(4002)
		second.want("paired")
		if !isDone(b) {
			w.t.Error("a session of the first browser would go on in the second")
		}
		if _, err := b.Run(w.t.Context(), clickIn("t1")); code(err) != "not_connected" {
			w.t.Errorf("run: %v", err)
		}
		w.log.want(w.t, "link.connected", "tab.shared t1",
			"link.lost replaced", "tab.unshared t1", "link.connected", "tab.shared t1")
	})
}

func TestTheSameBrowserReplacesItsOlderSocketSilently(t *testing.T) {
	inWorld(t, func(w *world) {
		first := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		second := w.upgrade()
		second.greet(honest().with(tab("t1", "s_1"), tab("t2", "")))
		first.wantClose(1000)
		second.want("paired")
		first.conn.CloseNow() //nolint:errcheck // closed already
		answered := run(w.t, b, clickIn("t1"))
		second.answer(second.want("program"), `{"tab":"t1","steps":[]}`)
		if got := <-answered; got.err != nil {
			w.t.Errorf("run: %v", got.err)
		}
		w.log.want(w.t, "link.connected", "tab.shared t1", "tab.shared t2")
	})
}

func TestAListThatAnOlderSocketSentLateIsDropped(t *testing.T) {
	inWorld(t, func(w *world) {
		first := w.pair(honest().with(tab("t1", "")))
		w.pair(honest().with(tab("t2", "")))
		_ = first.conn.Write(w.t.Context(), websocket.MessageText, []byte(`{"t":"tabs","tabs":[]}`))
		w.log.want(w.t, "link.connected", "tab.shared t1", "tab.unshared t1", "tab.shared t2")
	})
}

func TestThePersonDisconnects(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		e.send(object{"t": "disconnect"})
		e.wantClose(1000)
		if !isDone(b) || w.status().Connected {
			w.t.Error("the browser is still there")
		}
		w.log.want(w.t, "link.connected", "tab.shared t1", "link.lost forgotten", "tab.unshared t1")
	})
}

func TestTheServerDisconnects(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		answered := run(w.t, b, clickIn("t1"))
		e.want("program")
		w.hub.Disconnect(account, project, relay.ReasonReset)
		if got := <-answered; code(got.err) != "not_connected" {
			w.t.Errorf("run: %v", got.err)
		}
		if !isDone(b) || w.status().Connected {
			w.t.Error("the browser is still there")
		}
		e.wantClose(4001, "The account's connection code was replaced. Copy the new one.")
		w.hub.Disconnect(account, project, relay.ReasonReset)
		w.log.want(w.t, "link.connected", "tab.shared t1", "link.lost reset", "tab.unshared t1")
	})
}

func TestTheCeilingChanges(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest())
		w.hub.SetLevel(account, project, program.LevelRead)
		if got := e.want("level").head["level"]; got != "read" {
			w.t.Errorf("level %v", got)
		}
		if got := w.status().Level; got != program.LevelRead {
			w.t.Errorf("status level %s", got)
		}
		pass(w.t, 20*time.Second)
		if got := w.auth.last.Level; got != program.LevelRead {
			w.t.Errorf("checked level %s", got)
		}
		w.hub.SetLevel(account, "p_other", program.LevelRead)
	})
}

func TestEventsFollowTheListOfTabs(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		made, lower := tab("t3", "s_1"), tab("t1", "")
		made.Made, lower.Level = true, program.LevelRead
		w.log.want(w.t, "link.connected", "tab.shared t1")
		for _, list := range [][]program.Tab{{tab("t1", ""), tab("t2", ""), made}, {lower, tab("t2", "")}, {tab("t2", "s_1")}, {}} {
			e.send(object{"t": "tabs", "tabs": list})
			synctest.Wait()
		}
		w.log.want(w.t, "link.connected", "tab.shared t1", "tab.shared t2", "tab.shared t1", "tab.unshared t1", "tab.unshared t2")
	})
}

func TestAFloodOfTabsIsToldInSum(t *testing.T) {
	inWorld(t, func(w *world) {
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
			w.t.Errorf("a link is admitted while nobody takes events: %d", got)
		}
		close(w.log.gate)
		synctest.Wait()
		if n := len(w.log.events); n < 1024 || n > 1100 {
			w.t.Errorf("%d events", n)
		}
		if shared := w.log.replay(w.t); len(shared) != 1 || !shared["t3"] {
			w.t.Errorf("told of %v in the end", shared)
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
