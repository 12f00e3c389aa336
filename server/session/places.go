package session

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"chaperone/server/fault"
)

// places is how many sessions may live at once, in all and in one project. Who comes first is served
// first, except that one who waits for a full project does not hold up those of another.
type places struct {
	total, perProject int
	wait              time.Duration

	takenMu sync.Mutex
	taken   map[string]int
	sum     int
	queue   []*claim
}

type claim struct {
	project string
	granted chan struct{}
}

func newPlaces(total, perProject int, wait time.Duration) *places {
	return &places{total: total, perProject: perProject, wait: wait, taken: map[string]int{}}
}

// take waits for a place; the caller gives it back with give.
func (p *places) take(ctx context.Context, project string) error {
	c := p.claim(project)
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
		return p.abandon(c, fault.New(fault.Busy,
			fmt.Sprintf("every place is taken: at most %d sessions, %d a project; waited %s", p.total, p.perProject, p.wait),
			"End a session you no longer need (chaperone session list, session close) or try again later."))
	}
}

// claim takes a free place at once (nil) or queues for one.
func (p *places) claim(project string) *claim {
	p.takenMu.Lock()
	defer p.takenMu.Unlock()
	if p.free(project) {
		p.occupy(project)
		return nil
	}
	c := &claim{project: project, granted: make(chan struct{})}
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

func (p *places) give(project string) {
	p.takenMu.Lock()
	defer p.takenMu.Unlock()
	p.sum--
	p.taken[project]--
	if p.taken[project] == 0 {
		delete(p.taken, project)
	}
	p.queue = slices.DeleteFunc(p.queue, func(c *claim) bool {
		if !p.free(c.project) {
			return false
		}
		p.occupy(c.project)
		close(c.granted)
		return true
	})
}

func (p *places) free(project string) bool {
	return p.sum < p.total && p.taken[project] < p.perProject
}

func (p *places) occupy(project string) {
	p.sum++
	p.taken[project]++
}
