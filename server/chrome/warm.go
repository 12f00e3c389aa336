package chrome

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

const (
	// defaultWarm is how long a process without sessions is kept.
	defaultWarm = 5 * time.Minute
	// mostIdle is how many processes are kept that belong to an account and have no session; the one idle the longest
	// ends first. The spare one is besides.
	mostIdle = 2
	// spareDelay lets a session that has just been opened have the machine before a process is started for the next.
	spareDelay = 2 * time.Second
)

// keeps reports whether a slot's process is of use to a later session; mu must be held.
func (p *Pool) keeps(s *slot) bool {
	return !p.closed && p.options.Warm > 0 && isClosed(s.ready) && s.err == nil && !s.proc.isEnding()
}

// tooManyIdle takes out the slots that are idle beyond the bound; mu must be held.
func (p *Pool) tooManyIdle() []*slot {
	var idle []slotKey
	for key, s := range p.slots {
		if s.users == 0 {
			idle = append(idle, key)
		}
	}
	slices.SortFunc(idle, func(a, b slotKey) int { return p.slots[b].since.Compare(p.slots[a].since) })
	over := make([]*slot, 0, 1)
	for _, key := range idle[min(mostIdle, len(idle)):] {
		s := p.slots[key]
		s.stopIdling()
		delete(p.slots, key)
		over = append(over, s)
	}
	return over
}

// giveUp ends a process that no session has used for as long as one is kept.
func (p *Pool) giveUp(key slotKey, s *slot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.slots[key] != s || s.users > 0 {
		return
	}
	delete(p.slots, key)
	p.end(s)
}

func (s *slot) stopIdling() {
	if s.idle != nil {
		s.idle.Stop()
		s.idle = nil
	}
}

// spare is a process that belongs to nobody yet.
type spare struct {
	proc  *process      // nil until it is up; guarded by the pool's mu
	taken chan struct{} // closed by whoever takes it
}

// takeSpare answers the spare process, or nil where none is up.
func (p *Pool) takeSpare() *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.spare
	if s == nil || s.proc == nil {
		return nil
	}
	p.spare = nil
	close(s.taken)
	return s.proc
}

// replaceSpare sees to it that a process is ready for whoever needs the next one.
func (p *Pool) replaceSpare(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.options.Warm < 0 || p.spare != nil {
		return
	}
	s := &spare{taken: make(chan struct{})}
	p.spare = s
	p.running.Go(func() { p.keepSpare(context.WithoutCancel(ctx), s) })
}

// keepSpare starts a process after a while and keeps it until somebody takes it, or nobody has for as long as one is
// kept.
func (p *Pool) keepSpare(ctx context.Context, s *spare) {
	proc := p.launchSpare(ctx)
	p.offer(s, proc)
	if proc == nil {
		return
	}
	late := time.NewTimer(p.options.Warm)
	defer late.Stop()
	select {
	case <-s.taken:
	case <-late.C:
	case <-proc.dead:
	case <-p.quit:
	}
	if p.withdraw(s) {
		proc.stop()
	}
}

// launchSpare answers nil where there is to be none.
func (p *Pool) launchSpare(ctx context.Context) *process {
	delay := time.NewTimer(spareDelay)
	defer delay.Stop()
	select {
	case <-delay.C:
	case <-p.quit:
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, launchTimeout)
	defer cancel()
	proc, err := p.launch(ctx, nil)
	if err != nil {
		p.log.LogAttrs(ctx, slog.LevelWarn, "no chrome is kept warm", slog.Any("error", err))
		return nil
	}
	return proc
}

func (p *Pool) offer(s *spare, proc *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.proc = proc
	if proc == nil {
		p.spare = nil
	}
}

// withdraw takes a spare process back; false when somebody has it.
func (p *Pool) withdraw(s *spare) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	isOurs := p.spare == s
	if isOurs {
		p.spare = nil
	}
	return isOurs
}
