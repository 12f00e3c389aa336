package endpoint

import (
	"slices"
	"sync"
)

const (
	// maxTold events of a tab, or maxToldBytes of them, may wait for the router: a tab that tells more has to rest.
	maxTold      = 8192
	maxToldBytes = 32 << 20
)

// intake is what a tab's edge has told and the router has not heard yet, in order. The edge's goroutine serves other
// sessions too, so it never waits for a router's lock: what it tells is put here, and the hold's own goroutine takes it
// on. Replies and what becomes of the tab always find room: of those there are as many as were asked for.
type intake struct {
	ready chan struct{} // bound 1: something waits

	toldMu  sync.Mutex
	waiting []utterance
	events  int
	bytes   int
	isFull  bool // an event was turned away: no more of them until the tab was attached anew
	isOver  bool
}

// utterance is one thing that an edge told: an event, or what is to be done.
type utterance struct {
	child, method string
	params        []byte
	do            func() // nil for an event
}

func newIntake() *intake { return &intake{ready: make(chan struct{}, 1)} }

// event answers false for one too many.
func (in *intake) event(u utterance) bool {
	in.toldMu.Lock()
	defer in.toldMu.Unlock()
	if in.isFull || in.events >= maxTold || in.events > 0 && in.bytes+len(u.params) > maxToldBytes {
		in.isFull = true
		return false
	}
	in.events++
	in.bytes += len(u.params)
	in.put(u)
	return true
}

// act queues what is to be done after all that was told before.
func (in *intake) act(do func()) {
	in.toldMu.Lock()
	defer in.toldMu.Unlock()
	in.put(utterance{do: do})
}

// reset is act for what begins anew: events find room again, and those from before one was turned away mean nothing.
func (in *intake) reset(do func()) {
	in.toldMu.Lock()
	defer in.toldMu.Unlock()
	if in.isFull {
		in.isFull = false
		in.waiting = slices.DeleteFunc(in.waiting, in.forget)
	}
	in.put(utterance{do: do})
}

// forget gives back the room of an event, and reports whether it was one. toldMu is held.
func (in *intake) forget(u utterance) bool {
	if u.do == nil {
		in.events--
		in.bytes -= len(u.params)
	}
	return u.do == nil
}

// put is called with toldMu held.
func (in *intake) put(u utterance) {
	in.waiting = append(in.waiting, u)
	signal(in.ready)
}

// close lets drain return once it has taken on what waits.
func (in *intake) close() {
	in.toldMu.Lock()
	defer in.toldMu.Unlock()
	in.isOver = true
	signal(in.ready)
}

// drain hands on what is told until close.
func (in *intake) drain(take func(utterance)) {
	var spent []utterance
	for range in.ready {
		batch, isOver := in.takeAll(spent)
		for i, u := range batch {
			take(u)
			in.heard(u)
			batch[i] = utterance{}
		}
		if isOver {
			return
		}
		spent = batch
	}
}

func (in *intake) takeAll(spent []utterance) ([]utterance, bool) {
	in.toldMu.Lock()
	defer in.toldMu.Unlock()
	batch := in.waiting
	in.waiting = spent[:0]
	return batch, in.isOver
}

// heard gives back the room of what was taken on.
func (in *intake) heard(u utterance) {
	in.toldMu.Lock()
	defer in.toldMu.Unlock()
	in.forget(u)
}
