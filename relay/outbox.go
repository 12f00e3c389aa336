package relay

import (
	"context"
	"errors"
	"sync"

	"github.com/coder/websocket"
)

const (
	// outboxFrames is more than all programs, casts, holds and cancels of a link that does what it should.
	outboxFrames = 256
	// outboxBytes bounds what a browser that does not read may hold of the server's memory.
	outboxBytes = 8 << 20
	// rawBytes is how much of raw commands may wait besides: who sends more waits.
	rawBytes = 4 << 20
	// rawLeast is what the smallest raw command counts for, so that at most 128 of them wait.
	rawLeast = 32 << 10
)

// outbox is a link's bounded queue to the socket. When it is full a program is refused as busy, and
// whatever cannot be left out ends the link: the extension then comes back to a clean one. Raw commands have
// room of their own, for which their senders wait: a client that floods its tab keeps nothing else back.
type outbox struct {
	raw   *gate
	ready chan struct{} // bound 1: something was put in since the writer last looked

	queueMu sync.Mutex
	queue   []parcel
	frames  int // of the queue and of what is being written, without raw commands
	bytes   int
}

// parcel is one frame on its way.
type parcel struct {
	frame []byte
	room  int // what a raw command has taken of outbox.raw; 0 for any other frame
}

func newOutbox() *outbox {
	return &outbox{raw: newGate(rawBytes), ready: make(chan struct{}, 1)}
}

var errFull = errors.New("relay: the link's queue is full")

// put never waits.
func (o *outbox) put(frame []byte) error {
	o.queueMu.Lock()
	defer o.queueMu.Unlock()
	if o.frames == outboxFrames || o.bytes+len(frame) > outboxBytes {
		return errFull
	}
	o.frames++
	o.bytes += len(frame)
	o.push(parcel{frame: frame})
	return nil
}

// putRaw never waits either: its caller has entered raw.
func (o *outbox) putRaw(p parcel) {
	o.queueMu.Lock()
	defer o.queueMu.Unlock()
	o.push(p)
}

// push is called with queueMu held.
func (o *outbox) push(p parcel) {
	o.queue = append(o.queue, p)
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

// drain writes until the link is over or the socket breaks.
func (o *outbox) drain(ctx context.Context, conn *websocket.Conn, over <-chan struct{}) error {
	for {
		select {
		case <-over:
			return nil
		case <-o.ready:
		}
		if err := o.writeAll(ctx, conn, over); err != nil {
			return err
		}
	}
}

// writeAll writes what is there now.
func (o *outbox) writeAll(ctx context.Context, conn *websocket.Conn, over <-chan struct{}) error {
	queue := o.take()
	for i, p := range queue {
		select {
		case <-over:
			return nil
		default:
		}
		if err := writeFrame(ctx, conn, p.frame); err != nil {
			return err
		}
		queue[i] = parcel{} // its memory is free as soon as its room is
		o.written(p)
	}
	return nil
}

func (o *outbox) take() []parcel {
	o.queueMu.Lock()
	defer o.queueMu.Unlock()
	queue := o.queue
	o.queue = nil
	return queue
}

// written gives a frame's room free.
func (o *outbox) written(p parcel) {
	if p.room > 0 {
		o.raw.leave(p.room)
		return
	}
	o.queueMu.Lock()
	defer o.queueMu.Unlock()
	o.frames--
	o.bytes -= len(p.frame)
}

func writeFrame(ctx context.Context, conn *websocket.Conn, frame []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeWait)
	defer cancel()
	return conn.Write(ctx, websocket.MessageText, frame)
}
