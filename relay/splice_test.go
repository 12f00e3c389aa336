package relay_test

import (
	"bytes"
	"context"
	"math"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"chaperone/relay"
	"chaperone/relay/endpoint"
)

// rawRoad is a held tab, with its extension on a bare socket.
type rawRoad struct {
	wire endpoint.Wire
	link *rawLink
}

func openRawRoad(tb testing.TB, s endpoint.Sink) *rawRoad {
	tb.Helper()
	hub := relay.NewHub(relay.Options{
		Authority: newAuthority(), ExtensionID: extensionID, Host: func(string) bool { return true },
	})
	server := httptest.NewServer(hub)
	tb.Cleanup(func() {
		if err := hub.Close(context.Background()); err != nil {
			tb.Errorf("close hub: %v", err)
		}
		server.Close()
	})
	l := dialRaw(tb, server.Listener.Addr().String(), honest().with(tab("t1", "")))
	tb.Cleanup(func() { _ = l.conn.Close() })
	browser, err := hub.Open(tb.Context(), relay.OpenOptions{Account: account, Project: project, Session: "s_1"})
	if err != nil {
		tb.Fatal(err)
	}
	wire, err := holdRaw(tb, browser, l, s)
	if err != nil {
		tb.Fatal(err)
	}
	return &rawRoad{wire: wire, link: l}
}

// ask sends a command, has it answered with body and waits for that.
func (r *rawRoad) ask(tb testing.TB, body []byte) {
	tb.Helper()
	answered := make(chan []byte, 1)
	err := r.wire.Send(tb.Context(), "", "A.b", []byte("{}"), func(result []byte, err error) {
		if err != nil {
			tb.Errorf("reply: %v", err)
		}
		answered <- result
	})
	if err != nil {
		tb.Fatal(err)
	}
	text, err := r.link.readText()
	if err != nil {
		tb.Fatal(err)
	}
	if err := r.link.writeParts([]byte(`{"t":"reply","id":`+idOf(text)+"}\n"), body); err != nil {
		tb.Fatal(err)
	}
	if got := <-answered; len(got) != len(body) {
		tb.Fatalf("a result of %d bytes, want %d", len(got), len(body))
	}
}

// idOf is the id in a command's header.
func idOf(text []byte) string {
	id, _, _ := bytes.Cut(text[len(`{"t":"cdp","id":`):], []byte(","))
	return string(id)
}

func jsonOf(size int) []byte {
	return []byte(`{"x":"` + strings.Repeat("x", size-len(`{"x":""}`)) + `"}`)
}

// A large reply is copied once, out of the memory that links share for reading, and then handed on as it is.
func TestAReplyCostsOneCopyHoweverLargeItIs(t *testing.T) {
	road := openRawRoad(t, &sink{})
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // else a collection would empty the shared memory
	smallBytes, smallAllocs := cost(t, road, jsonOf(1<<10))
	largeBytes, largeAllocs := cost(t, road, jsonOf(5<<20))
	if more := largeAllocs - smallAllocs; more > 4 {
		t.Errorf("%d allocations for 5 MiB, %d for 1 KiB", largeAllocs, smallAllocs)
	}
	if most := int64(5<<20 + 64<<10); largeBytes-smallBytes > most {
		t.Errorf("%d bytes allocated for a reply of 5 MiB, at most %d", largeBytes, most)
	}
}

// cost is the least that a reply of this body has cost: the race detector empties pools now and then.
func cost(t *testing.T, road *rawRoad, body []byte) (size, count int64) {
	t.Helper()
	size, count = math.MaxInt64, math.MaxInt64
	for range 8 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		road.ask(t, body)
		runtime.ReadMemStats(&after)
		size = min(size, int64(after.TotalAlloc-before.TotalAlloc))
		count = min(count, int64(after.Mallocs-before.Mallocs))
	}
	return size, count
}
