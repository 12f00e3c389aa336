package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// maxAttempts bounds how many of a name's addresses are tried.
const maxAttempts = 4

var errOtherAddress = errors.New("socket is not for the judged address")

// connector opens a TCP connection to exactly one address.
type connector func(ctx context.Context, to netip.AddrPort) (net.Conn, error)

// connectTCP is the connector of every proxy but a test's.
func connectTCP(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		if address != to.String() {
			return errOtherAddress
		}
		return nil
	}}
	return d.DialContext(ctx, "tcp", to.String())
}

// dial connects to the first of the route's addresses that answers, and judges the peer once more. The caller
// closes the connection.
func (p *Proxy) dial(ctx context.Context, r route) (net.Conn, Reason) {
	addrs := r.addrs[:min(len(r.addrs), maxAttempts)]
	deadline := time.Now().Add(p.limits.Dial)
	trouble := Unreachable
	for i, a := range addrs {
		share := time.Until(deadline) / time.Duration(len(addrs)-i)
		conn, err := p.connectWithin(ctx, share, netip.AddrPortFrom(a, r.target.port))
		if err != nil {
			if errors.Is(err, syscall.ECONNREFUSED) {
				trouble = ConnectionRefused
			}
			continue
		}
		if reason := p.judgePeer(conn, a, r); !reason.IsAllowed() {
			_ = conn.Close()
			return nil, reason
		}
		return conn, r.reason
	}
	return nil, trouble
}

func (p *Proxy) connectWithin(ctx context.Context, limit time.Duration, to netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return p.connect(ctx, to)
}

// judgePeer looks at what the socket is connected to. Equal addresses at both ends are this machine's own,
// whichever interface got it since the proxy was made.
func (p *Proxy) judgePeer(conn net.Conn, want netip.Addr, r route) Reason {
	peer, local := endpoint(conn.RemoteAddr()), endpoint(conn.LocalAddr())
	switch {
	case peer != netip.AddrPortFrom(want, r.target.port):
		return PeerChanged
	case r.reason == TestOrigin:
		return TestOrigin
	case peer.Addr() == local.Addr():
		return OwnAddress
	default:
		return p.judge(peer)
	}
}

// endpoint is the zero AddrPort for what is not a TCP address.
func endpoint(a net.Addr) netip.AddrPort {
	if a == nil {
		return netip.AddrPort{}
	}
	parsed, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(parsed.Addr().Unmap(), parsed.Port())
}
