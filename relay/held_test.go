package relay_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"chaperone/relay"
	"chaperone/relay/endpoint"
	"chaperone/relay/program"
)

// fed is a hub whose links have no sockets: their frames are handed to them, and their ends are told when a test
// says so, so that what happens between two links can be tried in any order.
type fed struct {
	t    *testing.T
	hub  *relay.Hub
	sink *sink
	wire endpoint.Wire
}

// inFed runs test with t1 held over the link it is given, by s_1, with one command A.b under way.
func inFed(t *testing.T, test func(f *fed, link *relay.Fed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fed{t: t, hub: relay.NewHub(relay.Options{Authority: newAuthority()}), sink: &sink{}}
		link := f.seat(tab("t1", ""))
		b, err := f.hub.Open(t.Context(), relay.OpenOptions{Account: account, Project: project, Session: "s_1"})
		if err != nil {
			t.Fatal(err)
		}
		answered := hold(t.Context(), b, "t1", f.sink)
		synctest.Wait()
		f.take(link, `{"t":"held","id":%d,"tab":"t1","target":"T1"}`, f.asked(link))
		f.wire = (<-answered).wire
		send(t, f.wire, f.sink, "A.b", "{}")
		link.Sent()
		test(f, link)
		if err := f.hub.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// seat is one more socket of the same browser.
func (f *fed) seat(tabs ...program.Tab) *relay.Fed {
	f.t.Helper()
	link, err := relay.Feed(f.hub, account, project, tabs)
	if err != nil {
		f.t.Fatal(err)
	}
	return link
}

func (f *fed) take(link *relay.Fed, format string, a ...any) {
	f.t.Helper()
	if err := link.Take(fmt.Appendf(nil, format, a...)); err != nil {
		f.t.Fatal(err)
	}
}

// asked is the id of the hold that waits for the socket.
func (f *fed) asked(link *relay.Fed) (id int) {
	f.t.Helper()
	for _, frame := range link.Sent() {
		if _, err := fmt.Sscanf(string(frame), `{"t":"hold","id":%d`, &id); err == nil {
			return id
		}
	}
	f.t.Fatal("the tab is not asked for")
	return 0
}

func TestANewLinkDoesNotWaitUntilTheEndOfTheOldIsTold(t *testing.T) {
	inFed(t, func(f *fed, old *relay.Fed) {
		link := f.seat(tab("t1", "s_1"))
		f.take(link, `{"t":"held","id":%d,"tab":"t1","target":"T2"}`, f.asked(link))
		f.sink.want(f.t, "A.b failed not_connected", "asleep not_connected", "reset T2")
		f.take(old, `{"t":"event","tab":"t1","method":"Page.late"}`)
		f.take(old, `{"t":"asleep","tab":"t1","code":"tab_suspended"}`)
		f.take(old, `{"t":"held","tab":"t1","target":"T9"}`)
		old.End()
		f.sink.want(f.t)
		f.take(link, `{"t":"event","tab":"t1","method":"Page.event"}`)
		f.sink.want(f.t, "event Page.event {}")
	})
}

func TestATabThatGoesBetweenTwoLinksIsGoneOnce(t *testing.T) {
	inFed(t, func(f *fed, old *relay.Fed) {
		link := f.seat(tab("t1", "s_1"))
		id := f.asked(link)
		f.take(link, `{"t":"tabs","tabs":[]}`)
		f.take(link, `{"t":"held","id":%d,"tab":"t1","target":"T2"}`, id)
		f.take(link, `{"t":"held","tab":"t1","target":"T2"}`)
		old.End()
		f.sink.want(f.t, "A.b failed tab_closed", "gone tab_closed")
	})
}

func TestWhyATabSleepsIsTheNewLinksWord(t *testing.T) {
	inFed(t, func(f *fed, old *relay.Fed) {
		link := f.seat(tab("t1", "s_1"))
		f.take(link, `{"t":"error","id":%d,"code":"tab_suspended","message":"DevTools"}`, f.asked(link))
		old.End()
		f.sink.want(f.t, "A.b failed not_connected", "asleep not_connected", "asleep tab_suspended")
		if err := f.wire.Send(f.t.Context(), "", "A.c", nil, f.sink.reply("A.c")); code(err) != "tab_suspended" {
			f.t.Errorf("send: %v", err)
		}
		link.End()
		if err := f.wire.Send(f.t.Context(), "", "A.c", nil, f.sink.reply("A.c")); code(err) != "not_connected" {
			f.t.Errorf("send: %v", err)
		}
	})
}

func TestACommandThatWaitedForRoomIsNotSentToATabThatSleeps(t *testing.T) {
	inFed(t, func(f *fed, link *relay.Fed) {
		for range 128 {
			send(f.t, f.wire, f.sink, "A.b", "{}")
		}
		sent := make(chan error, 1)
		go func() { sent <- f.wire.Send(f.t.Context(), "", "A.waits", nil, f.sink.reply("A.waits")) }()
		synctest.Wait()
		f.take(link, `{"t":"asleep","tab":"t1","code":"tab_suspended"}`)
		link.Sent()
		if err := <-sent; code(err) != "tab_suspended" {
			f.t.Errorf("send: %v", err)
		}
		if frames := link.Sent(); len(frames) != 0 {
			f.t.Errorf("sent all the same: %s", frames)
		}
		f.take(link, `{"t":"held","tab":"t1","target":"T2"}`)
		ctx, cancel := context.WithTimeout(f.t.Context(), time.Second)
		defer cancel()
		for i := range 128 { // it has given its room back
			if err := f.wire.Send(ctx, "", "A.c", nil, f.sink.reply("A.c")); err != nil {
				f.t.Fatalf("command %d: %v", i, err)
			}
		}
	})
}

// The fuzzer's world is the same, without a fake clock and with two sessions.

// feed is a link on which s_1 holds t1 and s_2 holds t2, each with one command under way (ids 3 and 4).
func feed(t *testing.T, hub *relay.Hub) (link *relay.Fed, one, two *sink) {
	t.Helper()
	link, err := relay.Feed(hub, account, project, []program.Tab{tab("t1", ""), tab("t2", "")})
	if err != nil {
		t.Fatal(err)
	}
	link.Sent() // paired
	one, two = &sink{}, &sink{}
	wires := make([]endpoint.Wire, 0, 2)
	for i, s := range []*sink{one, two} {
		session, name := fmt.Sprint("s_", i+1), fmt.Sprint("t", i+1)
		b, err := hub.Open(t.Context(), relay.OpenOptions{Account: account, Project: project, Session: session})
		if err != nil {
			t.Fatal(err)
		}
		answered := hold(t.Context(), b, name, s)
		for len(link.Sent()) == 0 {
			if len(answered) > 0 {
				t.Fatalf("hold: %v", (<-answered).err)
			}
			runtime.Gosched()
		}
		if err := link.Take(fmt.Appendf(nil, `{"t":"held","id":%d,"tab":%q,"target":"T"}`, i+1, name)); err != nil {
			t.Fatal(err)
		}
		got := <-answered
		if got.err != nil {
			t.Fatal(got.err)
		}
		wires = append(wires, got.wire)
	}
	send(t, wires[0], one, "A.b", "{}")
	send(t, wires[1], two, "A.b", "{}")
	return link, one, two
}
