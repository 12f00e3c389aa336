package chrome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// Cast calls show with pictures of a tab, one at a time and from one goroutine, at most o.FPS a second, the
// newest always, until ctx or the session ends (nil) or the tab does (a *program.Error, tab_closed). Each
// cast has a connection to the page of its own, so that several may watch one tab.
func (b *Browser) Cast(ctx context.Context, o program.CastOptions, show func(program.Picture)) error {
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
	frames := newSlot()
	b.proc.listen(targetSession, func(e event) { b.keepFrame(frames, e) })
	start := map[string]any{
		"format": "jpeg", "quality": clamp(o.Quality, 60, 100),
		"maxWidth": clamp(o.MaxWidth, b.options.Width, maxViewport), "maxHeight": clamp(o.MaxHeight, b.options.Height, maxViewport),
	}
	if _, err := b.proc.conn.call(ctx, targetSession, "Page.startScreencast", start); err != nil {
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

func (b *Browser) attach(ctx context.Context, targetID string) (string, error) {
	text, err := b.proc.conn.call(ctx, "", "Target.attachToTarget", map[string]any{"targetId": targetID, "flatten": true})
	if err != nil {
		return "", fmt.Errorf("attach to tab: %w", err)
	}
	var made struct {
		TargetSession string `json:"sessionId"`
	}
	if err := json.Unmarshal(text, &made); err != nil {
		return "", fmt.Errorf("read target session: %w", err)
	}
	return made.TargetSession, nil
}

func (b *Browser) detach(ctx context.Context, targetSession string) {
	b.proc.listen(targetSession, nil)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), partTimeout)
	defer cancel()
	// A target that is gone has let go already.
	_, _ = b.proc.conn.call(ctx, "", "Target.detachFromTarget", map[string]any{"sessionId": targetSession})
}

// castFrame is Page.screencastFrame.
type castFrame struct {
	Data     []byte `json:"data"` // base64 on the wire
	Number   int    `json:"sessionId"`
	Metadata struct {
		Width     float64 `json:"deviceWidth"`
		Height    float64 `json:"deviceHeight"`
		Timestamp float64 `json:"timestamp"` // seconds
	} `json:"metadata"`
}

// newSlot holds the newest frame that nobody has shown yet.
func newSlot() chan json.RawMessage { return make(chan json.RawMessage, 1) }

// keepFrame runs on the router: it lets Chrome go on and replaces what was not shown in time.
func (b *Browser) keepFrame(slot chan json.RawMessage, e event) {
	if e.Method != "Page.screencastFrame" {
		return
	}
	var head struct {
		Number int `json:"sessionId"`
	}
	if json.Unmarshal(e.Params, &head) != nil {
		return
	}
	b.proc.conn.post(e.TargetSession, "Page.screencastFrameAck", map[string]any{"sessionId": head.Number})
	select {
	case <-slot:
	default:
	}
	slot <- e.Params // only the router puts in, so there is room
}

func showFrames(ctx context.Context, slot <-chan json.RawMessage, o program.CastOptions, show func(program.Picture)) {
	pace := time.NewTicker(time.Second / time.Duration(clamp(o.FPS, 4, 30)))
	defer pace.Stop()
	for {
		select {
		case params := <-slot:
			var f castFrame
			if json.Unmarshal(params, &f) == nil {
				show(f.picture(o.Tab))
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

func (f castFrame) picture(tab string) program.Picture {
	return program.Picture{
		Tab: tab, AtMS: int64(f.Metadata.Timestamp * 1000),
		Width: int(f.Metadata.Width), Height: int(f.Metadata.Height), JPEG: f.Data,
	}
}
