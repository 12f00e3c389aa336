package chrome

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// Cast calls show with pictures of a tab, one at a time and from one goroutine, at most o.FPS a second, the
// newest always, until ctx or the session ends (nil) or the tab does (a *program.Error, tab_closed). Each
// cast has a connection to the page of its own, so that several may watch one tab.
func (b *Browser) Cast(ctx context.Context, o program.CastOptions, show func(program.Picture)) error {
	b.wake(ctx, o.Tab)
	t := b.named(o.Tab)
	if t == nil {
		return b.castEnd(ctx, nil, errNoTab)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer t.onGone(cancel)()
	targetSession, err := b.attach(ctx, t.targetID)
	if err != nil {
		return b.castEnd(ctx, t, err)
	}
	defer b.detach(ctx, targetSession)
	frames := make(chan page.EventScreencastFrame, 1) // the newest that nobody has shown yet
	b.proc.listen(targetSession, func(e event) { b.keepFrame(frames, e) })
	start := page.StartScreencastParams{
		Format: page.StartScreencastFormatJpeg, Quality: new(int64(clamp(o.Quality, 60, 100))),
		MaxWidth:  int64(clamp(o.MaxWidth, b.options.Width, maxViewport)),
		MaxHeight: int64(clamp(o.MaxHeight, b.options.Height, maxViewport)),
	}
	if _, err := call(ctx, b.proc.conn, targetSession, page.StartScreencast, start); err != nil {
		return b.castEnd(ctx, t, err)
	}
	showFrames(ctx, frames, o, show)
	return b.castEnd(ctx, t, nil)
}

var errNoTab = errors.New("no such tab")

// clamp gives what is not positive its usual value.
func clamp(n, usual, most int) int {
	if n <= 0 {
		return usual
	}
	return min(n, most)
}

// castEnd says why no more pictures come.
func (b *Browser) castEnd(ctx context.Context, t *tab, err error) error {
	switch {
	case isClosed(b.over):
		return nil
	case t == nil || isClosed(t.gone):
		return failure(fault.TabClosed, "the tab is closed")
	case isClosed(ctx.Done()):
		return nil
	case err != nil:
		return failure(fault.Unavailable, "the tab cannot be shown")
	}
	return nil
}

func (b *Browser) attach(ctx context.Context, id target.ID) (target.SessionID, error) {
	flat := target.AttachToTargetParams{TargetID: id, Flatten: new(true)}
	made, err := call(ctx, b.proc.conn, "", target.AttachToTarget, flat)
	if err != nil {
		return "", fmt.Errorf("attach to tab: %w", err)
	}
	return made.SessionID, nil
}

func (b *Browser) detach(ctx context.Context, targetSession target.SessionID) {
	b.proc.listen(targetSession, nil)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), partTimeout)
	defer cancel()
	// A target that is gone has let go already.
	_, _ = call(ctx, b.proc.conn, "", target.DetachFromTarget, target.DetachFromTargetParams{SessionID: targetSession})
}

// keepFrame runs on the router: it lets Chrome go on and replaces what was not shown in time.
func (b *Browser) keepFrame(slot chan page.EventScreencastFrame, e event) {
	on(e, page.ScreencastFrame, func(f page.EventScreencastFrame) {
		post(b.proc.conn, e.TargetSession, page.ScreencastFrameAck, page.ScreencastFrameAckParams{SessionID: f.SessionID})
		select {
		case <-slot:
		default:
		}
		slot <- f // only the router puts in, so there is room
	})
}

func showFrames(ctx context.Context, slot <-chan page.EventScreencastFrame, o program.CastOptions, show func(program.Picture)) {
	pace := time.NewTicker(time.Second / time.Duration(clamp(o.FPS, 4, 30)))
	defer pace.Stop()
	for {
		select {
		case f := <-slot:
			if f.Metadata != nil {
				show(picture(o.Tab, f))
			}
		case <-ctx.Done():
			return
		}
		select {
		case <-pace.C:
		case <-ctx.Done():
			return
		}
	}
}

func picture(tab string, f page.EventScreencastFrame) program.Picture {
	return program.Picture{
		Tab: tab, AtMS: int64(f.Metadata.Timestamp * 1000),
		Width: int(f.Metadata.DeviceWidth), Height: int(f.Metadata.DeviceHeight), JPEG: f.Data,
	}
}
