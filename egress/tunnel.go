package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// quietTicks parts the idle limit: a tunnel in which nothing happened for this many ticks ends.
	quietTicks = 4
	// burst is how long a direction keeps the room that it copies with after the last byte.
	burst = 250 * time.Millisecond
)

// tunnel joins the client with the target of its CONNECT until both have ended.
func (c *client) tunnel(ctx context.Context, h head, r route) bool {
	if !c.room.enterTunnel() {
		return c.refuse(ctx, h, r.target, Busy)
	}
	defer c.room.leaveTunnel()
	origin, reason := c.proxy.dial(ctx, r)
	if !reason.IsAllowed() {
		return c.refuse(ctx, h, r.target, reason)
	}
	defer func() { _ = origin.Close() }()
	d := c.decision(h, r.target)
	d.Address = endpoint(origin.RemoteAddr()).Addr().String()
	c.proxy.decide(ctx, d, r.reason)
	stop := context.AfterFunc(ctx, func() { _ = origin.Close() })
	defer stop()
	c.proxy.metrics.tunnels.Inc()
	defer c.proxy.metrics.tunnels.Dec()
	if err := c.openTunnel(origin); err != nil {
		return false
	}
	c.join(ctx, origin, d)
	return false
}

// join copies until both directions have ended, and tells when a limit was what ended them.
func (c *client) join(ctx context.Context, origin net.Conn, d Decision) {
	t := &tunnel{client: c.conn, origin: origin, rooms: c.proxy.rooms, tick: c.proxy.limits.Idle / quietTicks}
	t.left.Store(c.proxy.limits.Bytes)
	t.run(&c.proxy.metrics)
	reason := t.cut()
	if reason == "" && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		reason = TooOld
	}
	if reason != "" {
		c.proxy.cut(ctx, d, reason)
	}
}

// openTunnel tells the client to go on, and passes on what it sent ahead. From here on the connections are bare, and
// the buffers are let go: a tunnel may be silent for long.
func (c *client) openTunnel(origin net.Conn) error {
	_ = c.conn.SetDeadline(time.Now().Add(c.proxy.limits.Head))
	if _, err := io.WriteString(c.conn, "HTTP/1.1 200 Connection Established\r\n\r\n"); err != nil {
		return err
	}
	early, err := c.in.Peek(c.in.Buffered())
	if err != nil {
		return err
	}
	_ = origin.SetWriteDeadline(time.Now().Add(c.proxy.limits.Head))
	if _, err := origin.Write(early); err != nil {
		return err
	}
	c.in, c.out = nil, nil
	_ = origin.SetWriteDeadline(time.Time{})
	return c.conn.SetDeadline(time.Time{})
}

// tunnel copies both ways on the bare connections.
type tunnel struct {
	client, origin net.Conn
	rooms          *rooms
	tick           time.Duration
	left           atomic.Int64 // bytes that may still pass
	pulse          atomic.Int64 // changes with whatever happens

	// watchMu guards what follows.
	watchMu sync.Mutex
	timer   *time.Timer
	seen    int64
	quiet   int
	isOver  bool
	reason  Reason // why a limit ended it, if one did
}

func (t *tunnel) run(m *metrics) {
	t.watchMu.Lock()
	t.timer = time.AfterFunc(t.tick, t.watch)
	t.watchMu.Unlock()
	defer t.stopWatch()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		t.stream(t.origin, t.client, m.sent)
	}()
	t.stream(t.client, t.origin, m.received)
	<-ended
}

// watch closes a tunnel in which nothing happens.
func (t *tunnel) watch() {
	t.watchMu.Lock()
	defer t.watchMu.Unlock()
	if t.isOver {
		return
	}
	if now := t.pulse.Load(); now != t.seen {
		t.seen, t.quiet = now, 0
	} else if t.quiet++; t.quiet > quietTicks {
		t.end(TooQuiet)
		return
	}
	t.timer.Reset(t.tick)
}

func (t *tunnel) stopWatch() {
	t.watchMu.Lock()
	defer t.watchMu.Unlock()
	t.isOver = true
	t.timer.Stop()
}

func (t *tunnel) cut() Reason {
	t.watchMu.Lock()
	defer t.watchMu.Unlock()
	return t.reason
}

// end closes both ends because of a limit; watchMu is held.
func (t *tunnel) end(reason Reason) {
	if t.reason == "" {
		t.reason = reason
	}
	t.isOver = true
	t.close()
}

func (t *tunnel) close() {
	_ = t.client.Close()
	_ = t.origin.Close()
}

// stream copies until src ends and then ends dst's direction only; when a direction breaks, both end.
func (t *tunnel) stream(dst, src net.Conn, count prometheus.Counter) {
	for {
		if err := awaitBytes(src); err != nil {
			t.close()
			return
		}
		t.pulse.Add(1)
		isEnd, err := t.flow(dst, src, count)
		if isEnd && err == nil {
			err = closeWrite(dst)
		}
		if err != nil {
			t.close()
		}
		if isEnd || err != nil {
			return
		}
	}
}

// flow copies until src ends or is silent for a burst. It begins with little room and takes much once src fills that:
// most of what passes is short, and thousands of tunnels may speak at once.
func (t *tunnel) flow(dst, src net.Conn, count prometheus.Counter) (isEnd bool, err error) {
	pool := &t.rooms.little
	room, _ := pool.Get().(*[]byte)
	defer func() { pool.Put(room) }()
	for {
		if err := src.SetReadDeadline(time.Now().Add(min(burst, t.tick))); err != nil {
			return false, err
		}
		n, readErr := src.Read(*room)
		if err := t.pass(dst, (*room)[:n], count); err != nil {
			return false, err
		}
		switch {
		case errors.Is(readErr, io.EOF):
			return true, nil
		case errors.Is(readErr, os.ErrDeadlineExceeded):
			return false, src.SetReadDeadline(time.Time{})
		case readErr != nil:
			return false, readErr
		case n == len(*room) && pool == &t.rooms.little:
			pool.Put(room)
			pool = &t.rooms.much
			room, _ = pool.Get().(*[]byte)
		}
	}
}

// pass writes what was read, unless it is more than may pass.
func (t *tunnel) pass(dst net.Conn, bytes []byte, count prometheus.Counter) error {
	if t.left.Add(-int64(len(bytes))) < 0 {
		t.watchMu.Lock()
		defer t.watchMu.Unlock()
		t.end(TooManyBytes)
		return errTooManyBytes
	}
	if len(bytes) == 0 {
		return nil
	}
	_, err := dst.Write(bytes)
	t.pulse.Add(1)
	count.Add(float64(len(bytes)))
	return err
}

// The room that tunnels copy with, in bytes: moving pages in the kernel (splice) was no faster on this road, and holds
// two file descriptors a direction.
const (
	littleBytes = 16 << 10
	muchBytes   = 256 << 10
)

// rooms keeps what tunnels do not use at the moment.
type rooms struct{ little, much sync.Pool }

func newRooms() *rooms {
	return &rooms{
		little: sync.Pool{New: func() any { return new(make([]byte, littleBytes)) }},
		much:   sync.Pool{New: func() any { return new(make([]byte, muchBytes)) }},
	}
}

var (
	errTooManyBytes = errors.New("more bytes than the limit")
	errNoHalfClose  = errors.New("connection cannot be half closed")
)

func closeWrite(conn net.Conn) error {
	half, ok := conn.(interface{ CloseWrite() error })
	if !ok {
		return errNoHalfClose
	}
	return half.CloseWrite()
}
