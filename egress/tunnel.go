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
	// chunk is how much is copied between two looks at the limits: little enough that a slow reader is not taken for
	// a quiet one, much enough that looking costs nothing.
	chunk = 256 << 10
	// burst is how long a direction keeps what it copies with (in Linux two pipe ends) after the last byte.
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
	t := &tunnel{client: c.conn, origin: origin, tick: c.proxy.limits.Idle / quietTicks}
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

// tunnel copies both ways on the bare connections, so that the kernel can move the bytes.
type tunnel struct {
	client, origin net.Conn
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

// flow copies until src ends or is silent for a burst.
func (t *tunnel) flow(dst, src net.Conn, count prometheus.Counter) (isEnd bool, err error) {
	for {
		want := min(chunk, t.left.Load())
		if want <= 0 {
			t.watchMu.Lock()
			defer t.watchMu.Unlock()
			t.end(TooManyBytes)
			return true, errTooManyBytes
		}
		if err := src.SetReadDeadline(time.Now().Add(min(burst, t.tick))); err != nil {
			return false, err
		}
		n, err := pour(dst, &io.LimitedReader{R: src, N: want})
		t.left.Add(-n)
		t.pulse.Add(n)
		count.Add(float64(n))
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return false, src.SetReadDeadline(time.Time{})
		case err != nil:
			return false, err
		case n < want:
			return true, nil
		}
	}
}

// buffers are for what the kernel cannot move by itself.
var buffers = sync.Pool{New: func() any { return new([64 << 10]byte) }} //nolint:gochecknoglobals // a pool is shared by its nature

// pour copies in the kernel where it can, that is, into TCP.
func pour(dst net.Conn, src *io.LimitedReader) (int64, error) {
	if direct, ok := dst.(io.ReaderFrom); ok {
		return direct.ReadFrom(src)
	}
	buffer, _ := buffers.Get().(*[64 << 10]byte)
	defer buffers.Put(buffer)
	return io.CopyBuffer(dst, src, buffer[:])
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
