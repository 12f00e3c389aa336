package egress

import (
	"container/list"
	"net"
	"sync"
	"time"
)

// farewells bounds the connections that are told at one time that there is no place for them. One more is closed
// without a word: whoever opens so many at once is not waiting for one.
const farewells = 32

// places is the room of one listener. A connection with a request under way keeps its place. One that has begun a
// request, or its first one, and does not get on gives its place to the next when all are taken, the longest first,
// and so does one that has been silent since its last answer for longer than a head may take. So whoever holds
// connections open without asking for anything keeps nobody out.
type places struct {
	limits Limits

	mu       sync.Mutex
	taken    int
	tunnels  int
	starting *list.List // of *place: connected, or within a head
	resting  *list.List // of *place: silent between requests
	parting  chan struct{}
}

// place is one connection's. Its methods may be called by the connection's goroutine only.
type place struct {
	of   *places
	conn net.Conn

	// of.mu guards what follows.
	in     *list.List // starting, resting, or nil while a request is under way
	at     *list.Element
	since  time.Time
	isGone bool // another has it
}

func newPlaces(l Limits) *places {
	return &places{limits: l, starting: list.New(), resting: list.New(), parting: make(chan struct{}, farewells)}
}

// take returns nil when every place is taken by somebody who uses it.
func (s *places) take(conn net.Conn) *place {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken >= s.limits.Connections && !s.freeOne() {
		return nil
	}
	s.taken++
	p := &place{of: s, conn: conn}
	p.moveTo(s.starting)
	return p
}

// freeOne takes a place from whoever does nothing with it; mu is held.
func (s *places) freeOne() bool {
	p := first(s.starting)
	if p == nil {
		if p = first(s.resting); p == nil || time.Since(p.since) < s.limits.Head {
			return false
		}
	}
	p.moveTo(nil)
	p.isGone = true
	s.taken--
	_ = p.conn.SetReadDeadline(time.Unix(1, 0))
	return true
}

func first(of *list.List) *place {
	front := of.Front()
	if front == nil {
		return nil
	}
	p, _ := front.Value.(*place)
	return p
}

// moveTo is called with of.mu held; nil is for a request under way.
func (p *place) moveTo(in *list.List) {
	if p.in != nil {
		p.in.Remove(p.at)
	}
	p.in, p.at, p.since = in, nil, time.Now()
	if in != nil {
		p.at = in.PushBack(p)
	}
}

// rest notes that the last request is answered and waits for the next within limit. Like all of the three, it is
// false when the place is another's now.
func (p *place) rest(limit time.Duration) bool { return p.change(p.of.resting, limit) }

// start notes the first byte of a head, which has to be whole within limit.
func (p *place) start(limit time.Duration) bool { return p.change(p.of.starting, limit) }

// work notes that a request is under way.
func (p *place) work() bool { return p.change(nil, 0) }

func (p *place) change(to *list.List, limit time.Duration) bool {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if p.isGone {
		return false
	}
	isNew := p.in == p.of.starting && to == p.of.resting // nothing was asked yet: it goes on starting
	if p.in != to && !isNew {
		p.moveTo(to)
	}
	if limit > 0 {
		_ = p.conn.SetReadDeadline(time.Now().Add(limit))
	}
	return true
}

// isLost reports whether another has the place now.
func (p *place) isLost() bool {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	return p.isGone
}

// leave gives the place back.
func (p *place) leave() {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if p.isGone {
		return
	}
	p.moveTo(nil)
	p.isGone = true
	p.of.taken--
}

// enterTunnel reports whether there is room for one more tunnel; leaveTunnel gives it back.
func (s *places) enterTunnel() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tunnels >= s.limits.Tunnels {
		return false
	}
	s.tunnels++
	return true
}

func (s *places) leaveTunnel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tunnels--
}

// mayPart reports whether a connection without a place may be told so; parted ends that.
func (s *places) mayPart() bool {
	select {
	case s.parting <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s *places) parted() { <-s.parting }
