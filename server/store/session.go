package store

import (
	"context"
	"time"
)

// Session is one session's row. Ended is zero while it lives; Reason says why it ended.
type Session struct {
	ID        string
	Account   string
	Project   string
	Backend   string
	Label     string
	Run       string
	State     string
	Created   time.Time
	Ended     time.Time
	Reason    string
	ActorKind string
	ActorID   string
}

// SessionChange is what UpdateSession writes: the state as it is now, and when and why it ended.
type SessionChange struct {
	State  string
	Ended  time.Time
	Reason string
}

// SessionFilter picks sessions, newest first. An empty Project means every project of the account; Before
// is the last id of the page before; Limit 0 means 50, and 500 is the most.
type SessionFilter struct {
	Account string
	Project string
	Before  string
	Limit   int
}

// SaveSession adds a session's row.
func (s *Store) SaveSession(ctx context.Context, session Session) error { return nil }

// UpdateSession writes change to one session; ErrNotFound when the account has no such session.
func (s *Store) UpdateSession(ctx context.Context, account, id string, change SessionChange) error {
	return nil
}

// GetSession finds one session of the account, or ErrNotFound.
func (s *Store) GetSession(ctx context.Context, account, id string) (Session, error) {
	return Session{}, nil
}

// ListSessions lists sessions, newest first.
func (s *Store) ListSessions(ctx context.Context, filter SessionFilter) ([]Session, error) {
	return nil, nil
}

// FailUnfinishedSessionsAnyAccount marks as failed, at now and for reason, every session that has no end,
// and returns them as they are then. It is for the start of a server, when none can be alive.
func (s *Store) FailUnfinishedSessionsAnyAccount(ctx context.Context, now time.Time, reason string) ([]Session, error) {
	return nil, nil
}
