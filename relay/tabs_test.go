package relay_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"chaperone/relay/program"
)

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
