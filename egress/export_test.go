package egress

import (
	"context"
	"net"
	"net/netip"
)

// NewDialing makes a proxy whose connections are opened by connect.
func NewDialing(o Options, connect func(context.Context, netip.AddrPort) (net.Conn, error)) (*Proxy, error) {
	p, err := New(o)
	if err != nil {
		return nil, err
	}
	p.connect = connect
	return p, nil
}

// ReadTarget shows what the proxy makes of a request target.
func ReadTarget(method, raw string) (place, resource string, reason Reason) {
	t, reason := parseTarget(method, raw)
	if !reason.IsAllowed() {
		return "", "", reason
	}
	return hostPort(t.host, t.port), t.resource, t.host.judge()
}

// ReadHost shows the canonical spelling of a host and what is thought of it.
func ReadHost(raw string) (string, Reason) {
	h, reason := parseHost(raw)
	if !reason.IsAllowed() {
		return "", reason
	}
	return h.String(), h.judge()
}
