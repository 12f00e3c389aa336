package relay

import "sync"

// maxNews is how many events wait before tabs are told in sum (their newest list only) and new links
// are held back.
const maxNews = 1024

// news carries events from whoever holds the hub's lock to one goroutine that tells them, in order.
type news struct {
	tell    func(Event)
	drained func() // called without a lock after a queue that was full has been told
	wake    chan struct{}
	ended   chan struct{}

	queueMu sync.Mutex
	queue   []Event
	closed  bool
}

func newNews(tell func(Event), drained func()) *news {
	n := &news{tell: tell, drained: drained, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go n.run()
	return n
}

// full reports whether what can wait should wait.
func (n *news) full() bool {
	n.queueMu.Lock()
	defer n.queueMu.Unlock()
	return len(n.queue) >= maxNews
}

// force adds events. The caller asks full before where it can; what cannot wait is bounded by the links.
func (n *news) force(events ...Event) {
	n.queueMu.Lock()
	n.queue = append(n.queue, events...)
	n.queueMu.Unlock()
	n.nudge()
}

func (n *news) nudge() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// close waits until everything has been told.
func (n *news) close() {
	n.queueMu.Lock()
	n.closed = true
	n.queueMu.Unlock()
	n.nudge()
	<-n.ended
}

func (n *news) run() {
	defer close(n.ended)
	for range n.wake {
		events, closed := n.take()
		for _, e := range events {
			n.tell(e)
		}
		if len(events) >= maxNews {
			n.drained()
			n.nudge()
			continue
		}
		if closed {
			return
		}
	}
}

func (n *news) take() ([]Event, bool) {
	n.queueMu.Lock()
	defer n.queueMu.Unlock()
	events := n.queue
	n.queue = nil
	return events, n.closed
}
