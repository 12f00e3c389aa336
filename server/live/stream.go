package live

import (
	"context"
	"sync"
	"time"

	"chaperone/relay/program"
)

// stream is one session's pictures: only the newest is kept, so a slow viewer misses pictures and
// never queues them.
type stream struct {
	viewers int         // guarded by Hub.streamsMu
	linger  *time.Timer // guarded by Hub.streamsMu
	cancel  context.CancelFunc

	ended chan struct{} // closed by end
	err   error         // set before ended closes

	newestMu sync.Mutex
	newest   program.Picture
	count    int           // pictures so far
	changed  chan struct{} // closed and replaced at each picture
}

func newStream() *stream {
	return &stream{ended: make(chan struct{}), changed: make(chan struct{})}
}

func (s *stream) offer(p program.Picture) {
	s.newestMu.Lock()
	defer s.newestMu.Unlock()
	s.newest = p
	s.count++
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *stream) latest() (program.Picture, int, <-chan struct{}) {
	s.newestMu.Lock()
	defer s.newestMu.Unlock()
	return s.newest, s.count, s.changed
}

func (s *stream) end(err error) {
	s.err = err
	close(s.ended)
}

func (s *stream) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

func (s *stream) feed(ctx context.Context, v Viewer) error {
	pace := newPace(v.FPS)
	defer pace.stop()
	seen := 0
	for {
		picture, count, changed := s.latest()
		if count > seen {
			seen = count
			if err := v.Sink(picture); err != nil {
				return err
			}
			pace.wait(ctx, s.ended)
		} else {
			await(ctx, s.ended, changed)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case s.over():
			return s.err
		}
	}
}

func await(ctx context.Context, ended, changed <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-ended:
	case <-changed:
	}
}

// pace keeps a viewer at its rate.
type pace struct {
	gap   time.Duration
	timer *time.Timer
}

func newPace(fps int) *pace {
	if fps <= 0 {
		return &pace{}
	}
	t := time.NewTimer(0)
	<-t.C
	return &pace{gap: time.Second / time.Duration(fps), timer: t}
}

// wait holds until the next picture may be shown, or ctx or the stream ends.
func (p *pace) wait(ctx context.Context, ended <-chan struct{}) {
	if p.timer == nil {
		return
	}
	p.timer.Reset(p.gap)
	select {
	case <-p.timer.C:
	case <-ctx.Done():
	case <-ended:
	}
}

func (p *pace) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}
