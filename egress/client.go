package egress

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

// lingerLimit and lingerBytes bound how long and how much of a client's data is read and dropped after a last
// answer, so that closing with data unread does not make the kernel discard that answer.
const (
	lingerLimit = 250 * time.Millisecond
	lingerBytes = 256 << 10
)

// client is one client connection. Its requests are answered one after the other; all its methods belong to
// the goroutine of serve.
type client struct {
	proxy *Proxy
	id    Identity
	conn  net.Conn
	in    *bufio.Reader
	out   *bufio.Writer

	upstream *http.Transport // this connection's own: no origin connection is shared between clients
	last     route
}

func newClient(p *Proxy, id Identity, conn net.Conn) *client {
	return &client{
		proxy:    p,
		id:       id,
		conn:     conn,
		in:       bufio.NewReaderSize(conn, p.limits.HeadBytes),
		out:      bufio.NewWriter(conn),
		upstream: newUpstream(p),
	}
}

// serve answers requests until the connection, its life or ctx ends.
func (c *client) serve(ctx context.Context) {
	c.proxy.metrics.connections.Inc()
	defer c.proxy.metrics.connections.Dec()
	ctx, cancel := context.WithTimeout(ctx, c.proxy.limits.Life)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = c.conn.Close() })
	defer stop()
	defer c.upstream.CloseIdleConnections()
	for c.answerNext(ctx) {
	}
	c.closeGently()
}

// answerNext reports whether another request may follow.
func (c *client) answerNext(ctx context.Context) bool {
	h, reason := c.await()
	if reason == "" {
		return false
	}
	if !reason.IsAllowed() {
		return c.refuse(ctx, h, target{}, reason)
	}
	t, reason := parseTarget(h.method, h.target)
	if !reason.IsAllowed() {
		return c.refuse(ctx, h, t, reason)
	}
	if reason := h.judgeRequest(c.id.Methods); !reason.IsAllowed() {
		return c.refuse(ctx, h, t, reason)
	}
	r, reason := c.route(ctx, t)
	if !reason.IsAllowed() {
		return c.refuse(ctx, h, t, reason)
	}
	if _, err := c.in.Discard(h.size); err != nil {
		return false
	}
	if h.method == http.MethodConnect {
		return c.tunnel(ctx, h, r)
	}
	return c.exchange(ctx, h, r)
}

// await returns the next head; the reason is empty when none came.
func (c *client) await() (head, Reason) {
	_ = c.conn.SetReadDeadline(time.Now().Add(c.proxy.limits.Idle))
	if _, err := c.in.Peek(1); err != nil {
		return head{}, ""
	}
	_ = c.conn.SetReadDeadline(time.Now().Add(c.proxy.limits.Head))
	raw, reason := readHead(c.in)
	if !reason.IsAllowed() {
		return head{}, reason
	}
	return parseHead(raw)
}

// route keeps a connection on the addresses that were judged for its last request to the same target.
func (c *client) route(ctx context.Context, t target) (route, Reason) {
	if c.last.serves(t, time.Now()) {
		r := c.last
		r.target = t
		return r, r.reason
	}
	r, reason := c.proxy.route(ctx, t)
	c.last = r
	return r, reason
}

// turnAway answers a connection for which there is no place.
func (c *client) turnAway(ctx context.Context) {
	c.refuse(ctx, head{}, target{}, Busy)
	c.closeGently()
}

// closeGently closes so that a last answer arrives.
func (c *client) closeGently() {
	if half, ok := c.conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = c.conn.SetReadDeadline(time.Now().Add(lingerLimit))
		_, _ = io.CopyN(io.Discard, c.conn, lingerBytes)
	}
	_ = c.conn.Close()
}

func (c *client) decision(h head, t target) Decision {
	d := Decision{Session: c.id.Session, Method: h.method, Port: t.port}
	if t.port != 0 {
		d.Host = t.host.String()
	}
	return d
}
