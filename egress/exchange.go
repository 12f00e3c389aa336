package egress

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// continueWait is how long an upload waits for an origin's 100 before it is sent without (RFC 9110 section 10.1.1).
const continueWait = time.Second

var (
	errIdle       = errors.New("no byte moved within the idle limit")
	errClientGone = errors.New("client closed its connection")
	errNoRoute    = errors.New("request has no route")
)

// routeKey keys the route in a request's context: the dialer has no other way to an address.
type routeKey struct{}

func (c *client) transport() *http.Transport {
	if c.upstream == nil {
		c.upstream = newUpstream(c.proxy)
	}
	return c.upstream
}

func newUpstream(p *Proxy) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			r, ok := ctx.Value(routeKey{}).(route)
			if !ok {
				return nil, errNoRoute
			}
			conn, reason := p.dial(ctx, r)
			if !reason.IsAllowed() {
				return nil, refuse(reason)
			}
			return conn, nil
		},
		DisableCompression:     true,
		MaxIdleConns:           1,
		IdleConnTimeout:        p.limits.Idle,
		ResponseHeaderTimeout:  p.limits.Answer,
		ExpectContinueTimeout:  continueWait,
		MaxResponseHeaderBytes: p.limits.AnswerHeadBytes,
	}
}

// exchange is one plain request and its answer.
type exchange struct {
	client *client
	head   head
	route  route
	upload *upload
	pulse  *pulse
	left   *atomic.Int64 // bytes that may still pass, both ways; below zero too many did
}

// exchange forwards the next request and reports whether another may follow.
func (c *client) exchange(ctx context.Context, h head, r route) bool {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	beat := newPulse(c.proxy.limits.Idle, func() { cancel(errIdle) })
	defer beat.stop()
	left := new(atomic.Int64)
	left.Store(c.proxy.limits.Bytes)
	x := &exchange{client: c, head: h, route: r, pulse: beat, left: left, upload: newUpload(c, h, beat, left)}
	unwatch := c.watch(h, func() { cancel(errClientGone) })
	isAnswered := x.forward(ctx)
	cancel(nil)
	unwatch()
	return x.upload.finish() && isAnswered && h.mayContinue
}

// forward sends the request and passes the answer on; it reports whether the client got a whole answer.
func (x *exchange) forward(ctx context.Context) bool {
	d := x.client.decision(x.head, x.route.target)
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		d.Address = endpoint(info.Conn.RemoteAddr()).Addr().String()
	}}
	ctx = httptrace.WithClientTrace(context.WithValue(ctx, routeKey{}, x.route), trace)
	resp, err := x.client.transport().RoundTrip(x.outbound(ctx))
	if err != nil {
		return x.fail(ctx, d, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < http.StatusOK {
		return x.fail(ctx, d, errors.ErrUnsupported)
	}
	x.client.proxy.decide(ctx, d, x.route.reason)
	isWhole := x.answer(resp)
	if reason := x.cutBy(ctx); !isWhole && reason != "" {
		x.client.proxy.cut(ctx, d, reason)
	}
	return isWhole
}

func (x *exchange) fail(ctx context.Context, d Decision, err error) bool {
	reason := x.failure(ctx, err)
	x.client.proxy.decide(ctx, d, reason)
	x.upload.stopContinue()
	x.client.sayRefused(x.head.method, reason)
	return false
}

func (x *exchange) failure(ctx context.Context, err error) Reason {
	var dialed *Refusal
	switch {
	case errors.Is(context.Cause(ctx), errClientGone):
		return ClientGone
	case errors.Is(x.upload.broken(), errTooManyBytes):
		return TooManyBytes
	case isTimeout(x.upload.broken()):
		return BodyTooSlow
	case x.upload.broken() != nil:
		return BadRequest
	case errors.As(err, &dialed):
		return dialed.Reason
	case isTimeout(err), errors.Is(context.Cause(ctx), errIdle):
		return AnswerTimeout
	default:
		return BadAnswer
	}
}

// cutBy is the limit that ended an answer under way, if one did.
func (x *exchange) cutBy(ctx context.Context) Reason {
	switch {
	case x.left.Load() < 0:
		return TooManyBytes
	case errors.Is(context.Cause(ctx), errIdle):
		return TooQuiet
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return TooOld
	default:
		return ""
	}
}

// outbound is the request as the origin gets it: to the canonical host, without what concerned the client's
// connection, and with the resource spelled as it came.
func (x *exchange) outbound(ctx context.Context) *http.Request {
	out := (&http.Request{
		Method:        x.head.method,
		URL:           x.route.target.url(),
		Host:          x.route.target.authority(),
		Header:        x.head.fields,
		ContentLength: x.head.length,
		ProtoMajor:    1, // the transport waits for a 100 only when asked in HTTP/1.1
		ProtoMinor:    1,
	}).WithContext(ctx)
	if x.head.isChunked {
		out.ContentLength = -1
	}
	if x.head.hasBody() {
		out.Body = x.upload
	}
	dropHopByHop(out.Header)
	out.Header.Add("Via", via)
	if _, ok := out.Header["User-Agent"]; !ok {
		out.Header["User-Agent"] = nil // or the transport names itself
	}
	return out
}

// watch cancels the exchange of a request without body when the client goes away meanwhile. The returned
// function ends the watch and must be called before the next read.
func (c *client) watch(h head, gone func()) (end func()) {
	if h.hasBody() {
		return func() {}
	}
	_ = c.conn.SetReadDeadline(time.Time{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if _, err := c.in.Peek(1); err != nil && !isTimeout(err) {
			gone()
		}
	}()
	return func() {
		_ = c.conn.SetReadDeadline(time.Unix(1, 0))
		<-ended
	}
}

// pulse ends an exchange in which no byte moved for a while.
type pulse struct {
	timer *time.Timer
	limit time.Duration
}

func newPulse(limit time.Duration, end func()) *pulse {
	return &pulse{timer: time.AfterFunc(limit, end), limit: limit}
}

func (p *pulse) beat() { p.timer.Reset(p.limit) }
func (p *pulse) stop() { p.timer.Stop() }
