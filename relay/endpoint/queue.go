package endpoint

import (
	"context"
	"sync"

	"github.com/coder/websocket"
)

const (
	// queueFrames and queueBytes bound what a client that does not read may hold of the server's memory; one that
	// falls further behind is cut off alone. What it is told again when it comes late counts by its bytes only.
	queueFrames = 4096
	queueBytes  = 64 << 20
	// smallFrame is what is put together before it is written: one piece on the wire costs less than three.
	smallFrame = 16 << 10
)

// queue is a client's way out. put never waits; one goroutine drains it.
type queue struct {
	ready chan struct{} // bound 1: there may be frames

	framesMu sync.Mutex
	frames   []frame
	bytes    int
	fresh    int  // of frames, those that were not told again
	isFull   bool // it was once: nothing more goes in
}

func newQueue() *queue { return &queue{ready: make(chan struct{}, 1)} }

// put answers false when the client has fallen too far behind. What it holds is dropped then.
func (q *queue) put(f frame) bool {
	q.framesMu.Lock()
	defer q.framesMu.Unlock()
	q.bytes += f.size()
	if !f.isAgain {
		q.fresh++
	}
	if q.isFull || q.fresh > queueFrames || q.bytes > queueBytes && len(q.frames) > 0 {
		q.isFull, q.frames = true, nil
		return false
	}
	q.frames = append(q.frames, f)
	signal(q.ready)
	return true
}

// take answers what waits and puts spent, an earlier answer, in its place.
func (q *queue) take(spent []frame) []frame {
	q.framesMu.Lock()
	defer q.framesMu.Unlock()
	taken := q.frames
	q.frames, q.fresh = spent[:0], 0
	return taken
}

// drop forgets what was not written.
func (q *queue) drop() {
	q.framesMu.Lock()
	defer q.framesMu.Unlock()
	q.isFull, q.frames = true, nil
}

// wrote gives back the room of a frame that is on the wire.
func (q *queue) wrote(size int) {
	q.framesMu.Lock()
	q.bytes -= size
	q.framesMu.Unlock()
}

// drain writes until ctx ends or the socket breaks, or, once over is closed, until nothing is left.
func (q *queue) drain(ctx context.Context, conn *websocket.Conn, over <-chan struct{}) error {
	var batch []frame
	scratch := make([]byte, 0, 4<<10)
	for {
		isLast := false
		select {
		case <-over:
			isLast = true
		case <-ctx.Done():
			return ctx.Err()
		case <-q.ready:
		}
		batch = q.take(batch)
		for i, f := range batch {
			if err := write(ctx, conn, f, &scratch); err != nil {
				return err
			}
			q.wrote(f.size())
			batch[i] = frame{}
		}
		if isLast {
			return nil
		}
	}
}

// write sends a frame: a small one as one piece, a large one without copying its body.
func write(ctx context.Context, conn *websocket.Conn, f frame, scratch *[]byte) error {
	if f.size() <= smallFrame {
		*scratch = append(append(append((*scratch)[:0], f.head...), f.body...), f.tail...)
		return conn.Write(ctx, websocket.MessageText, *scratch)
	}
	w, err := conn.Writer(ctx, websocket.MessageText)
	if err != nil {
		return err
	}
	*scratch = append((*scratch)[:0], f.tail...)
	for _, piece := range [][]byte{f.head, f.body, *scratch} {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return w.Close()
}

// signal wakes who waits on a channel of bound 1.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
