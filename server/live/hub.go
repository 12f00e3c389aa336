package live

import (
	"context"
	"sync"
	"time"

	"chaperone/relay/program"
)

// Linger is how long a stream goes on without a viewer: a page that reloads does not restart the cast.
const Linger = 3 * time.Second

// Source gives pictures until ctx ends or the session does; the newest wins and sink never blocks long.
type Source interface {
	Cast(ctx context.Context, o program.CastOptions, sink func(program.Picture)) error
}

// Hub holds the streams that somebody watches. Its methods may be called at the same time.
type Hub struct {
	options program.CastOptions
	root    context.Context //nolint:containedctx // the life of the casts, which outlive the viewer that began them
	stop    context.CancelFunc
	casts   sync.WaitGroup

	streamsMu sync.Mutex
	streams   map[string]*stream
}

// NewHub makes a hub whose casts use options (the tab is the source's to choose).
func NewHub(options program.CastOptions) *Hub {
	root, stop := context.WithCancel(context.Background())
	return &Hub{options: options, root: root, stop: stop, streams: map[string]*stream{}}
}

// Close ends every stream and waits for their casts.
func (h *Hub) Close() {
	h.stop()
	h.casts.Wait()
}

// Watch gives sink the pictures of the session named key, at most fps a second, newest first, until ctx
// ends (nil), sink errs (that error) or the source ends (its error, nil for a session that ended).
// The picture that is known when a viewer joins comes at once.
func (h *Hub) Watch(ctx context.Context, key string, src Source, v Viewer) error {
	s := h.join(key, src)
	defer h.leave(key, s)
	return s.feed(ctx, v)
}

// Viewer is one person's wish.
type Viewer struct {
	FPS  int // pictures a second at most; 0 means as many as the cast has
	Sink func(program.Picture) error
}

func (h *Hub) join(key string, src Source) *stream {
	h.streamsMu.Lock()
	defer h.streamsMu.Unlock()
	s := h.streams[key]
	if s == nil || s.over() {
		s = newStream()
		h.streams[key] = s
		h.start(s, src)
	}
	s.viewers++
	if s.linger != nil {
		s.linger.Stop()
		s.linger = nil
	}
	return s
}

func (h *Hub) start(s *stream, src Source) {
	ctx, cancel := context.WithCancel(h.root)
	s.cancel = cancel
	h.casts.Go(func() {
		defer cancel()
		s.end(src.Cast(ctx, h.options, s.offer))
	})
}

func (h *Hub) leave(key string, s *stream) {
	h.streamsMu.Lock()
	defer h.streamsMu.Unlock()
	s.viewers--
	if s.viewers > 0 {
		return
	}
	s.linger = time.AfterFunc(Linger, func() { h.drop(key, s) })
}

func (h *Hub) drop(key string, s *stream) {
	h.streamsMu.Lock()
	defer h.streamsMu.Unlock()
	if s.viewers > 0 {
		return
	}
	s.cancel()
	if h.streams[key] == s {
		delete(h.streams, key)
	}
}
