package relay

import (
	"context"
	"encoding/base64"
	"errors"

	"chaperone/relay/program"
)

// Cast gives sink pictures of a tab, one after the other and the newest first where it is slow, until ctx
// ends or the session does (nil). A link that comes back goes on with it. The error is a *program.Error:
// not_connected when no link came back in time, or what the extension refuses.
func (b *Browser) Cast(ctx context.Context, o program.CastOptions, sink func(program.Picture)) error {
	err := errBroke
	for errors.Is(err, errBroke) {
		err = b.castOnce(ctx, o, sink)
	}
	if ctx.Err() != nil || b.closed() {
		err = nil
	}
	return err
}

// castOnce casts over one link until that breaks.
func (b *Browser) castOnce(ctx context.Context, o program.CastOptions, sink func(program.Picture)) error {
	l, err := b.link(ctx)
	if err != nil {
		return err
	}
	if _, err := b.level(l, o.Tab); err != nil {
		return err
	}
	c, err := l.begin(outward{T: kindCast, Session: b.session, Options: &o}, nil, kindPicture)
	if err != nil {
		return err
	}
	defer l.calls.finish(c)
	for {
		a, err := l.await(ctx, c, b)
		if err != nil {
			l.cancel(c, a)
			return err
		}
		picture, err := readPicture(a, o.Tab)
		if err != nil {
			l.cancel(c, answer{})
			return err
		}
		sink(picture)
	}
}

func readPicture(a answer, tab string) (program.Picture, error) {
	jpeg, err := base64.StdEncoding.DecodeString(string(a.body))
	if err != nil {
		return program.Picture{}, errUnreadable()
	}
	return program.Picture{Tab: tab, AtMS: a.head.AtMS, Width: a.head.Width, Height: a.head.Height, JPEG: jpeg}, nil
}

func (b *Browser) closed() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}
