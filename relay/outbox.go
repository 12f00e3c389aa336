package relay

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/coder/websocket"
)

const (
	// outboxFrames is more than all calls, casts and cancels of a link that does what it should.
	outboxFrames = 256
	// outboxBytes bounds what a browser that does not read may hold of the server's memory.
	outboxBytes = 8 << 20
)

// outbox is a link's bounded queue to the socket. When it is full a program is refused as busy, and
// whatever cannot be left out ends the link: the extension then comes back to a clean one.
type outbox struct {
	frames chan []byte
	bytes  atomic.Int64
}

func newOutbox() *outbox { return &outbox{frames: make(chan []byte, outboxFrames)} }

var errFull = errors.New("relay: the link's queue is full")

// put never waits.
func (o *outbox) put(frame []byte) error {
	size := int64(len(frame))
	if o.bytes.Add(size) > outboxBytes {
		o.bytes.Add(-size)
		return errFull
	}
	select {
	case o.frames <- frame:
		return nil
	default:
		o.bytes.Add(-size)
		return errFull
	}
}

// drain writes until the link is over or the socket breaks.
func (o *outbox) drain(ctx context.Context, conn *websocket.Conn, over <-chan struct{}) error {
	for {
		select {
		case <-over:
			return nil
		case frame := <-o.frames:
			if err := writeFrame(ctx, conn, frame); err != nil {
				return err
			}
			o.bytes.Add(-int64(len(frame)))
		}
	}
}

func writeFrame(ctx context.Context, conn *websocket.Conn, frame []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeWait)
	defer cancel()
	return conn.Write(ctx, websocket.MessageText, frame)
}
