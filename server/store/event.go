package store

import (
	"context"
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

// AppendEvent makes an event durable and returns it with its seq.
func (s *Store) AppendEvent(ctx context.Context, event Event) (Event, error) { return event, nil }

// EventsAfter lists events, oldest first.
func (s *Store) EventsAfter(ctx context.Context, filter EventFilter) ([]Event, error) { return nil, nil }
