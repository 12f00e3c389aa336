package endpoint

import (
	"context"
	"log/slog"
	"sync"

	"github.com/coder/websocket"
)

// endpointClosed is what clients are told when the capability is revoked, which also a session's end does.
const endpointClosed = "the endpoint is closed: its session has ended, or it was closed by itself"

// router stands between the clients of one capability and its tabs. One lock guards all that it knows; whoever
// holds it never waits: what goes to clients goes into their queues, and what goes to a tab into its hold's.
type router struct {
	edge    Edge
	options GrantOptions
	log     *slog.Logger
	over    chan struct{} // closed when it has ended
	stop    context.CancelFunc
	// spawn runs f until the router ends; mu is held and isOver is false.
	spawn func(f func(context.Context))
	// begin makes a context that ends with the router.
	begin func() (context.Context, context.CancelFunc)
	group sync.WaitGroup

	browserID string // the browser's own target id
	contextID string // the one browser context of a session

	listMu sync.Mutex // one look at the list of tabs at a time; taken before mu

	changedMu sync.Mutex // the order of Changed's calls; taken before mu

	mu       sync.Mutex
	isOver   bool
	places   int // clients connected or about to be
	numbers  int
	clients  map[*client]struct{}
	tabs     map[string]*tab  // by the edge's name
	lasts    map[string]*hold // the newest of each tab, as long as it has not ended
	targets  map[string]*target
	sequence int // of what clients set
	answers  map[string]answer
	pageOwn  map[string]answer
	forwards map[string]answer
	undos    map[string]call // by the method that sets
}

func newRouter(o GrantOptions) *router {
	ctx, stop := context.WithCancel(context.Background())
	r := &router{
		edge: o.Edge, options: o, log: o.Logger, over: make(chan struct{}), stop: stop,
		browserID: newID(), contextID: newID(),
		clients: map[*client]struct{}{}, tabs: map[string]*tab{}, lasts: map[string]*hold{}, targets: map[string]*target{},
		answers: browserAnswers(), pageOwn: pageAnswers(), forwards: forwards(), undos: undoings(),
	}
	r.spawn = func(f func(context.Context)) { r.group.Go(func() { f(ctx) }) }
	r.begin = func() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }
	r.look() // who connects at once sees what is there
	r.spawn(r.follow)
	return r
}

// follow keeps the list of tabs until the edge or the router has ended.
func (r *router) follow(ctx context.Context) {
	for {
		changed := r.edge.Changed()
		r.look()
		select {
		case <-changed:
		case <-r.edge.Done():
			r.end("the session has ended")
			return
		case <-ctx.Done():
			return
		}
	}
}

// end begins the end and does not wait for it.
func (r *router) end(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isOver {
		return
	}
	r.isOver = true
	close(r.over)
	for c := range r.clients {
		c.cut(websocket.StatusGoingAway, why)
	}
	r.stop()
}

// close ends the router and waits for all that belongs to it.
func (r *router) close() {
	r.end(endpointClosed)
	r.group.Wait()
}

// enter keeps a place for a client that has still to shake hands; left gives it back.
func (r *router) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isOver || r.places >= r.options.Clients {
		return false
	}
	r.places++
	r.group.Add(1)
	return true
}

func (r *router) left() {
	r.mu.Lock()
	r.places--
	r.mu.Unlock()
	r.group.Done()
}

// join takes a client in. What it answers is closed once the client's page, if it has one, is attached.
func (r *router) join(c *client, target string) <-chan struct{} {
	r.changedMu.Lock()
	defer r.changedMu.Unlock()
	joined := make(chan struct{})
	r.mu.Lock()
	r.numbers++
	c.number = r.numbers
	r.clients[c] = struct{}{}
	switch {
	case r.isOver:
		c.cut(websocket.StatusGoingAway, endpointClosed)
	case target == "":
		close(joined)
	default:
		r.joinPage(c, target, joined)
	}
	r.mu.Unlock()
	r.tellCount()
	return joined
}

// joinPage makes a page the one that the client's messages go to.
func (r *router) joinPage(c *client, id string, joined chan<- struct{}) {
	t := r.targets[id]
	if t == nil || t.kind != kindPage {
		c.cut(websocket.StatusPolicyViolation, "there is no such page")
		return
	}
	r.whenHeld(t.tab, func(err error) {
		if err != nil || c.gone {
			c.cut(websocket.StatusGoingAway, "the page cannot be attached to")
			return
		}
		c.page = &attachment{client: c, target: t}
		r.link(c.page)
		close(joined)
	})
}

// leave takes a client's sessions, and all that it changed in the tabs, away.
func (r *router) leave(c *client) {
	r.changedMu.Lock()
	defer r.changedMu.Unlock()
	r.mu.Lock()
	c.gone = true
	for _, t := range r.tabs {
		if t.hold != nil {
			t.hold.leftBy(func(q *request) bool { return q.client == c })
		}
	}
	for _, a := range c.attachments() {
		r.detach(a)
	}
	c.streams, c.discoveries = nil, nil
	delete(r.clients, c)
	r.mu.Unlock()
	r.tellCount()
}

// tellCount is called with changedMu held and mu not.
func (r *router) tellCount() {
	count := r.count()
	r.log.Debug("cdp clients", slog.Int("clients", count))
	if r.options.Changed != nil {
		r.options.Changed(count)
	}
}

func (r *router) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.clients)
}

// spawnNow runs f unless the router has ended; mu is held.
func (r *router) spawnNow(f func(context.Context)) bool {
	if r.isOver {
		return false
	}
	r.spawn(f)
	return true
}
