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
type news struct{ queue chan relay.Event }

func newNews() *news { return &news{queue: make(chan relay.Event, newsBound)} }

// take never blocks the relay; when the queue is full the event is dropped.
func (n *news) take(e relay.Event) {
	select {
	case n.queue <- e:
	default:
	}
}

// carry writes each event down until ctx ends and the queue is empty.
func (n *news) carry(ctx context.Context, l *ledger.Ledger, s *session.Service, log *slog.Logger) {
	for {
		select {
		case e := <-n.queue:
			if err := write(context.WithoutCancel(ctx), e, l, s); err != nil {
				log.ErrorContext(ctx, "link event lost", "kind", string(e.Kind), "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
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
