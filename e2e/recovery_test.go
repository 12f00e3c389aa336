package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"chaperone/demo"
)

// line is a network between a browser and the server that can be cut, and that can lose what it carries.
type line struct {
	net.Listener
	to     string
	openMu sync.Mutex
	open   map[net.Conn]bool
	lost   chan struct{} // while it is open nothing arrives; nil: all does
	done   sync.WaitGroup
}

func layLine(t *testing.T, to string) *line {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	check(t, err)
	l := &line{Listener: listener, to: to, open: map[net.Conn]bool{}}
	l.done.Go(l.accept)
	t.Cleanup(func() {
		l.find()
		_ = l.Close()
		l.cut()
		l.done.Wait()
	})
	return l
}

func (l *line) accept() {
	for {
		near, err := l.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", l.to) //nolint:noctx // ended by cut
		if err != nil {
			_ = near.Close() // the server is not there just now
			continue
		}
		l.openMu.Lock()
		l.open[near], l.open[far] = true, true
		l.openMu.Unlock()
		l.done.Go(func() { l.carry(near, far) })
		l.done.Go(func() { l.carry(far, near) })
	}
}

func (l *line) carry(from, to net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		l.arrive()
		if n > 0 {
			if _, werr := to.Write(buffer[:n]); werr != nil {
				err = werr
			}
		}
		if err != nil {
			break
		}
	}
	_ = from.Close()
	_ = to.Close()
	l.openMu.Lock()
	defer l.openMu.Unlock()
	delete(l.open, from)
}

// arrive waits while the line loses what it carries: what is sent meanwhile comes late, as on a network that sends again.
func (l *line) arrive() {
	l.openMu.Lock()
	lost := l.lost
	l.openMu.Unlock()
	if lost != nil {
		<-lost
	}
}

// cut ends every connection at once.
func (l *line) cut() {
	l.openMu.Lock()
	defer l.openMu.Unlock()
	for c := range l.open {
		_ = c.Close()
	}
}

// lose lets nothing through, and closes nothing, until find.
func (l *line) lose() {
	l.openMu.Lock()
	defer l.openMu.Unlock()
	l.lost = make(chan struct{})
}

func (l *line) find() {
	l.openMu.Lock()
	defer l.openMu.Unlock()
	if l.lost != nil {
		close(l.lost)
		l.lost = nil
	}
}

// story is a shared tab whose page has a link to an answer that is held back: the click on it is an action in flight.
type story struct {
	*road
	line    *line
	arrived chan struct{} // one for each request for the held page
	release chan struct{}
}

func beginStory(t *testing.T) *story {
	t.Helper()
	y := &story{arrived: make(chan struct{}, 8), release: make(chan struct{})}
	s := openSite(t)
	routes := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/story":
			s.page(w, `<title>Story</title><h1>Story</h1><a href="/held">Go on</a><button type="button" onclick="o.textContent = 'still here'">Count</button><output id="o"></output>`)
		case "/held":
			s.hit("held")
			y.arrived <- struct{}{}
			select {
			case <-y.release:
			case <-r.Context().Done():
			}
			s.page(w, `<title>Held</title><h1>Held</h1><a href="/story">Back</a>`)
		default:
			routes.ServeHTTP(w, r)
		}
	})
	y.road = &road{site: s, served: serve(t)}
	y.line = layLine(t, y.address())
	y.person = arrive(t, demo.PersonOptions{Flags: []string{fmt.Sprintf("--host-resolver-rules=MAP %s %s", y.address(), y.line.Addr())}})
	var err error
	y.page, err = y.person.Visit(t.Context(), s.URL+"/story")
	check(t, err)
	check(t, y.person.Pair(t.Context(), y.code()))
	check(t, y.person.Share(t.Context(), y.page, "read"))
	y.session = y.served.session("shared")
	y.snapshot()
	t.Cleanup(func() { y.free() })
	return y
}

func (y *story) address() string { return strings.TrimPrefix(y.info.URL, "http://") }

// free lets the held page come.
func (y *story) free() {
	select {
	case <-y.release:
	default:
		close(y.release)
	}
}

// inFlight clicks, breaks something while the click is under way, and answers what the click came to.
func (y *story) inFlight(breaks func()) error {
	y.t.Helper()
	answered := make(chan error, 1)
	agent, session := y.agent, y.session
	go func() {
		_, err := agent.Act(y.t.Context(), session, action{"action": "click", "role": "link", "name": "Go on", "timeout_ms": 20_000})
		answered <- err
	}()
	select {
	case <-y.arrived:
	case <-time.After(patience):
		y.t.Fatal("the click never came to the page")
	}
	breaks()
	select {
	case err := <-answered:
		return err
	case <-time.After(patience):
		y.t.Fatal("the click is never answered")
		return nil
	}
}

