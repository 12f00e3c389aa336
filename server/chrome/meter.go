package chrome

import "time"

const (
	// burstEvents is how many events, dropped ones included, a tab may tell beyond steadyEvents a second before it rests.
	burstEvents  = 10_000
	steadyEvents = 2000
	// burstBytes and steadyBytes bound likewise what the events hold that clients can do without, of each at most
	// mostCounted: long ones make Chrome as much work as many, while one may be of any length.
	burstBytes  = 4 << 20
	steadyBytes = 2 << 20
	mostCounted = 64 << 10
)

// meter counts what one tab tells. Its zero value is ready; it is one goroutine's.
type meter struct {
	// events and bytes are what came that the steady rates have not made up for yet.
	events  float64
	bytes   float64
	counted time.Time
}

// isFlood counts one event, as of when it was read, and reports that it is more than other sessions' tabs can wait for.
func (m *meter) isFlood(e event) bool {
	passed := max(0, e.read.Sub(m.counted).Seconds())
	m.counted = e.read
	m.events = max(0, m.events-passed*steadyEvents) + 1
	m.bytes = max(0, m.bytes-passed*steadyBytes)
	if isDroppable(e.Method) {
		m.bytes += float64(min(mostCounted, max(len(e.Params), e.missed)))
	}
	return m.events > burstEvents || m.bytes > burstBytes
}
