package session

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"sync"

	"chaperone/server/account"
	"chaperone/server/browse"
	"chaperone/server/fault"
	"chaperone/server/store"
)

// Event is one durable event, numbered within its account.
type Event = store.Event

// Scope picks events: a project's, or one session's of it.
type Scope struct{ Project, Session string }

// bell wakes everyone who waits for something new.
type bell struct {
	rungMu sync.Mutex
	rung   chan struct{}
}

func newBell() *bell { return &bell{rung: make(chan struct{})} }

func (b *bell) next() <-chan struct{} {
	b.rungMu.Lock()
	defer b.rungMu.Unlock()
	return b.rung
}

func (b *bell) ring() {
	b.rungMu.Lock()
	defer b.rungMu.Unlock()
	close(b.rung)
	b.rung = make(chan struct{})
}

// Publish makes an event durable and wakes who waits for it.
func (s *Service) Publish(ctx context.Context, e Event) error {
	if e.Time.IsZero() {
		e.Time = s.config.Now()
	}
	if _, err := s.config.Store.AppendEvent(ctx, e); err != nil {
		return err
	}
	s.bell.ring()
	return nil
}

// Events gives sink the events of a scope after a number, then each new one, until ctx ends (nil) or sink
// errs (that error). A slow sink delays only itself: events wait in the store.
func (s *Service) Events(ctx context.Context, actor account.Actor, scope Scope, after int64, sink func(Event) error) error {
	scope, err := s.inScope(ctx, actor, scope)
	if err != nil {
		return err
	}
	filter := store.EventFilter{Account: actor.Account, Project: scope.Project, Session: scope.Session, After: after}
	for {
		next := s.bell.next()
		batch, err := s.config.Store.EventsAfter(ctx, filter)
		if err != nil {
			return endOr(ctx, err)
		}
		for _, e := range batch {
			if err := sink(e); err != nil {
				return err
			}
			filter.After = e.Seq
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-next:
		}
	}
}

// endOr is nil when it is ctx that ended, whatever that made of the query.
func endOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the listener left, which is how listening ends
	}
	return err
}

// inScope finds the ids of a scope that the actor may see.
func (s *Service) inScope(ctx context.Context, actor account.Actor, scope Scope) (Scope, error) {
	if scope.Session != "" {
		view, err := s.Get(ctx, actor, scope.Session)
		return Scope{Project: view.Project, Session: view.ID}, err
	}
	p, err := s.config.Projects.Get(ctx, actor, scope.Project)
	return Scope{Project: p.ID}, err
}

// tell publishes an event of a session; an event that cannot be kept is logged, for the ledger has it.
func (s *Service) tell(ctx context.Context, l *living, kind string, fields map[string]any) {
	raw, err := json.Marshal(fields)
	if err == nil {
		err = s.Publish(context.WithoutCancel(ctx), Event{
			Account: l.account, Project: l.project.ID, Session: l.id, Kind: kind, Fields: raw,
		})
	}
	if err != nil {
		s.config.Logger.ErrorContext(ctx, "event lost", slog.String("session", l.id), slog.String("kind", kind), slog.Any("error", err))
	}
}

// tellAction tells what was done, to what and how it went; never what was typed.
func (s *Service) tellAction(ctx context.Context, l *living, a browse.Action, r browse.Result, failure *fault.Fault) {
	fields := map[string]any{
		"action": a.Action, "seq": r.Seq, "outcome": "done", "elapsed_ms": r.ElapsedMS, "ledger": r.Ledger.Seq,
	}
	for key, value := range map[string]string{
		"tab": r.Tab, "url": place(r.URL), "title": r.Title, "ref": a.Ref, "role": a.Role, "name": a.Name, "direction": a.Direction,
	} {
		if value != "" {
			fields[key] = value
		}
	}
	if failure != nil {
		fields["outcome"], fields["message"] = failure.Code, failure.Message
	}
	s.tell(ctx, l, "browser.action", fields)
	if r.Screenshot != nil {
		s.tell(ctx, l, "browser.snapshot.saved", map[string]any{
			"artifact": r.Screenshot.Artifact, "seq": r.Seq, "url": place(r.URL), "title": r.Title, "deliver": r.Deliver,
		})
	}
}

// place is where an address leads without what it carries: queries and fragments hold what was typed, and keys.
func place(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment, u.RawFragment = nil, "", "", ""
	u.ForceQuery = false
	return u.String()
}
