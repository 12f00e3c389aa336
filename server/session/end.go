package session

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"chaperone/relay/program"
	"chaperone/server/account"
	"chaperone/server/fault"
	"chaperone/server/ledger"
	"chaperone/server/store"
)

// end is why a session ends: who ended it, what it becomes, the ledger's word for it and ours.
type end struct {
	by     ledger.Actor
	state  State
	word   string
	reason string
}

// byServer is the actor of what nobody asked for.
func byServer(state State, word, reason string) end {
	return end{by: ledger.Actor{Kind: "server", ID: "server"}, state: state, word: word, reason: reason}
}

// byActor is an end that somebody asked for.
func byActor(actor account.Actor) end {
	return end{
		by: ledgerActor(actor), state: Ended, word: "closed",
		reason: "closed by " + string(actor.Kind),
	}
}

// mind waits for the session's end: another's Close, a browser that is gone, or nothing to do for too long.
func (s *Service) mind(l *living) {
	timer := time.NewTimer(s.config.Limits.Idle)
	defer timer.Stop()
	for {
		select {
		case <-l.over:
			<-l.gone
			return
		case <-l.browser.Done():
			s.end(l, byServer(Failed, "browser_gone", s.why(l)))
			return
		case <-timer.C:
			left := s.config.Limits.Idle - l.idleFor(s.config.Now())
			if left <= 0 {
				s.end(l, byServer(Expired, "idle", "nothing was done for "+s.config.Limits.Idle.String()))
				return
			}
			timer.Reset(left)
		}
	}
}

// why says what a browser that went by itself died of, where it can tell.
func (s *Service) why(l *living) string {
	if teller, ok := l.browser.(interface{ Err() error }); ok {
		if err := teller.Err(); err != nil {
			s.config.Logger.Warn("browser ended", slog.String("session", l.id), slog.Any("error", err))
			return known(err)
		}
	}
	return "the browser is gone"
}

// known is what an error says if it was made for the outside; else the browser died, and the log has the rest.
func known(err error) string {
	if edge, ok := errors.AsType[*program.Error](err); ok {
		return edge.Message
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Code != fault.Internal {
		return f.Message
	}
	return "the browser ended unexpectedly"
}

// end ends a session once; who comes second waits for the first.
func (s *Service) end(l *living, e end) {
	l.endOnce.Do(func() {
		l.setState(Ending, e.reason, time.Time{})
		close(l.over)
		defer close(l.gone)
		s.finish(l, e)
	})
	<-l.gone
}

// close ends what clients and the agent have of the session: they are cut off first, and goodbyes go on beside the
// closing of the browser.
func (l *living) close(ctx context.Context) error {
	x := l.cut(ofServer("session_ended"))
	err := l.browser.Close(ctx)
	if x != nil {
		<-x.gone
	}
	return err
}

// finish closes the browser, gives the place back and tells. It goes on whatever fails on the way.
func (s *Service) finish(l *living, e end) {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	err := l.close(ctx)
	now := s.config.Now()
	l.setState(e.state, e.reason, now)

	after := context.WithoutCancel(ctx)
	done := l.view()
	err = errors.Join(err, s.config.Store.UpdateSession(after, l.account, l.id,
		store.SessionChange{State: string(e.state), Ended: now, Reason: e.reason, Actions: done.Actions, Commands: done.Commands}))
	outcome := ledger.Outcome{Outcome: ledger.Done, Detail: map[string]string{"state": string(e.state), "cause": e.word}}
	_, ledgerErr := s.config.Ledger.Append(after, l.entry(e.by, "session.close"), outcome)
	err = errors.Join(err, ledgerErr)

	s.livingMu.Lock()
	delete(s.living, l.id)
	s.livingMu.Unlock()
	s.places.give(l.owner())
	s.tellLastRefused(l)
	s.tell(after, l, "session.closed", map[string]any{"state": e.state, "reason": e.reason})
	if err != nil {
		s.config.Logger.ErrorContext(ctx, "session ended with trouble", slog.String("session", l.id), slog.Any("error", err))
	}
}
