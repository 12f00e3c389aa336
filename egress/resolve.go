package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"
)

// route is a judged way to a target: the addresses that may be dialed, and why.
type route struct {
	target target
	addrs  []netip.Addr
	reason Reason // Allowed or TestOrigin
	at     time.Time
}

// routePinned is how long a client connection keeps using the addresses of its last route for the same
// target: long enough for a page's requests, shorter than the life of most DNS records.
const routePinned = 30 * time.Second

func (r route) serves(t target, now time.Time) bool {
	return r.reason.IsAllowed() && r.target.host == t.host && r.target.port == t.port && now.Sub(r.at) < routePinned
}

// route judges t and resolves its name, once. All addresses must be good ones: a name with one bad answer is
// either an attack or a mistake.
func (p *Proxy) route(ctx context.Context, t target) (route, Reason) {
	now := time.Now()
	if p.origins.has(t.host, t.port) {
		return route{target: t, addrs: []netip.Addr{testAddress()}, reason: TestOrigin, at: now}, TestOrigin
	}
	if reason := t.host.judge(); !reason.IsAllowed() {
		return route{}, reason
	}
	if reason := t.judgePort(); !reason.IsAllowed() {
		return route{}, reason
	}
	addrs, reason := p.resolve(ctx, t.host)
	if !reason.IsAllowed() {
		return route{}, reason
	}
	for _, a := range addrs {
		if reason := p.judge(netip.AddrPortFrom(a, t.port)); !reason.IsAllowed() {
			return route{}, reason
		}
	}
	return route{target: t, addrs: addrs, reason: Allowed, at: now}, Allowed
}

// resolve returns the addresses of h, at least one and at most the limit.
func (p *Proxy) resolve(ctx context.Context, h host) ([]netip.Addr, Reason) {
	if h.name == "" {
		return []netip.Addr{h.addr.Unmap()}, Allowed
	}
	ctx, cancel := context.WithTimeout(ctx, p.limits.Lookup)
	defer cancel()
	addrs, err := p.resolver.LookupNetIP(ctx, "ip", h.name+".")
	switch {
	case isTimeout(err):
		return nil, LookupTimeout
	case err != nil || len(addrs) == 0:
		return nil, NotResolved
	case len(addrs) > p.limits.Addresses:
		return nil, TooManyAnswers
	}
	for i, a := range addrs {
		addrs[i] = a.Unmap()
	}
	return addrs, Allowed
}

func isTimeout(err error) bool {
	var netErr net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &netErr) && netErr.Timeout()
}

// judge refuses what JudgeAddr refuses, and the machine's own addresses.
func (p *Proxy) judge(to netip.AddrPort) Reason {
	if reason := JudgeAddr(to.Addr()); !reason.IsAllowed() {
		return reason
	}
	for _, own := range p.own {
		if own.Addr() == to.Addr() && (own.Port() == 0 || own.Port() == to.Port()) {
			return OwnAddress
		}
	}
	return Allowed
}

// ownAddresses are the given ones and those of the machine's interfaces on every port.
func ownAddresses(given []netip.AddrPort) []netip.AddrPort {
	own := make([]netip.AddrPort, 0, len(given))
	for _, a := range given {
		own = append(own, netip.AddrPortFrom(a.Addr().Unmap(), a.Port()))
	}
	local, err := net.InterfaceAddrs()
	if err != nil {
		return own // the check after connecting still finds them
	}
	for _, a := range local {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, netip.AddrPortFrom(prefix.Addr().Unmap(), 0))
		}
	}
	return own
}
