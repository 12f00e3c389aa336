package session

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"chaperone/server/fault"
)

// places is how many sessions may live at once, in all and in one project; on a project's profile there is one. A place that becomes free goes to whoever
// has waited longest of the account that has the fewest; one who waits for a full project does not hold up others.
type places struct {
	total, perProject int
	wait              time.Duration

	takenMu   sync.Mutex
	byProject map[string]int
	byAccount map[string]int
	byProfile map[string]int // by project
	sum       int
	queue     []*claim // in order of arrival
}

// owner is who has a place, or wants one.
type owner struct {
	account, project string
	onProfile        bool
}

type claim struct {
	owner
	granted chan struct{}
}

func newPlaces(total, perProject int, wait time.Duration) *places {
	return &places{total: total, perProject: perProject, wait: wait, byProject: map[string]int{}, byAccount: map[string]int{}, byProfile: map[string]int{}}
}

// take waits for a place; the caller gives it back with give.
func (p *places) take(ctx context.Context, o owner) error {
	c := p.claim(o)
	if c == nil {
		return nil
	}
	timer := time.NewTimer(p.wait)
	defer timer.Stop()
	select {
	case <-c.granted:
		return nil
	case <-ctx.Done():
		return p.abandon(c, ctx.Err())
	case <-timer.C:
		return p.abandon(c, p.full(o))
	}
}

// full says which places are taken.
func (p *places) full(o owner) error {
	p.takenMu.Lock()
	defer p.takenMu.Unlock()
	if o.onProfile && p.byProfile[o.project] > 0 {
		return fault.New(fault.Busy, fmt.Sprintf("the project's profile is in use by another session, and serves one at a time; waited %s", p.wait),
			"End that session (chaperone session list, session close), or act in it.")
	}
	return fault.New(fault.Busy,
		fmt.Sprintf("every place is taken: at most %d sessions, %d a project; waited %s", p.total, p.perProject, p.wait),
		"End a session you no longer need (chaperone session list, session close) or try again later.")
}

// claim takes a free place at once (nil) or queues for one.
func (p *places) claim(o owner) *claim {
	p.takenMu.Lock()
	defer p.takenMu.Unlock()
	if p.isFree(o) {
		p.count(o, 1)
		return nil
	}
	c := &claim{owner: o, granted: make(chan struct{})}
	p.queue = append(p.queue, c)
	return c
}

func (p *places) abandon(c *claim, err error) error {
	p.takenMu.Lock()
	defer p.takenMu.Unlock()
	select {
	case <-c.granted: // it came at the last moment
		return nil
	default:
	}
	p.queue = slices.DeleteFunc(p.queue, func(q *claim) bool { return q == c })
	return err
}

func (p *places) give(o owner) {
	p.takenMu.Lock()
	defer p.takenMu.Unlock()
	p.count(o, -1)
	for c := p.next(); c != nil; c = p.next() {
		p.queue = slices.DeleteFunc(p.queue, func(q *claim) bool { return q == c })
		p.count(c.owner, 1)
		close(c.granted)
	}
}

// next is who gets the place that is free, nil where nobody can have one; takenMu must be held.
func (p *places) next() *claim {
	var first *claim
	for _, c := range p.queue {
		if p.isFree(c.owner) && (first == nil || p.byAccount[c.account] < p.byAccount[first.account]) {
			first = c
		}
	}
	return first
}

func (p *places) isFree(o owner) bool {
	return p.sum < p.total && p.byProject[o.project] < p.perProject && (!o.onProfile || p.byProfile[o.project] == 0)
}

// count adds to what an owner has. Who has nothing is forgotten.
func (p *places) count(o owner, n int) {
	p.sum += n
	add(p.byProject, o.project, n)
	add(p.byAccount, o.account, n)
	if o.onProfile {
		add(p.byProfile, o.project, n)
	}
}

func add(counts map[string]int, name string, n int) {
	if counts[name] += n; counts[name] == 0 {
		delete(counts, name)
	}
}
