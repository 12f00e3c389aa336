package endpoint

import (
	"bytes"
	"context"
	"encoding/base64"
	"image/jpeg"
	"image/png"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"chaperone/relay/program"
)

const (
	// castFPS is what clients are given at most: a recorder wants ten, and no page needs more than this watched.
	castFPS = 30
	// castPause is how long a cast that ended by itself is left alone.
	castPause = time.Second
	// maxUnacked pictures may be on their way to a client, as in Chrome; further ones are left out.
	maxUnacked = 2
	// The usual size and quality of pictures when a client does not say.
	castSide    = 1280
	castQuality = 80
)

const (
	formatJPEG = "jpeg"
	formatPNG  = "png"
)

// caster is a tab's one cast, however many clients watch.
type caster struct {
	stop     context.CancelFunc
	options  program.CastOptions
	watchers map[*attachment]*watcher
	hasEnded bool // once, by itself: who asks next does not wait until it is tried again
}

// watcher is one client session's view of a cast.
type watcher struct {
	format      string // formatPNG or formatJPEG
	every, seen int
	unacked     int
	number      int
}

type castParams struct {
	Format  string `json:"format"`
	Quality *int   `json:"quality"`
	Width   int    `json:"maxWidth"`
	Height  int    `json:"maxHeight"`
	Every   int    `json:"everyNthFrame"`
}

func (p castParams) options(tab string) program.CastOptions {
	o := program.CastOptions{Tab: tab, MaxWidth: p.Width, MaxHeight: p.Height, Quality: castQuality, FPS: castFPS}
	if o.MaxWidth <= 0 {
		o.MaxWidth = castSide
	}
	if o.MaxHeight <= 0 {
		o.MaxHeight = castSide
	}
	if p.Quality != nil {
		o.Quality = min(max(*p.Quality, 1), 100)
	}
	return o
}

// format is PNG unless asked otherwise, as in Chrome.
func (p castParams) format() string {
	if p.Format == formatJPEG {
		return formatJPEG
	}
	return formatPNG
}

// startCast gives a client pictures of its page, by a cast that it shares with whoever watches the tab too.
func (r *router) startCast(q *request, params castParams) {
	if q.at.target.kind != kindPage {
		q.fail(refusal("a screencast is of a page"))
		return
	}
	t := q.at.target.tab
	r.stopCast(q.at)
	q.at.cast = &watcher{format: params.format(), every: max(params.Every, 1)}
	asked := params.options(t.known.ID)
	if t.cast != nil {
		asked = larger(asked, t.cast.options)
	}
	if t.cast == nil || t.cast.hasEnded || asked != t.cast.options {
		r.castAnew(t, asked)
	}
	t.cast.watchers[q.at] = q.at.cast
	q.reply(nil)
}

// larger serves both who asked: what is too large for one it makes smaller itself.
func larger(a, b program.CastOptions) program.CastOptions {
	a.MaxWidth, a.MaxHeight = max(a.MaxWidth, b.MaxWidth), max(a.MaxHeight, b.MaxHeight)
	a.Quality = max(a.Quality, b.Quality)
	return a
}

func (r *router) castAnew(t *tab, o program.CastOptions) {
	ctx, stop := r.begin()
	c := &caster{options: o, watchers: map[*attachment]*watcher{}, stop: stop}
	if t.cast != nil {
		c.watchers = t.cast.watchers
		t.cast.stop()
	}
	t.cast = c
	r.spawnNow(func(context.Context) {
		defer stop()
		for r.castOnce(ctx, t, c) {
			select {
			case <-time.After(castPause):
			case <-ctx.Done():
			}
		}
	})
}

// castOnce gives pictures until the cast ends, and reports whether it did so by itself: a tab that sleeps is not cast,
// and wakes again.
func (r *router) castOnce(ctx context.Context, t *tab, c *caster) bool {
	err := r.edge.Cast(ctx, c.options, func(p program.Picture) { r.show(t, c, p) })
	if ctx.Err() != nil {
		return false
	}
	r.log.DebugContext(ctx, "cast ended", slog.Any("error", err))
	r.mu.Lock()
	defer r.mu.Unlock()
	c.hasEnded = true
	return true
}

// show gives a picture to those who are ready for it.
func (r *router) show(t *tab, c *caster, p program.Picture) {
	bodies := map[string][]byte{}
	for _, format := range r.formats(t, c) {
		bodies[format] = picture(p, format)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.cast != c {
		return
	}
	for a, w := range c.watchers {
		body := bodies[w.format]
		if body == nil || !w.isReady() {
			continue
		}
		w.unacked++
		w.number++
		f := eventFrame(a.session, "Page.screencastFrame", body)
		f.tail = strconv.Itoa(w.number) + "}}"
		a.client.send(f)
	}
}

// formats counts a picture, and answers in which formats it is wanted: making one of another is work.
func (r *router) formats(t *tab, c *caster) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var wanted []string
	if t.cast != c {
		return nil
	}
	for _, w := range c.watchers {
		w.seen++
		if w.isReady() && !slices.Contains(wanted, w.format) {
			wanted = append(wanted, w.format)
		}
	}
	return wanted
}

func (w *watcher) isReady() bool { return w.unacked < maxUnacked && w.seen%w.every == 0 }

// picture is Page.screencastFrame's params up to the number that is to be acknowledged; nil for a picture that
// cannot be read.
func picture(p program.Picture, format string) []byte {
	data := p.JPEG
	if format == formatPNG {
		if data = pngOf(data); data == nil {
			return nil
		}
	}
	body := make([]byte, 0, base64.StdEncoding.EncodedLen(len(data))+256)
	body = append(body, `{"data":"`...)
	body = base64.StdEncoding.AppendEncode(body, data)
	body = append(body, `","metadata":`...)
	body = append(body, encode(map[string]any{
		"offsetTop": 0, "pageScaleFactor": 1, "deviceWidth": p.Width, "deviceHeight": p.Height,
		"scrollOffsetX": 0, "scrollOffsetY": 0, "timestamp": float64(p.AtMS) / 1000,
	})...)
	return append(body, `,"sessionId":`...)
}

func pngOf(data []byte) []byte {
	decoded, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	var out bytes.Buffer
	fast := png.Encoder{CompressionLevel: png.BestSpeed}
	if fast.Encode(&out, decoded) != nil {
		return nil
	}
	return out.Bytes()
}

func screencastFrameAck(_ *router, q *request) {
	if w := q.at.cast; w != nil && w.unacked > 0 {
		w.unacked--
	}
	q.reply(nil)
}

func stopScreencast(r *router, q *request) {
	r.stopCast(q.at)
	q.reply(nil)
}

// stopCast ends what a session watches; the last one ends the cast.
func (r *router) stopCast(a *attachment) {
	t := a.target.tab
	if a.cast == nil || t.cast == nil {
		return
	}
	a.cast = nil
	delete(t.cast.watchers, a)
	if len(t.cast.watchers) == 0 {
		t.cast.stop()
		t.cast = nil
	}
}
