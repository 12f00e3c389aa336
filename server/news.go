package server

import (
	"context"
	"encoding/json"
	"log/slog"

	"chaperone/relay"
	"chaperone/server/ledger"
	"chaperone/server/session"
)

// newsBound is how many link events may wait; more are dropped from the log's point of view only: the
// relay's own state is what counts.
const newsBound = 1024

// news carries what happens on links to the ledger and the events, off the relay's goroutine.
type news struct {
	queue   chan relay.Event
	ended   chan struct{} // closed by stop
	carried chan struct{} // closed when the last event is written
}

func newNews() *news {
	return &news{queue: make(chan relay.Event, newsBound), ended: make(chan struct{}), carried: make(chan struct{})}
}

// take never blocks the relay; when the queue is full the event is dropped.
func (n *news) take(e relay.Event) {
	select {
	case n.queue <- e:
	default:
	}
}

// carry starts to write each event down; stop ends it.
func (n *news) carry(l *ledger.Ledger, s *session.Service, log *slog.Logger) {
	put := func(e relay.Event) {
		if err := write(context.Background(), e, l, s); err != nil {
			log.Error("link event lost", slog.String("kind", string(e.Kind)), slog.Any("error", err))
		}
	}
	go func() {
		defer close(n.carried)
		for {
			select {
			case e := <-n.queue:
				put(e)
			case <-n.ended:
				n.drain(put)
				return
			}
		}
	}()
}

func (n *news) drain(put func(relay.Event)) {
	for {
		select {
		case e := <-n.queue:
			put(e)
		default:
			return
		}
	}
}

// stop writes what is left and ends carry. Whoever calls take has ended before.
func (n *news) stop(context.Context) error {
	close(n.ended)
	<-n.carried
	return nil
}

// write makes the event an access row and tells those who listen.
func write(ctx context.Context, e relay.Event, l *ledger.Ledger, s *session.Service) error {
	entry := ledger.Entry{
		Account: e.Account, Actor: ledger.Actor{Kind: "person", ID: e.Account}, Project: e.Project,
		Kind: ledger.Access, Direction: "in", Method: string(e.Kind), Detail: detail(e),
	}
	if _, err := l.Append(ctx, entry, ledger.Outcome{Outcome: ledger.Done}); err != nil {
		return err
	}
	fields, err := json.Marshal(map[string]any{
		"browser": e.Browser.Name, "version": e.Browser.Version, "tab": e.Tab, "reason": e.Reason,
	})
	if err != nil {
		return err
	}
	return s.Publish(ctx, session.Event{Account: e.Account, Project: e.Project, Kind: string(e.Kind), Time: e.At, Fields: fields})
}

// detail is what the ledger may know of a link event: no address, no title.
func detail(e relay.Event) map[string]string {
	d := map[string]string{}
	for key, value := range map[string]string{
		"tab": e.Tab.ID, "level": string(e.Tab.Level), "reason": string(e.Reason), "install": e.Browser.Install,
	} {
		if value != "" {
			d[key] = value
		}
	}
	return d
}
