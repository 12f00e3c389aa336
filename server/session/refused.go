package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"chaperone/egress"
)

const (
	// refusedSpan is how long refusals are gathered before one event tells of them. While they go on each next span is
	// twice as long, up to longestSpan: a page that asks without end gets some events, not some thousand.
	refusedSpan = time.Second
	longestSpan = time.Minute
	// mostRefused bounds the kinds of refusals that are counted apart in one span, and mostTold those that an event names.
	mostRefused = 256
	mostTold    = 16
	// longestMethod: a page may call a method anything.
	longestMethod = 16
)

// refusedKind is what makes refusals the same.
type refusedKind struct {
	host   string
	port   uint16
	method string
	reason egress.Reason
}

// refused gathers what egress refused a session, which a page may make happen as often as it likes.
type refused struct {
	tellMu sync.Mutex // held while an event is told, so that they come in order and none after the last

	nowMu sync.Mutex
	kinds map[refusedKind]int
	count int // in this span
	total int
	since time.Time // the first of the span
	span  time.Duration
	timer *time.Timer // nil while nothing is gathered
	over  bool
}

// Refused counts what egress refused one of the sessions. It does not block; what belongs to no living session is left out.
func (s *Service) Refused(d egress.Decision) {
	l := s.find(d.Session)
	if l == nil {
		return
	}
	r := &l.refused
	r.nowMu.Lock()
	defer r.nowMu.Unlock()
	if r.over {
		return
	}
	if r.count == 0 {
		r.since, r.kinds = d.At, map[refusedKind]int{}
	}
	r.count++
	r.total++
	kind := refusedKind{host: d.Host, port: d.Port, method: d.Method, reason: egress.Reason(d.Reason)}
	if len(kind.method) > longestMethod {
		kind.method = "other"
	}
	if _, isKnown := r.kinds[kind]; isKnown || len(r.kinds) < mostRefused {
		r.kinds[kind]++
	}
	if r.timer == nil {
		r.span = refusedSpan
		r.timer = time.AfterFunc(r.span, func() { s.tellRefused(l) })
	}
}

// tellRefused tells of a span's refusals in one event.
func (s *Service) tellRefused(l *living) {
	r := &l.refused
	r.tellMu.Lock()
	defer r.tellMu.Unlock()
	if fields := r.take(); fields != nil {
		s.tell(context.Background(), l, "egress.refused", fields)
	}
}

// tellLastRefused tells of what is left; after it nothing is told any more.
func (s *Service) tellLastRefused(l *living) {
	l.refused.finish()
	s.tellRefused(l)
}

func (r *refused) finish() {
	r.nowMu.Lock()
	defer r.nowMu.Unlock()
	r.over = true
	if r.timer != nil {
		r.timer.Stop()
	}
}

// take ends a span and begins the next, if there was anything in this one.
func (r *refused) take() map[string]any {
	r.nowMu.Lock()
	defer r.nowMu.Unlock()
	if r.count == 0 {
		r.timer = nil
		return nil
	}
	fields := r.fields()
	r.count, r.kinds = 0, nil
	if !r.over {
		r.span = min(2*r.span, longestSpan)
		r.timer.Reset(r.span)
	}
	return fields
}

// fields is what the event says; nowMu is held.
func (r *refused) fields() map[string]any {
	kinds := make([]refusedKind, 0, len(r.kinds))
	for kind := range r.kinds {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b refusedKind) int {
		return cmp.Or(cmp.Compare(r.kinds[b], r.kinds[a]), cmp.Compare(a.host, b.host), cmp.Compare(a.port, b.port),
			cmp.Compare(a.method, b.method), cmp.Compare(a.reason, b.reason))
	})
	told, left := make([]map[string]any, 0, mostTold), r.count
	for _, kind := range kinds[:min(len(kinds), mostTold)] {
		told = append(told, map[string]any{
			"host": kind.host, "port": kind.port, "method": kind.method, "reason": kind.reason, "count": r.kinds[kind],
		})
		left -= r.kinds[kind]
	}
	return map[string]any{
		"count": r.count, "total": r.total, "since": r.since.UTC(), "refused": told, "others": left,
		"message": sentence(kinds[0], r.count),
	}
}

// sentence names the most frequent of the refusals.
func sentence(kind refusedKind, count int) string {
	where := cmp.Or(kind.host, "a request")
	if count == 1 {
		return fmt.Sprintf("%s was refused: %s", where, kind.reason.Words())
	}
	return fmt.Sprintf("%d requests were refused, most of all %s: %s", count, where, kind.reason.Words())
}
