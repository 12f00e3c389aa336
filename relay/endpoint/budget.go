package endpoint

import "sync"

const (
	// maxInFlight commands of a client may be unanswered by its tabs, which may never answer one: more are refused. As
	// many may be unanswered by the endpoint itself, which answers each in time: then the client is not read any further.
	maxInFlight = 1024
	// maxInFlightBytes bounds what they weigh, each kind for itself; a single command may always come.
	maxInFlightBytes = 16 << 20
)

// budget is what of a client is under way, of one kind. Its reader takes, whoever answers gives back.
type budget struct {
	freed chan struct{} // bound 1: something was given back

	countMu  sync.Mutex
	commands int
	bytes    int
}

func newBudget() *budget { return &budget{freed: make(chan struct{}, 1)} }

// take waits until the client has few enough commands under way; it answers false once over is closed. Only one
// goroutine takes.
func (b *budget) take(over <-chan struct{}, size int) bool {
	for !b.tryTake(size) {
		select {
		case <-b.freed:
		case <-over:
			return false
		}
	}
	return true
}

func (b *budget) tryTake(size int) bool {
	b.countMu.Lock()
	defer b.countMu.Unlock()
	if b.commands >= maxInFlight || b.commands > 0 && b.bytes+size > maxInFlightBytes {
		return false
	}
	b.commands++
	b.bytes += size
	return true
}

func (b *budget) give(size int) {
	b.countMu.Lock()
	b.commands--
	b.bytes -= size
	b.countMu.Unlock()
	signal(b.freed)
}

func errTooMuch() *failure {
	return refusal("more than %d commands of this client, or %d MiB of them, have no answer yet: wait for some", maxInFlight, maxInFlightBytes>>20)
}
