package endpoint

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"chaperone/relay/program"
)

const (
	// holdWait bounds how long a tab may take to be attached to.
	holdWait = 30 * time.Second
	// lostWait bounds how long commands wait for a browser whose connection broke: as long as the relay waits for it.
	lostWait = 10 * time.Second

	codeNotConnected = "not_connected" // the contract's
)

// hold is one tab's stay at its edge, from the first client that needs it to the last: the edge's sink, and the queue
// of commands to its wire. All of it is guarded by router.mu but what is said otherwise.
type hold struct {
	router *router
	tab    *tab
	intake *intake       // what the edge told; it has a lock of its own
	ready  chan struct{} // bound 1: the queue may hold commands
	cancel context.CancelFunc
	before <-chan struct{} // closed when the tab's last hold has ended; nil where there was none
	ended  chan struct{}   // closed when this one has

	isHeld   bool // the edge has it
	isOver   bool
	asleep   error // why commands fail for now
	queue    []*command
	gate     *gate // not nil: clients' commands wait
	inFlight map[*command]struct{}
	unsent   int                // the bytes of clients' commands that were not sent yet
	number   int                // of the newest command
	children map[string]*target // by the edge's name
	ages     map[*target]int
	age      int
	document document // of the main frame
}

// want counts somebody in who needs the tab held, and begins to hold it for the first.
func (r *router) want(t *tab) {
	t.wants++
	if t.hold == nil && !t.isDropped {
		r.hold(t)
	}
}

func (r *router) hold(t *tab) {
	ctx, cancel := r.begin()
	h := &hold{
		router: r, tab: t, intake: newIntake(), ready: make(chan struct{}, 1), cancel: cancel, ended: make(chan struct{}),
		inFlight: map[*command]struct{}{}, children: map[string]*target{}, ages: map[*target]int{},
	}
	t.page.state = newState()
	// A tab that went and came back may still be let go of.
	if last := r.lasts[t.known.ID]; last != nil {
		h.before = last.ended
	}
	if r.spawnNow(func(context.Context) { h.keep(ctx) }) {
		t.hold, r.lasts[t.known.ID] = h, h
	}
}

// unwant counts somebody out. The last one's going lets the tab go.
func (r *router) unwant(t *tab) {
	t.wants--
	if t.wants == 0 && t.hold != nil {
		t.hold.cut(refusal("the tab was let go"))
	}
}

// whenHeld calls then, under mu, once the tab is held or cannot be. A tab that is held but asleep counts as held.
func (r *router) whenHeld(t *tab, then func(error)) {
	r.want(t)
	wrapped := func(err error) {
		then(err)
		r.unwant(t)
	}
	switch {
	case t.hold == nil:
		wrapped(errTabGone())
	case t.hold.isHeld && !t.hold.isOver:
		wrapped(nil)
	default:
		t.waiting = append(t.waiting, wrapped)
	}
}

// served calls those who waited for the tab.
func (t *tab) served(err error) {
	waiting := t.waiting
	t.waiting = nil
	for _, then := range waiting {
		then(err)
	}
}

// keep holds the tab until nobody needs it. It is the hold's own goroutine.
func (h *hold) keep(ctx context.Context) {
	defer h.cancel()
	var listening sync.WaitGroup
	listening.Go(func() { h.intake.drain(h.hear) })
	wire, err := h.begin(ctx)
	if err == nil {
		h.pump(ctx, wire)
		wire.Release()
	}
	h.intake.close()
	listening.Wait()
	h.router.finish(h, err)
}

func (h *hold) begin(ctx context.Context) (Wire, error) {
	h.router.mu.Lock()
	name := h.tab.known.ID
	h.router.mu.Unlock()
	if h.before != nil {
		<-h.before
	}
	ctx, done := context.WithTimeout(ctx, holdWait)
	defer done()
	wire, err := h.router.edge.Hold(ctx, name, h)
	h.router.mu.Lock()
	defer h.router.mu.Unlock()
	if err == nil && !h.isOver {
		h.isHeld = true
		h.learnDocument()
		h.tab.served(nil)
	}
	return wire, err
}

