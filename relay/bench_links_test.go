package relay_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"chaperone/relay"
	"chaperone/relay/endpoint"
	"chaperone/relay/program"
)

const (
	benchLinks    = 1000
	linkBudget    = 60 << 10 // bytes of the server's memory a link
	forwardBudget = 5 * time.Millisecond
)

// BenchmarkThousandLinks pairs a thousand links over loopback sockets, all with their heartbeats and one in a hundred
// with a CDP client that sends a command of 1 KB every 10 ms. It reports what a link costs and how long
// a command takes from Send to the extension's socket, and an event from there to the sink.
func BenchmarkThousandLinks(b *testing.B) {
	hub, address := benchHub(b, benchLinks)
	before := memory()
	links := pairMany(b, address, benchLinks)
	each := (memory() - before) / benchLinks
	if each > linkBudget {
		b.Errorf("a link costs %d bytes, at most %d", each, linkBudget)
	}
	stop := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() { beat(links, stop) })
	var all []time.Duration
	for b.Loop() {
		all = append(all, forward(b, hub, links, 3*time.Second)...)
	}
	close(stop)
	beating.Wait()
	slices.Sort(all)
	b.ReportMetric(float64(each)/1024, "KB/link")
	b.ReportMetric(milliseconds(all[len(all)/2]), "p50-ms")
	b.ReportMetric(milliseconds(all[len(all)*99/100]), "p99-ms")
	b.ReportMetric(float64(len(all)), "frames")
	b.ReportMetric(0, "ns/op")
	if p99 := all[len(all)*99/100]; p99 > forwardBudget {
		b.Errorf("p99 %s, at most %s", p99, forwardBudget)
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// benchHub serves n projects, p_0 and so on.
func benchHub(b *testing.B, n int) (*relay.Hub, string) {
	b.Helper()
	auth := newAuthority()
	for i := range n {
		auth.projects[fmt.Sprint("p_", i)] = nil
	}
	hub := relay.NewHub(relay.Options{Authority: auth, ExtensionID: extensionID, Host: func(string) bool { return true }})
	server := httptest.NewServer(hub)
	b.Cleanup(func() {
		if err := hub.Close(context.Background()); err != nil {
			b.Errorf("close hub: %v", err)
		}
		server.Close()
	})
	return hub, server.Listener.Addr().String()
}

// pairMany pairs in turn: so many may not be unproved at once.
func pairMany(b *testing.B, address string, n int) []*rawLink {
	b.Helper()
	links := make([]*rawLink, n)
	for i := range links {
		p := honest().as(fmt.Sprint("install-", i)).with(tab("t1", ""), tab("t2", ""))
		p.project = fmt.Sprint("p_", i)
		links[i] = dialRaw(b, address, p)
		links[i].idle()
	}
	b.Cleanup(func() {
		for _, l := range links {
			_ = l.conn.Close()
		}
	})
	return links
}

// memory is what the process holds in heap and stacks, after a collection.
func memory() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// beat sends each idle link's ping every 20 s, evenly spread.
func beat(links []*rawLink, stop <-chan struct{}) {
	idle := links[len(links)/100:]
	next := time.NewTicker(20 * time.Second / time.Duration(len(idle)))
	defer next.Stop()
	for i := 0; ; i++ {
		select {
		case <-next.C:
			if idle[i%len(idle)].writeText([]byte(`{"t":"ping"}`)) != nil {
				return
			}
		case <-stop:
			return
		}
	}
}

// forward runs the active links for a while and answers how long each frame took.
func forward(b *testing.B, hub *relay.Hub, links []*rawLink, during time.Duration) []time.Duration {
	b.Helper()
	var mu sync.Mutex
	var all []time.Duration
	var active sync.WaitGroup
	for i := range len(links) / 100 {
		active.Go(func() {
			took := drive(b, hub, fmt.Sprint("p_", i), links[i], during)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
		})
	}
	active.Wait()
	return all
}

// arrivals notes when events came.
type arrivals struct{ at chan time.Time }

func (a arrivals) Event(string, string, []byte) bool { a.at <- time.Now(); return true }
func (a arrivals) Asleep(*program.Error)             {}
func (a arrivals) Reset(string)                      {}
func (a arrivals) Gone(*program.Error)               {}

// drive sends a command every 10 ms through one link, whose extension answers with an event.
func drive(b *testing.B, hub *relay.Hub, project string, l *rawLink, during time.Duration) []time.Duration {
	b.Helper()
	browser, err := hub.Open(b.Context(), relay.OpenOptions{Account: account, Project: project, Session: "s_1"})
	if err != nil {
		b.Error(err)
		return nil
	}
	l.busy()
	events := arrivals{make(chan time.Time, 1)}
	wire, err := holdRaw(b, browser, l, events)
	if err != nil {
		b.Error(err)
		return nil
	}
	took := exchangeFrames(b, wire, l, events, during)
	wire.Release()
	if _, err := l.readText(); err != nil { // drop
		b.Error(err)
	}
	l.idle()
	ended := make(chan error, 1)
	go func() { ended <- browser.Close(context.Background()) }()
	l.busy()
	f, err := l.read()
	if err != nil || l.write(object{"t": "done", "id": f.id()}) != nil || <-ended != nil {
		b.Errorf("end: %v", err)
	}
	l.idle()
	return took
}

func holdRaw(tb testing.TB, browser *relay.Browser, l *rawLink, s endpoint.Sink) (endpoint.Wire, error) {
	tb.Helper()
	answered := hold(tb.Context(), browser, "t1", s)
	f, err := l.read()
	if err != nil {
		return nil, err
	}
	if err := l.write(object{"t": "held", "id": f.id(), "tab": "t1", "target": "T1"}); err != nil {
		return nil, err
	}
	got := <-answered
	return got.wire, got.err
}

func exchangeFrames(b *testing.B, wire endpoint.Wire, l *rawLink, events arrivals, during time.Duration) []time.Duration {
	b.Helper()
	params := []byte(`{"expression":"` + strings.Repeat("x", 1000) + `"}`)
	event := []byte(`{"t":"event","tab":"t1","method":"Runtime.consoleAPICalled"}` + "\n" + string(params))
	var took []time.Duration
	next := time.NewTicker(10 * time.Millisecond)
	defer next.Stop()
	for end := time.Now().Add(during); time.Now().Before(end); <-next.C {
		sent := time.Now()
		if err := wire.Send(b.Context(), "", "Runtime.evaluate", params, func([]byte, error) {}); err != nil {
			b.Error(err)
			return took
		}
		text, err := l.readText()
		came := time.Now()
		if err != nil || l.writeText(event) != nil {
			b.Error(err)
			return took
		}
		took = append(took, came.Sub(sent), (<-events.at).Sub(came))
		if err := l.writeText([]byte(`{"t":"reply","id":` + idOf(text) + "}\n{}")); err != nil {
			b.Error(err)
			return took
		}
	}
	return took
}