// once holds that the click was done once, however often anything dialled again since.
func (y *story) once() {
	y.t.Helper()
	if got := y.site.count("held"); got != 1 {
		y.t.Errorf("the click was done %d times, want once", got)
	}
}

// worksOn acts in the story's session, or a new one of the server's.
func (y *story) worksOn(s *served, session string) {
	y.t.Helper()
	y.free()
	opened := s.act(session, action{"action": "open", "url": y.site.URL + "/story"})
	if opened.Title != "Story" {
		y.t.Errorf("the next action leads to %q", opened.Title)
	}
	wants(y.t, "the next click", s.act(session, action{"action": "click", "role": "button", "name": "Count"}).Snapshot.Text, "still here")
}

func (y *story) failedWith(err error, codes ...string) {
	y.t.Helper()
	refusal := asRefused(err)
	if refusal == nil || !slices.Contains(codes, refusal.Code) {
		y.t.Errorf("the action in flight is answered %v, want one of %v", err, codes)
	}
}

func TestAnActionInFlightWhenTheWorkerStopsIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	y := beginStory(t)
	since := y.linkedSince()
	y.failedWith(y.inFlight(func() { check(t, y.person.StopWorker(t.Context())) }), "not_connected")
	y.await(func() bool { return y.linkedSince() != since }, "the next link")
	y.awaitLink(1)
	y.worksOn(y.served, y.session)
	y.once()
}

func TestAnActionInFlightWhenTheLineIsCutIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	y := beginStory(t)
	since := y.linkedSince()
	y.failedWith(y.inFlight(y.line.cut), "not_connected")
	y.await(func() bool { return y.linkedSince() != since }, "the next link")
	y.awaitLink(1)
	y.worksOn(y.served, y.session)
	y.once()
}

func TestAnActionOnALineThatLosesAllFailsInTimeAndIsDoneOnceAtMost(t *testing.T) {
	t.Parallel()
	y := beginStory(t)
	y.line.lose()
	began := time.Now()
	_, err := y.agent.Act(t.Context(), y.session, action{"action": "click", "role": "link", "name": "Go on", "timeout_ms": 3000})
	y.failedWith(err, "timeout", "not_connected")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it failed after %s", took)
	}
	y.line.find()
	y.worksOn(y.served, y.session)
	if got := y.site.count("held"); got > 1 {
		t.Errorf("the click was done %d times, want once at most", got)
	}
}

// outlives ends the server by ends while an action is in flight, starts another at its address and in its folder, and
// looks that the action is nowhere taken for done, its session is over, and the browser is worked in again.
func (y *story) outlives(ends func()) *served {
	y.t.Helper()
	address := y.address()
	if err := y.inFlight(ends); err == nil {
		y.t.Error("the action in flight is answered with success")
	}
	again := serveIn(y.t, y.data, "--addr", address)
	again.awaitLink(1)
	again.refused(y.session, action{"action": "snapshot"}, "session_ended")
	y.worksOn(again, again.session("shared"))
	y.once()
	return again
}

func TestAnActionInFlightWhenTheServerIsStoppedIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	y := beginStory(t)
	again := y.outlives(y.stop)
	again.must("ledger", "verify")
}

func TestAnActionInFlightWhenTheServerIsKilledIsToldAsLostAndNotDoneAgain(t *testing.T) {
	t.Parallel()
	y := beginStory(t)
	again := y.outlives(y.kill)
	wants(t, "the ledger", again.must("ledger", "list"), "lost")
	again.must("ledger", "verify")
}

func TestAnActionInFlightWhenAnotherBrowserTakesThePlaceEndsWithItsSession(t *testing.T) {
	t.Parallel()
	y := beginStory(t)
	other := arrive(t, demo.PersonOptions{})
	page, err := other.Visit(t.Context(), y.site.URL+"/story")
	check(t, err)
	y.failedWith(y.inFlight(func() { check(t, other.Pair(t.Context(), y.code())) }), "not_connected", "session_ended")
	y.refused(y.session, action{"action": "snapshot"}, "session_ended")
	check(t, other.Share(t.Context(), page, "read"))
	y.awaitLink(1)
	y.worksOn(y.served, y.served.session("shared"))
	y.once()
}

// TestAnIdleMinuteChangesNothing outlasts the half minute after which Chrome stops a worker that does nothing.
func TestAnIdleMinuteChangesNothing(t *testing.T) {
	t.Parallel()
	y := beginStory(t)
	since, before := y.linkedSince(), y.ref(y.session, "button", "Count")
	<-time.After(40 * time.Second)
	if y.linkedSince() != since {
		t.Error("the link did not outlast the idle time")
	}
	if after := y.ref(y.session, "button", "Count"); after != before {
		t.Errorf("the button was %s and is %s", before, after)
	}
	y.worksOn(y.served, y.session)
}
