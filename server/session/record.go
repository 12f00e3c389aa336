package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"chaperone/egress"
	"chaperone/relay/endpoint"
	"chaperone/server/ledger"
)

const (
	// recordSpan is how long one row's commands are gathered.
	recordSpan = time.Second
	// recordWait bounds one write of the journal; a command waits for it.
	recordWait = 10 * time.Second
	// mostPeers is how many hosts have rows of their own in one span; what goes elsewhere counts with the latest.
	mostPeers = 8
)

var errNotRecorded = errors.New("what CDP clients do cannot be written down")

// recorder writes what a session's CDP clients do: a row a second and host. The row's entry is journalled before its
// first command goes down; what a crash leaves of it becomes a row with the outcome lost.
type recorder struct {
	service *Service
	session *living
	by      ledger.Actor // who asked for the capability first; whoever else knows it cannot be told apart

	nowMu  sync.Mutex
	err    error
	chains chains
	rows   map[string]*tally // the span's, by host
	full   []*tally          // the span's that have no room for further clients' digests
	latest *tally
	peers  peers
	moves  int // of clients, since the last event
	count  int // of clients

	wake   chan struct{} // of capacity one: something is to be told
	quit   chan struct{}
	broken chan struct{} // closed with the first row that could not be written
	done   chan struct{}
}

func newRecorder(s *Service, l *living, by ledger.Actor) *recorder {
	r := &recorder{
		service: s, session: l, by: by, rows: map[string]*tally{},
		wake: make(chan struct{}, 1), quit: make(chan struct{}), broken: make(chan struct{}), done: make(chan struct{}),
	}
	go r.run()
	return r
}

// key begins the clients' chains; nobody has connected yet.
func (r *recorder) key(c Capability) {
	r.nowMu.Lock()
	defer r.nowMu.Unlock()
	r.chains = newChains(c)
}

// Record counts one command. The first of a host in a span waits until the journal has its entry.
func (r *recorder) Record(c endpoint.Command) error {
	r.nowMu.Lock()
	defer r.nowMu.Unlock()
	if r.err != nil {
		return r.err
	}
	row, err := r.row(c)
	if err != nil {
		r.fail(err)
		return r.err
	}
	row.add(c, r.chains.add(c.Client, c.Raw))
	r.latest = row
	r.session.command(c, r.service.config.Now)
	return nil
}

// row is the tally that the command counts in; nowMu is held.
func (r *recorder) row(c endpoint.Command) (*tally, error) {
	peer := r.peers.of(c, r.session.leads)
	row := r.rows[peer]
	if row == nil && (peer == "" || len(r.rows) >= mostPeers) {
		row = r.latest
	}
	if row != nil && row.hasRoomFor(c.Client) {
		return row, nil
	}
	if row != nil {
		peer = row.peer
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordWait)
	defer cancel()
	entry := r.session.entry(r.by, "commands")
	entry.Kind, entry.Direction, entry.Peer = ledger.CDP, "out", peer
	pending, err := r.service.config.Ledger.Begin(ctx, entry)
	if err != nil {
		return nil, err
	}
	if row != nil {
		r.full = append(r.full, row)
	}
	row = newTally(pending)
	row.peer = peer
	r.rows[peer] = row
	r.stir()
	return row, nil
}

// peers reads addresses; most commands go where the one before went.
type peers struct{ address, host string }

// of is the host that a command is about: where it leads, if it may lead there, else where its tab is.
func (p *peers) of(c endpoint.Command, leads func(address string) bool) string {
	address := c.URL
	if to := destination(c); to != "" && leads(to) {
		address = to
	}
	if address == p.address {
		return p.host
	}
	p.address, p.host = address, ""
	if u, err := egress.ReadURL(address); err == nil {
		p.host = u.Host
	}
	return p.host
}

// changed notes how many clients are connected.
func (r *recorder) changed(clients int) {
	r.nowMu.Lock()
	defer r.nowMu.Unlock()
	r.count = clients
	r.moves++
	if clients == 0 {
		r.chains.clear()
	}
	r.stir()
}

// stir lets run tell what is new within a span.
func (r *recorder) stir() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// fail lets nothing be done any more; nowMu is held.
func (r *recorder) fail(err error) {
	if r.err != nil {
		return
	}
	r.err = errNotRecorded
	close(r.broken)
	r.service.config.Logger.Error("cdp commands not recorded", slog.String("session", r.session.id), slog.Any("error", err))
}

// close writes what is left. No client may be there any more.
func (r *recorder) close() {
	close(r.quit)
	<-r.done
}

// run writes the rows of each span at its end.
func (r *recorder) run() {
	defer close(r.done)
	for {
		select {
		case <-r.wake:
		case <-r.quit:
			r.flush()
			return
		}
		span := time.NewTimer(recordSpan)
		select {
		case <-span.C:
		case <-r.quit:
		}
		span.Stop()
		r.flush()
		r.catchUp()
	}
}

// catchUp moves what is shown to where clients are, after the next span where it is too early now.
func (r *recorder) catchUp() {
	if !r.session.catchUp(r.service.config.Now()) {
		r.stir()
	}
}

// flush finishes the span's rows and tells of them in one event.
func (r *recorder) flush() {
	r.nowMu.Lock()
	rows, moves, clients := slices.AppendSeq(r.full, maps.Values(r.rows)), r.moves, r.count
	r.full, r.rows, r.latest, r.moves = nil, map[string]*tally{}, nil, 0
	r.nowMu.Unlock()
	if len(rows) == 0 && moves == 0 {
		return
	}
	ctx := context.Background()
	sum := newSummary(clients)
	for _, row := range rows {
		written, err := r.service.config.Ledger.Finish(ctx, row.pending, row.outcome())
		if err != nil {
			r.nowMu.Lock()
			r.fail(fmt.Errorf("finish row: %w", err))
			r.nowMu.Unlock()
			continue
		}
		sum.add(row, written.Seq)
	}
	r.service.tell(ctx, r.session, "browser.cdp", sum.fields())
}
