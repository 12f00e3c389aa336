package relay

import (
	"context"

	"chaperone/relay/program"
)

// Changed is closed when the list of tabs is another than now; Done tells of the end.
func (b *Browser) Changed() <-chan struct{} {
	b.hub.slotsMu.Lock()
	defer b.hub.slotsMu.Unlock()
	s := b.slot()
	if s == nil {
		return b.done
	}
	return s.listed
}

// NewTab opens a blank tab, behind the person's own, that is the session's, and answers its name once Tabs has it.
// The error is ctx's or a *program.Error: update_required, forbidden when the person does not permit tabs of its own,
// too_large when the browser shares as many as it may, not_connected. A tab that opens after ctx has ended stays
// the session's.
func (b *Browser) NewTab(ctx context.Context) (string, error) {
	a, err := b.ask(ctx, outward{T: kindNew, Session: b.session}, kindMade)
	if err != nil {
		return "", err
	}
	for {
		changed := b.Changed()
		if _, listed := b.find(a.head.Tab); listed {
			return a.head.Tab, nil
		}
		select {
		case <-changed:
		case <-b.done:
			return "", b.why
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// CloseTab closes a tab that the session made, also one that hangs. The error is ctx's or a *program.Error:
// forbidden for any other tab, tab_closed for one that is not there.
func (b *Browser) CloseTab(ctx context.Context, tab string) error {
	t, listed := b.find(tab)
	switch {
	case !listed:
		return errNoTab()
	case t.Session != b.session || !t.Made:
		return refuse(codeForbidden, "the session did not make this tab, so it is not its to close")
	}
	_, err := b.ask(ctx, outward{T: kindShut, Session: b.session, Tab: tab}, kindDone)
	return err
}

// find is one of Tabs.
func (b *Browser) find(tab string) (program.Tab, bool) {
	for _, t := range b.Tabs() {
		if t.ID == tab {
			return t, true
		}
	}
	return program.Tab{}, false
}

// ask sends one request of the raw road and waits for its answer.
func (b *Browser) ask(ctx context.Context, head outward, want string) (answer, error) {
	l, err := b.link(ctx)
	if err != nil {
		return answer{}, err
	}
	if !l.hasCDP {
		return answer{}, errOutdated()
	}
	c, err := l.begin(head, nil, want)
	if err != nil {
		return answer{}, err
	}
	defer l.calls.finish(c)
	a, err := l.await(ctx, c, b)
	return a, outcome(err)
}
