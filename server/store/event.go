package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"
)

// Event is one durable event. Seq counts from 1 for each account, without a hole; Fields is a JSON object.
type Event struct {
	Account string          `json:"-"`
	Seq     int64           `json:"seq"`
	Time    time.Time       `json:"time"`
	Project string          `json:"project"`
	Session string          `json:"session,omitempty"`
	Kind    string          `json:"kind"`
	Fields  json.RawMessage `json:"fields"`
}

// EventFilter picks an account's events after a seq, oldest first. An empty Project or Session means any;
// Limit 0 means 200, and 1000 is the most.
type EventFilter struct {
	Account string
	Project string
	Session string
	After   int64
	Limit   int
}

const eventColumns = `account, seq, time_ms, project, session, kind, fields`

func scanEvent(row scanner) (Event, error) {
	var e Event
	var at int64
	var fields string
	err := row.Scan(&e.Account, &e.Seq, &at, &e.Project, &e.Session, &e.Kind, &fields)
	e.Time, e.Fields = fromMS(at), json.RawMessage(fields)
	return e, err
}

// AppendEvent makes an event durable and returns it with its seq. Fields that are empty become `{}`.
func (s *Store) AppendEvent(ctx context.Context, event Event) (Event, error) {
	if len(event.Fields) == 0 {
		event.Fields = json.RawMessage(`{}`)
	}
	err := s.write(ctx, func(tx *sql.Tx) error {
		var err error
		if event.Seq, err = count(ctx, tx, event.Account, "events"); err != nil {
			return err
		}
		_, err = exec(ctx, tx, q(`INSERT INTO events (`+eventColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			event.Account, event.Seq, toMS(event.Time), event.Project, event.Session, event.Kind, string(event.Fields)))
		return err
	})
	return event, wrap(err, "append event")
}

// EventsAfter lists events, oldest first.
func (s *Store) EventsAfter(ctx context.Context, filter EventFilter) ([]Event, error) {
	list, err := many(ctx, s.reader, scanEvent, q(`SELECT `+eventColumns+` FROM events
		WHERE account = $1 AND ($2 = '' OR project = $2) AND ($3 = '' OR session = $3) AND seq > $4
		ORDER BY seq LIMIT $5`,
		filter.Account, filter.Project, filter.Session, filter.After, pageSize(filter.Limit, 200, 1000)))
	return list, wrap(err, "list events")
}

// count steps one of the account's counters, which outlive the rows they counted, and returns its value.
func count(ctx context.Context, tx querier, account, name string) (int64, error) {
	return one(ctx, tx, scanInt, q(`INSERT INTO counters (account, name, value) VALUES ($1, $2, 1)
		ON CONFLICT (account, name) DO UPDATE SET value = counters.value + 1 RETURNING value`, account, name))
}

func scanInt(row scanner) (int64, error) {
	var n int64
	err := row.Scan(&n)
	return n, err
}
