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
	room  *places
	place *place // nil for one that is turned away
	in    *bufio.Reader
	out   *bufio.Writer

	upstream *http.Transport // this connection's own, made when asked for: no origin connection is shared between clients
	last     route
}

func newClient(p *Proxy, id Identity, conn net.Conn, room *places) *client {
	return &client{
		proxy: p, id: id, conn: conn, room: room, place: room.take(conn),
		in:  bufio.NewReaderSize(conn, min(p.limits.HeadBytes, smallHead)),
		out: bufio.NewWriter(conn),
	}
}

// serve answers requests until the connection, its life or ctx ends.
func (c *client) serve(ctx context.Context) {
	defer c.place.leave()
	c.proxy.metrics.connections.Inc()
	defer c.proxy.metrics.connections.Dec()
	ctx, cancel := context.WithTimeout(ctx, c.proxy.limits.Life)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = c.conn.Close() })
	defer stop()
	defer func() {
		if c.upstream != nil {
			c.upstream.CloseIdleConnections()
		}
	}()
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
	if !c.place.work() {
		return c.part(ctx)
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

// await returns the next head; the reason is empty when none came, and Busy when the place was given away meanwhile.
func (c *client) await() (head, Reason) {
	if !c.place.rest(c.proxy.limits.Idle) {
		return head{}, Busy
	}
	if _, err := c.in.Peek(1); err != nil {
		return head{}, c.endReason()
	}
	if !c.place.start(c.proxy.limits.Head) {
		return head{}, Busy
	}
	raw, reason := c.readHead()
	if reason == "" {
		return head{}, c.endReason()
	}
	if !reason.IsAllowed() {
		return head{}, reason
	}
	return parseHead(raw)
}

// endReason tells a connection that ended from one whose place was given away.
func (c *client) endReason() Reason {
	if c.place.isLost() {
		return Busy
	}
	return ""
}

// readHead reads with a small buffer first: most heads are short, and a connection may wait for long.
func (c *client) readHead() ([]byte, Reason) {
	raw, reason := readHead(c.in)
	size := c.in.Size()
	if reason != HeadTooBig || size >= c.proxy.limits.HeadBytes {
		return raw, reason
	}
	begun, err := c.in.Peek(size)
	if err != nil {
		return nil, BadRequest
	}
	c.in = bufio.NewReaderSize(&resumed{begun: begun, rest: c.conn}, c.proxy.limits.HeadBytes)
	return readHead(c.in)
}

// resumed reads what another reader had buffered, then on.
type resumed struct {
	begun []byte
	rest  io.Reader
}

func (r *resumed) Read(p []byte) (int, error) {
	if len(r.begun) == 0 {
		r.begun = nil // let go of the buffer
		return r.rest.Read(p)
	}
	n := copy(p, r.begun)
	r.begun = r.begun[n:]
	return n, nil
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

// part tells a connection that there is no place for it, unless too many are told already.
func (c *client) part(ctx context.Context) bool {
	if !c.room.mayPart() {
		c.proxy.decide(ctx, c.decision(head{}, target{}), Busy)
		_ = c.conn.Close()
		return false
	}
	defer c.room.parted()
	c.refuse(ctx, head{}, target{}, Busy)
	c.closeGently()
	return false
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
