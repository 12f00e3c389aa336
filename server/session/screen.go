package session

import (
	"context"

	"chaperone/relay/program"
	"chaperone/server/account"
	"chaperone/server/live"
)

// Screen is what a viewer of the session sees: the tab of its latest action or of its clients' latest commands.
func (s *Service) Screen(ctx context.Context, actor account.Actor, id string) (live.Source, error) {
	view, err := s.Get(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	l := s.find(id)
	if l == nil {
		return nil, ended(view)
	}
	return screen{l}, nil
}

type screen struct{ session *living }

// Cast follows the session from tab to tab until ctx or the session ends.
func (sc screen) Cast(ctx context.Context, o program.CastOptions, sink func(program.Picture)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for ctx.Err() == nil && !sc.session.isOver() {
		tab, moved := sc.session.shown()
		if tab == "" || sc.castTab(ctx, tab, o, sink, moved) {
			select {
			case <-moved:
			case <-ctx.Done():
			case <-sc.session.over:
			}
		}
	}
	return nil
}

// castTab casts one tab until the session moves on; true when the tab has no more pictures to give.
func (sc screen) castTab(ctx context.Context, tab string, o program.CastOptions, sink func(program.Picture), moved <-chan struct{}) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-moved:
		case <-sc.session.over:
		case <-ctx.Done():
		}
		cancel()
	}()
	o.Tab = tab
	err := sc.session.browser.Cast(ctx, o, sink)
	cancel()
	<-stopped
	return err != nil
}
