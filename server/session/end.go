package session

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"chaperone/server/ledger"
	"chaperone/server/store"
)

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
			s.end(l, Failed, why(l.browser))
			return
		case <-timer.C:
			left := s.config.Limits.Idle - l.idleFor(s.config.Now())
			if left <= 0 {
				s.end(l, Expired, "nothing was done for "+s.config.Limits.Idle.String())
				return
			}
			timer.Reset(left)
		}
	}
}

// why says what a browser that went by itself died of, where it can tell.
func why(b Browser) string {
	if teller, ok := b.(interface{ Err() error }); ok {
		if err := teller.Err(); err != nil {
			return asFault(err).Message
		}
	}
	return "the browser is gone"
}

// end ends a session once; who comes second waits for the first.
func (s *Service) end(l *living, state State, reason string) {
	l.endOnce.Do(func() {
		close(l.over)
		defer close(l.gone)
		s.finish(l, state, reason)
	})
	<-l.gone
}

// finish closes the browser, gives the place back and tells. It goes on whatever fails on the way.
func (s *Service) finish(l *living, state State, reason string) {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	l.setState(Ending, reason, time.Time{})
	err := l.browser.Close(ctx)
	now := s.config.Now()
	l.setState(state, reason, now)

	after := context.WithoutCancel(ctx)
	err = errors.Join(err, s.config.Store.UpdateSession(after, l.account, l.id,
		store.SessionChange{State: string(state), Ended: now, Reason: reason}))
	outcome := ledger.Outcome{Outcome: ledger.Done, Detail: map[string]string{"state": string(state)}}
	_, ledgerErr := s.config.Ledger.Append(after, l.entry(l.actor, "session.close"), outcome)
	err = errors.Join(err, ledgerErr)

	s.livingMu.Lock()
	delete(s.living, l.id)
	s.livingMu.Unlock()
	s.places.give(l.project.ID)
	s.tell(after, l, "session.closed", map[string]any{"state": state, "reason": reason})
	if err != nil {
		s.config.Logger.ErrorContext(ctx, "session ended with trouble", slog.String("session", l.id), slog.Any("error", err))
	}
}
