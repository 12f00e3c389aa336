package chrome

import (
	"context"
	"fmt"
	"time"
)

// slotKey: sessions share a process only when both agree. Chrome does not say which context a
// paused request belongs to, so one process has one policy.
type slotKey struct {
	account string
	policy  Policy
}

// slot is a process, or the promise of one.
type slot struct {
	ready chan struct{} // closed when proc or err is set
	proc  *process
	err   error

	// What follows is guarded by the pool's mu.
	users int
	since time.Time   // when the last user left
	idle  *time.Timer // runs while there is none and the process is kept warm
}

func newSlot() *slot { return &slot{ready: make(chan struct{})} }

// acquire returns a slot with a process that lives, counted as used. A process that has just died is waited for
// and replaced.
func (p *Pool) acquire(ctx context.Context, key slotKey) (*slot, error) {
	for {
		s, err := p.claim(ctx, key)
		if err != nil {
			return nil, err
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			p.running.Go(func() { p.release(key, s) }) // a process nobody else waits for ends when it is up
			return nil, ctx.Err()
		}
		if s.err != nil {
			p.release(key, s)
			return nil, s.err
		}
		if !isClosed(s.proc.dead) {
			return s, nil
		}
		p.release(key, s)
	}
}

func (p *Pool) claim(ctx context.Context, key slotKey) (*slot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errPoolClosed
	}
	s, ok := p.slots[key]
	if !ok {
		s = newSlot()
		p.slots[key] = s
		p.running.Go(func() { p.fill(ctx, key, s) })
	}
	s.users++
	s.stopIdling()
	return s, nil
}

// fill gets the slot a process and watches it to its end. The first asker's context does not end it:
// others may be waiting for the same process.
func (p *Pool) fill(ctx context.Context, key slotKey, s *slot) {
	starting, cancel := context.WithTimeout(context.WithoutCancel(ctx), launchTimeout)
	defer cancel()
	s.proc, s.err = p.obtain(starting, key.policy)
	close(s.ready)
	if s.err == nil {
		p.replaceSpare(ctx)
		<-s.proc.dead
	}
	p.forget(key, s)
	if s.err == nil {
		<-s.proc.gone
	}
}

// obtain answers the spare process where it can be had, else a new one.
func (p *Pool) obtain(ctx context.Context, policy Policy) (*process, error) {
	if spare := p.takeSpare(); spare != nil {
		if !spare.isEnding() && spare.dedicate(ctx, policy) == nil {
			return spare, nil
		}
		spare.stop()
	}
	return p.launchFor(ctx, nil, policy)
}

// launchFor starts a process of one policy, on a profile where there is one.
func (p *Pool) launchFor(ctx context.Context, held *profile, policy Policy) (*process, error) {
	proc, err := p.launch(ctx, held)
	if err != nil {
		return nil, err
	}
	if err := proc.dedicate(ctx, policy); err != nil {
		proc.stop()
		return nil, err
	}
	return proc, nil
}

func (p *Pool) forget(key slotKey, s *slot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.stopIdling()
	if p.slots[key] == s {
		delete(p.slots, key)
	}
}

// release counts one user less. The last one out leaves the process warm for a while, or ends it and waits for that.
func (p *Pool) release(key slotKey, s *slot) {
	ending := p.leave(key, s)
	for _, s := range ending {
		<-s.ready
		if s.err == nil {
			s.proc.stop()
		}
	}
}

// leave answers the slots whose processes are not kept any more.
func (p *Pool) leave(key slotKey, s *slot) []*slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.users--; s.users > 0 {
		return nil
	}
	if p.slots[key] == s && p.keeps(s) {
		s.since = time.Now()
		s.idle = time.AfterFunc(p.options.Warm, func() { p.giveUp(key, s) })
		return p.tooManyIdle()
	}
	if p.slots[key] == s {
		delete(p.slots, key)
	}
	return []*slot{s}
}

// Close ends every session and returns when no process, folder or socket of the pool is left. Open
// fails afterwards.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	close(p.quit)
	for _, s := range p.slots {
		p.end(s)
	}
	p.mu.Unlock()
	done := make(chan struct{})
	go func() { p.running.Wait(); close(done) }()
	select {
	case <-done:
		return p.folder.close()
	case <-ctx.Done():
		return fmt.Errorf("close pool: %w", ctx.Err())
	}
}

// end stops a slot's process as soon as it is up; mu must be held.
func (p *Pool) end(s *slot) {
	s.stopIdling()
	p.running.Go(func() {
		if <-s.ready; s.err == nil {
			s.proc.stop()
		}
	})
}
