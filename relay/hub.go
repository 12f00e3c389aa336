package relay

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"github.com/coder/websocket"

	"chaperone/relay/cdp"
	"chaperone/relay/program"
)

// Hub holds every link and every session's view of one. Its methods may be called at the same time.
type Hub struct {
	options Options
	log     *slog.Logger
	table   *cdp.Table // nil refuses every program
	news    *news
	scratch sync.Pool      // of *bytes.Buffer: what messages are read into
	serving sync.WaitGroup // one a socket, from its admission to its end

	slotsMu  sync.Mutex
	slots    map[place]*slot
	unproved int                          // places taken by requests that are not paired yet
	opening  map[*websocket.Conn]struct{} // those of them that are upgraded
	closed   bool
	owed     []func() // what sinks must hear of a change, once slotsMu is free
}

// NewHub makes a hub; Close ends it.
func NewHub(o Options) *Hub {
	if o.Host == nil {
		o.Host = func(string) bool { return false }
	}
	if o.Events == nil {
		o.Events = func(Event) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.ReconnectWait == 0 {
		o.ReconnectWait = reconnectWait
	}
	table, err := cdp.Load()
	if err != nil {
		o.Logger.Error("method table not loaded", slog.Any("error", err))
	}
	h := &Hub{options: o, table: table, log: o.Logger, slots: map[place]*slot{}, opening: map[*websocket.Conn]struct{}{}}
	h.news = newNews(h.report, h.catchUp)
	return h
}

// ServeHTTP is GET /api/browser/extension/connect. It returns once the socket is upgraded, so that a link does not
// hold what its request needed; Close waits for the link itself.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status := h.admit(r); status != http.StatusOK {
		http.Error(w, http.StatusText(status), status)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // admit has compared Origin and Host exactly; the library would let a missing Origin pass
	})
	if err != nil {
		h.settle(nil)
		h.serving.Done()
		h.log.DebugContext(r.Context(), "socket not upgraded", slog.Any("error", err))
		return
	}
	// A hijacked request's context says nothing of its socket; what ends a link is in link.go.
	ctx := context.WithoutCancel(r.Context())
	go func() {
		defer h.serving.Done()
		h.serve(ctx, conn)
	}()
}

// serve runs one socket: the opening, then the link until its end.
func (h *Hub) serve(ctx context.Context, conn *websocket.Conn) {
	opened, err := h.open(ctx, conn)
	if err != nil {
		h.log.DebugContext(ctx, "link refused", slog.Any("error", err))
		turnAway(ctx, conn, err)
		return
	}
	l := newLink(h, conn, opened)
	if err := h.seat(l, opened.tabs); err != nil {
		turnAway(ctx, conn, err)
		return
	}
	l.serve(ctx)
}

// Status tells how a project's link stands.
func (h *Hub) Status(account, project string) LinkStatus {
	h.slotsMu.Lock()
	defer h.slotsMu.Unlock()
	s := h.slots[place{account, project}]
	if s == nil || !s.live() {
		return LinkStatus{}
	}
	return LinkStatus{
		Connected: true, Since: s.link.since, Browser: s.browser, Level: s.link.level, Tabs: slices.Clone(s.tabs),
	}
}

// owe has tell called by whoever holds slotsMu now, as soon as it has been let go. slotsMu is held.
func (h *Hub) owe(tell func()) { h.owed = append(h.owed, tell) }

// unlock lets slotsMu go and tells what is owed. Who may end a hold uses it.
func (h *Hub) unlock() {
	owed := h.owed
	h.owed = nil
	h.slotsMu.Unlock()
	for _, tell := range owed {
		tell()
	}
}

// Disconnect closes the project's link with 4001 and ends its sessions' browsers (Done). reason is told in
// the events and to the person.
func (h *Hub) Disconnect(account, project string, reason Reason) {
	h.slotsMu.Lock()
	defer h.unlock()
	s := h.slots[place{account, project}]
	if s == nil {
		return
	}
	if s.link != nil {
		s.link.shut(ending{reason: reason, code: closeRevoked})
		h.vacate(s, reason)
	}
	h.forget(s)
}

// SetLevel tells the project's browser, if it is connected, that the policy's ceiling changed.
func (h *Hub) SetLevel(account, project string, level program.Level) {
	h.slotsMu.Lock()
	defer h.unlock()
	s := h.slots[place{account, project}]
	if s == nil || !s.live() {
		return
	}
	s.link.level = level
	s.link.tell(outward{T: kindLevel, Level: level})
	h.judgeHolds(s)
}

// Close ends every browser and link with 1001 and waits for everything the hub started; no link is
// admitted from then on. When ctx ends first its error is returned, and the rest ends by itself within
// the time of a close handshake.
func (h *Hub) Close(ctx context.Context) error {
	h.shutAll()
	done := make(chan struct{})
	go func() {
		h.serving.Wait()
		h.news.close()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *Hub) shutAll() {
	h.slotsMu.Lock()
	defer h.unlock()
	h.closed = true
	for conn := range h.opening {
		// The greeting that reads from it sees the error at once.
		_ = conn.CloseNow()
	}
	for _, s := range h.slots {
		if s.link != nil {
			s.link.shut(ending{reason: ReasonShutdown, code: websocket.StatusGoingAway})
		}
		h.endSessions(s, errGone())
	}
}

// report tells one event outward.
func (h *Hub) report(e Event) {
	h.log.Info("link event", slog.String("kind", string(e.Kind)), slog.String("account", e.Account),
		slog.String("project", e.Project), slog.String("install", e.Browser.Install), slog.String("reason", string(e.Reason)))
	h.options.Events(e)
}

var errClosed = errors.New("relay: the hub is closed")
