package endpoint

import "sync"

const (
	// maxInFlight commands of a client may be unanswered; then it is not read any further.
	maxInFlight = 1024
	// maxInFlightBytes bounds what they weigh; a single command may always come.
	maxInFlightBytes = 16 << 20
)

// budget is what of a client is under way. Its reader takes, whoever answers gives back.
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
