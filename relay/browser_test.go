package relay_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"chaperone/relay"
	"chaperone/relay/program"
)

func code(err error) string {
	if e, ok := errors.AsType[*program.Error](err); ok {
		return e.Code
	}
	return ""
}

func isDone(b *relay.Browser) bool {
	synctest.Wait()
	select {
	case <-b.Done():
		return true
	default:
		return false
	}
}

func TestASessionSeesAndDrivesOnlyItsTabs(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest())
		b := w.open("s_1")
		w.open("s_2")
		e.send(object{"t": "tabs", "tabs": []program.Tab{tab("t1", "s_1"), tab("t2", "s_2"), tab("t3", "")}})
		synctest.Wait()
		if got := b.Tabs(); len(got) != 2 || got[0].ID != "t1" || got[1].ID != "t3" {
			w.t.Errorf("tabs %+v", got)
		}
		if _, err := b.Run(w.t.Context(), clickIn("t2")); code(err) != "forbidden" {
			w.t.Errorf("another session's tab: %v", err)
		}
		if err := b.Cast(w.t.Context(), program.CastOptions{Tab: "t2"}, nil); code(err) != "forbidden" {
			w.t.Errorf("another session's tab: %v", err)
		}
		answered := run(w.t, b, clickIn("t9"))
		e.answer(e.want("program"), `{"tab":"t9"}`)
		if got := <-answered; got.err != nil {
			w.t.Errorf("a tab that is not known yet: %v", got.err)
		}
	})
}

func TestOpenWantsALiveLinkAndAFreshSession(t *testing.T) {
	inWorld(t, func(w *world) {
		open := func(o relay.OpenOptions) string {
			_, err := w.hub.Open(w.t.Context(), o)
			return code(err)
		}
		whole := relay.OpenOptions{Account: account, Project: project, Session: "s_1"}
		if got := open(whole); got != "not_connected" {
			w.t.Errorf("without a link: %q", got)
		}
		e := w.pair(honest())
		other := whole
		other.Account = "a_2"
		if got := open(other); got != "not_connected" {
			w.t.Errorf("another account: %q", got)
		}
		if got := open(whole); got != "" {
			w.t.Errorf("with a link: %q", got)
		}
		if got := open(whole); got != "bad_request" {
			w.t.Errorf("a second time: %q", got)
		}
		_ = e.conn.CloseNow()
		synctest.Wait()
		whole.Session = "s_2"
		if got := open(whole); got != "not_connected" {
			w.t.Errorf("with a lost link: %q", got)
		}
	})
}

func TestCloseWaitsForTheExtension(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		answered := run(w.t, b, clickIn("t1"))
		e.want("program")
		closed := make(chan error, 1)
		go func() { closed <- b.Close(context.Background()) }()
		f := e.either("end", "cancel")
		if got := <-answered; code(got.err) != "session_ended" {
			w.t.Errorf("the program under way: %v", got.err)
		}
		if f.head["session"] != "s_1" || !isDone(b) || len(closed) != 0 {
			w.t.Errorf("header %v, done %v, closed %d", f.head, isDone(b), len(closed))
		}
		e.send(object{"t": "done", "id": f.id()})
		if err := <-closed; err != nil {
			w.t.Errorf("close: %v", err)
		}
		if err := b.Close(w.t.Context()); err != nil {
			w.t.Errorf("second close: %v", err)
		}
		if _, err := b.Run(w.t.Context(), clickIn("t1")); code(err) != "session_ended" {
			w.t.Errorf("run after close: %v", err)
		}
		w.open("s_1")
	})
}

// either reads two frames, of these kinds in any order, and answers the first kind's.
func (e *extension) either(kind, other string) frame {
	e.t.Helper()
	first, second := e.next(), e.next()
	if first.head["t"] == other {
		first, second = second, first
	}
	if first.head["t"] != kind || second.head["t"] != other {
		e.t.Fatalf("frames %v and %v, want %s and %s", first.head, second.head, kind, other)
	}
	return first
}

func TestCloseGivesUpWithItsContextOrTheLink(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest())
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		if err := w.open("s_1").Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			w.t.Errorf("with a context that ended: %v", err)
		}
		b := w.open("s_2")
		closed := make(chan error, 1)
		go func() { closed <- b.Close(context.Background()) }()
		e.want("end")
		e.want("end")
		_ = e.conn.CloseNow()
		if err := <-closed; err != nil {
			w.t.Errorf("with a link that ended: %v", err)
		}
	})
}

func TestSessionsThatNobodyHasAreEndedWhenTheBrowserComesBack(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest())
		kept, gone := w.open("s_kept"), w.open("s_gone")
		_ = e.conn.CloseNow()
		synctest.Wait()
		if err := gone.Close(w.t.Context()); err != nil {
			w.t.Errorf("close without a link: %v", err)
		}
		again := w.pair(honest().with(tab("t1", "s_kept"), tab("t2", "s_gone"), tab("t3", "s_gone"), tab("t4", "s_older")))
		for _, session := range []string{"s_gone", "s_older"} {
			if f := again.want("end"); f.head["session"] != session || f.id() != nil {
				w.t.Errorf("ended %v, want %s", f.head, session)
			}
		}
		again.send(object{"t": "ping"})
		again.want("pong")
		if got := kept.Tabs(); len(got) != 1 || got[0].ID != "t1" {
			w.t.Errorf("tabs %+v", got)
		}
	})
}
