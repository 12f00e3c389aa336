package chrome

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// nextDelay lets a session that has just been opened have the machine before the next one's browser is made.
const nextDelay = 300 * time.Millisecond

// next is the browser that a process keeps ready for the session that comes next: context, guard and a blank page are
// there, and only the way out is not, since that is opened for one session by name. The process's mu guards it.
type next struct {
	ready    *Browser
	isMaking bool
	making   sync.WaitGroup
}

// open makes a browser a session's: the one that is ready, or a new one.
func (p *process) open(ctx context.Context, o OpenOptions) (*Browser, error) {
	b, err := p.browserFor(ctx, o)
	if err == nil {
		err = b.begin(ctx, o)
	}
	if err != nil {
		return nil, joinDiscarded(ctx, b, err)
	}
	p.makeNext(ctx)
	return b, nil
}

// browserFor answers a browser that may have to be discarded, also beside an error.
func (p *process) browserFor(ctx context.Context, o OpenOptions) (*Browser, error) {
	if b := p.takeNext(o); b != nil {
		return b, p.within(ctx, p.ping) // a Chrome that hangs is of no use
	}
	return p.enter(ctx, newBrowser(p, o))
}

// enter lets a browser in. Who gives up waiting leaves nothing behind: what Chrome makes all the same is given back.
func (p *process) enter(ctx context.Context, b *Browser) (*Browser, error) {
	entered := make(chan error)
	isBegun := p.begin(func() {
		after := context.WithoutCancel(ctx)
		err := p.within(after, b.enter)
		select {
		case entered <- err:
		case <-ctx.Done():
			_ = b.discard(after)
		}
	})
	if !isBegun {
		return b, errStopped
	}
	select {
	case err := <-entered:
		return b, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin does something that the end of the process waits for; false where it has ended already.
func (p *process) begin(do func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.browsers == nil {
		return false
	}
	p.next.making.Go(do)
	return true
}

// takeNext answers the browser that is ready, where it is one as is asked for.
func (p *process) takeNext(o OpenOptions) *Browser {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.next.ready
	if b == nil || o.Width != b.options.Width || o.Height != b.options.Height {
		return nil
	}
	p.next.ready = nil
	return b
}

// makeNext has a browser made for the session that comes next, unless there is one.
func (p *process) makeNext(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.options.Warm < 0 || p.browsers == nil || p.next.ready != nil || p.next.isMaking {
		return
	}
	p.next.isMaking = true
	p.next.making.Go(func() {
		p.offerNext(p.madeNext(context.WithoutCancel(ctx)))
	})
}

// madeNext answers nil where none could be made; the session that comes next makes its own.
func (p *process) madeNext(ctx context.Context) *Browser {
	delay := time.NewTimer(nextDelay)
	defer delay.Stop()
	select {
	case <-delay.C:
	case <-p.dead:
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, launchTimeout)
	defer cancel()
	b := newBrowser(p, OpenOptions{Policy: p.policy, Width: defaultWidth, Height: defaultHeight})
	err := b.enter(ctx)
	if err == nil {
		err = b.makeFresh(ctx)
	}
	if err != nil {
		p.log.LogAttrs(ctx, slog.LevelWarn, "no session is kept ready", slog.Any("error", joinDiscarded(ctx, b, err)))
		return nil
	}
	return b
}

func (p *process) offerNext(b *Browser) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next.isMaking = false
	if p.browsers != nil { // or it has ended with all others
		p.next.ready = b
	}
}

// makeFresh makes the first tab ahead and waits until programs can run in it.
func (b *Browser) makeFresh(ctx context.Context) error {
	t, err := b.openTab(ctx)
	if err != nil {
		return err
	}
	select {
	case <-t.ready:
	case <-t.gone:
		return nil // the next one will be made when it is asked for
	case <-ctx.Done():
		return ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.tabs, t); i >= 0 && t.failed == nil {
		b.tabs = slices.Delete(b.tabs, i, i+1)
		b.fresh = t
	}
	return t.failed
}

// takeFresh answers the tab that was made ahead, once; it is the session's from now on.
func (b *Browser) takeFresh() *tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.fresh
	if t == nil {
		return nil
	}
	b.fresh = nil
	t.view.Session = b.options.Session
	b.tabs = append(b.tabs, t)
	b.tellChanged()
	return t
}

func joinDiscarded(ctx context.Context, b *Browser, err error) error {
	if b == nil {
		return err
	}
	return errors.Join(err, b.discard(ctx))
}
