package store

import (
	"context"
	"database/sql"
	"time"
)

// Session is one session's row. Ended is zero while it lives; Reason says why it ended.
type Session struct {
	ID        string
	Account   string
	Project   string
	Backend   string
	Policy    string
	Label     string
	Run       string
	State     string
	Created   time.Time
	Ended     time.Time
	Reason    string
	ActorKind string
	ActorID   string
	// Confinement says in words how its browser was kept from the network.
	Confinement string
	Actions     int
	Commands    int // of CDP clients
}

// SessionChange is what UpdateSession writes: the state and the counts as they are now, and when and
// why it ended.
type SessionChange struct {
	State    string
	Ended    time.Time
	Reason   string
	Actions  int
	Commands int
}

// SessionFilter picks sessions, newest first. An empty Project means every project of the account; Before
// is the last id of the page before; Limit 0 means 50, and 500 is the most.
type SessionFilter struct {
	Account string
	Project string
	Before  string
	Limit   int
}

const sessionColumns = `id, account, project, backend, policy, label, run, state, created_ms, ended_ms, reason, actor_kind, actor_id, confinement, actions, commands`

func scanSession(row scanner) (Session, error) {
	var s Session
	var created, ended int64
	err := row.Scan(&s.ID, &s.Account, &s.Project, &s.Backend, &s.Policy, &s.Label, &s.Run, &s.State,
		&created, &ended, &s.Reason, &s.ActorKind, &s.ActorID, &s.Confinement, &s.Actions, &s.Commands)
	s.Created, s.Ended = fromMS(created), fromMS(ended)
	return s, err
}

// SaveSession adds a session's row.
func (s *Store) SaveSession(ctx context.Context, session Session) error {
	_, err := exec(ctx, s.writer, q(`INSERT INTO sessions (`+sessionColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
		session.ID, session.Account, session.Project, session.Backend, session.Policy, session.Label, session.Run, session.State,
		toMS(session.Created), toMS(session.Ended), session.Reason, session.ActorKind, session.ActorID,
		session.Confinement, session.Actions, session.Commands))
	return wrap(err, "save session")
}

// UpdateSession writes change to one session; ErrNotFound when the account has no such session.
func (s *Store) UpdateSession(ctx context.Context, account, id string, change SessionChange) error {
	err := touch(ctx, s.writer, q(`UPDATE sessions SET state = $1, ended_ms = $2, reason = $3, actions = $4, commands = $5
		WHERE account = $6 AND id = $7`,
		change.State, toMS(change.Ended), change.Reason, change.Actions, change.Commands, account, id))
	return wrap(err, "update session")
}

// GetSession finds one session of the account, or ErrNotFound.
func (s *Store) GetSession(ctx context.Context, account, id string) (Session, error) {
	found, err := one(ctx, s.reader, scanSession,
		q(`SELECT `+sessionColumns+` FROM sessions WHERE account = $1 AND id = $2`, account, id))
	return found, wrap(err, "get session")
}

// ListSessions lists sessions, newest first.
func (s *Store) ListSessions(ctx context.Context, filter SessionFilter) ([]Session, error) {
	list, err := many(ctx, s.reader, scanSession, q(`SELECT `+sessionColumns+` FROM sessions
		WHERE account = $1 AND ($2 = '' OR project = $2) AND ($3 = '' OR id < $3)
		ORDER BY id DESC LIMIT $4`,
		filter.Account, filter.Project, filter.Before, pageSize(filter.Limit, 50, 500)))
	return list, wrap(err, "list sessions")
}

// FailUnfinishedSessionsAnyAccount marks as failed, at now and for reason, every session that has no end,
// and returns them as they are then. It is for the start of a server, when none can be alive.
func (s *Store) FailUnfinishedSessionsAnyAccount(ctx context.Context, now time.Time, reason string) ([]Session, error) {
	var failed []Session
	err := s.write(ctx, func(tx *sql.Tx) error {
		var err error
		failed, err = many(ctx, tx, scanSession,
			q(`UPDATE sessions SET state = 'failed', ended_ms = $1, reason = $2 WHERE ended_ms = 0
			RETURNING `+sessionColumns, toMS(now), reason))
		return err
	})
	return failed, wrap(err, "fail unfinished sessions")
}