// pump sends what is queued, in order, until the hold is to end.
func (h *hold) pump(ctx context.Context, wire Wire) {
	for {
		for c, params := h.next(); c != nil; c, params = h.next() {
			reply := func(result []byte, err error) {
				h.intake.act(func() { h.router.settle(c, result, err) })
			}
			if err := wire.Send(ctx, c.child, c.method, params, reply); err != nil {
				h.intake.act(func() { h.notSent(c, params, err) })
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-h.ready:
		}
	}
}

// finish takes the hold out of the model. Who needs the tab all the same has it held anew, unless it could not be.
func (r *router) finish(h *hold, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	hasFailed := err != nil && !h.isOver
	if err == nil {
		err = refusal("the tab was let go")
	}
	h.cut(err)
	r.dropChildren(h)
	close(h.ended)
	if r.lasts[h.tab.known.ID] == h {
		delete(r.lasts, h.tab.known.ID)
	}
	h.tab.hold = nil
	if hasFailed || h.tab.isDropped || r.isOver {
		h.tab.served(err)
	}
	if h.tab.wants > 0 && !h.tab.isDropped && !r.isOver {
		r.hold(h.tab)
	} else if h.tab.known.Target != h.tab.page.id {
		r.spawnNow(func(context.Context) { r.look() }) // it is another page's now
	}
}

// cut ends the hold: whatever has no answer fails with why. The edge lets go in its own time.
func (h *hold) cut(why error) {
	if h.isOver {
		return
	}
	h.isOver = true
	h.cancel()
	h.endGate()
	for c := range h.inFlight {
		h.router.settleLocked(c, nil, why)
	}
}

func (h *hold) inOrder() []*target {
	return slices.SortedFunc(maps.Values(h.children), func(a, b *target) int { return cmp.Compare(h.ages[a], h.ages[b]) })
}

// Event is the sink's.
func (h *hold) Event(child, method string, params []byte) bool {
	return h.intake.event(utterance{child: child, method: method, params: params})
}

// Asleep is the sink's.
func (h *hold) Asleep(why *program.Error) { h.intake.act(func() { h.fallAsleep(why) }) }

// Reset is the sink's.
func (h *hold) Reset(target string) { h.intake.reset(func() { h.begunAnew(target) }) }

// Gone is the sink's.
func (h *hold) Gone(why *program.Error) { h.intake.act(func() { h.gone(why) }) }

// hear takes on what the edge told.
func (h *hold) hear(u utterance) {
	if u.do != nil {
		u.do()
		return
	}
	h.event(u.child, u.method, u.params)
}

// fallAsleep: the tab is not attached for now. What has not been sent yet waits where the browser itself was lost, since
// that comes back by itself, and fails where the tab is what cannot be used.
func (h *hold) fallAsleep(why *program.Error) {
	h.router.mu.Lock()
	defer h.router.mu.Unlock()
	if h.isOver {
		return
	}
	h.asleep = why
	unsent := append(h.queue, h.endGate()...)
	h.queue = nil
	isLost := why.Code == codeNotConnected
	if isLost {
		h.awaitBrowser(&gate{left: 1}) // nothing opens it but Reset
	}
	for _, c := range unsent {
		if isLost && c.isAwaited() {
			h.gate.kept = append(h.gate.kept, c)
			continue
		}
		h.router.settleLocked(c, nil, why)
	}
}

// awaitBrowser keeps clients' commands back until the browser is there again, for lostWait at most.
func (h *hold) awaitBrowser(g *gate) {
	h.gate = g
	g.timer = time.AfterFunc(lostWait, func() {
		h.router.mu.Lock()
		defer h.router.mu.Unlock()
		if h.gate != g {
			return
		}
		for _, c := range h.endGate() {
			h.router.settleLocked(c, nil, h.asleep)
		}
	})
}

// gone: the tab cannot be held any more.
func (h *hold) gone(why *program.Error) {
	h.router.mu.Lock()
	defer h.router.mu.Unlock()
	if !h.isOver {
		h.cut(why)
		h.router.drop(h.tab)
	}
}
