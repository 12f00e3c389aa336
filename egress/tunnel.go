package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// quietTicks parts the idle limit: each direction reports its bytes once a tick, and a tunnel without a byte
// for this many ticks ends.
const quietTicks = 4

// tunnel joins the client with the target of its CONNECT until both have ended.
func (c *client) tunnel(ctx context.Context, h head, r route) bool {
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
	t := tunnel{client: c.conn, origin: origin, tick: c.proxy.limits.Idle / quietTicks}
	t.run(&c.proxy.metrics)
	return false
}

// openTunnel tells the client to go on, and passes on what it sent ahead.
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
	_ = origin.SetWriteDeadline(time.Time{})
	return c.conn.SetDeadline(time.Time{})
}

// tunnel copies both ways on the bare connections, so that the kernel can move the bytes.
type tunnel struct {
	client, origin net.Conn
	tick           time.Duration
	moved          atomic.Int64
}

func (t *tunnel) run(m *metrics) {
	ended := make(chan error, 2)
	go func() { ended <- t.stream(t.origin, t.client, m.sent) }()
	go func() { ended <- t.stream(t.client, t.origin, m.received) }()
	t.watch(ended)
}

// watch returns when both directions have ended. It closes both when one breaks or no byte moves.
func (t *tunnel) watch(ended <-chan error) {
	ticker := time.NewTicker(t.tick)
	defer ticker.Stop()
	seen, quiet := t.moved.Load(), 0
	for open := 2; open > 0; {
		select {
		case err := <-ended:
			open--
			if err != nil {
				t.close()
			}
		case <-ticker.C:
			if now := t.moved.Load(); now != seen {
				seen, quiet = now, 0
			} else if quiet++; quiet > quietTicks {
				t.close()
			}
		}
	}
}

func (t *tunnel) close() {
	_ = t.client.Close()
	_ = t.origin.Close()
}

// stream copies until src ends and then ends dst's direction only. Its read deadline is no limit but a
// clock: it makes the copy report what it moved.
func (t *tunnel) stream(dst, src net.Conn, count prometheus.Counter) error {
	for {
		if err := src.SetReadDeadline(time.Now().Add(t.tick)); err != nil {
			return err
		}
		n, err := io.Copy(dst, src)
		t.moved.Add(n)
		count.Add(float64(n))
		if err == nil {
			return closeWrite(dst)
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
}

var errNoHalfClose = errors.New("connection cannot be half closed")

func closeWrite(conn net.Conn) error {
	half, ok := conn.(interface{ CloseWrite() error })
	if !ok {
		return errNoHalfClose
	}
	return half.CloseWrite()
}
