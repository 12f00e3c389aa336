package egress_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"chaperone/egress"
)

// FuzzTarget: a target that is allowed has one host, spelled canonically, that is judged the same again, and
// an address among those that may be dialed.
func FuzzTarget(f *testing.F) {
	for _, c := range wrongVectors() {
		line, _, _ := strings.Cut(c.raw, "\r\n")
		if parts := strings.Split(line, " "); len(parts) == 3 {
			f.Add(parts[0], parts[1])
		}
	}
	f.Add("GET", "http://good.test/a?b")
	f.Add("CONNECT", "[2606:4700::1]:443")
	f.Fuzz(func(t *testing.T, method, raw string) {
		place, resource, reason := egress.ReadTarget(method, raw)
		if !reason.IsAllowed() {
			return
		}
		hostText, _, err := net.SplitHostPort(place)
		if err != nil {
			t.Fatalf("%q: %v", place, err)
		}
		if addr, err := netip.ParseAddr(hostText); err == nil && !egress.JudgeAddr(addr).IsAllowed() {
			t.Errorf("%q leads to %s", raw, addr)
		}
		again, _, reason := egress.ReadTarget(http.MethodConnect, place)
		if again != place || !reason.IsAllowed() {
			t.Errorf("%q, read again, is %q %s", place, again, reason)
		}
		if strings.ContainsAny(place+resource, " \r\n\t#") || strings.Contains(place, "@") {
			t.Errorf("%q and %q would be written to the wire", place, resource)
		}
	})
}

// FuzzURL: a URL that passes is one that passes again and whose host net/url reads as it was judged.
func FuzzURL(f *testing.F) {
	for _, raw := range []string{"http://good.test/", "https://[::1]/", "http://127.1/", "http://a@b", "http://%6c/", "http://göd.test/%zz"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := egress.CheckURL(raw, nil)
		if err != nil {
			if _, ok := errors.AsType[*egress.Refusal](err); !ok {
				t.Errorf("%q: %v is no refusal", raw, err)
			}
			return
		}
		if u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
			t.Errorf("%q passes as %q", raw, u)
		}
		spelling, reason := egress.ReadHost(strings.TrimSuffix(strings.TrimSuffix(u.Host, ":80"), ":443"))
		if !reason.IsAllowed() || !strings.HasPrefix(u.Host, spelling) {
			t.Errorf("%q passes, but its host %q is %q %s", raw, u.Host, spelling, reason)
		}
		if _, err := egress.CheckURL(u.String(), nil); err != nil {
			t.Errorf("%q passes as %q, which does not: %v", raw, u, err)
		}
	})
}

// fuzzed is a network in which every name leads to a public and then to a private address, and no address answers.
type fuzzed struct{ t *testing.T }

func (f fuzzed) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	if strings.HasPrefix(name, "bad") {
		return []netip.Addr{goodAddr(), netip.MustParseAddr("127.0.0.1")}, nil
	}
	return []netip.Addr{goodAddr()}, nil
}

func (f fuzzed) connect(_ context.Context, to netip.AddrPort) (net.Conn, error) {
	if !egress.JudgeAddr(to.Addr()).IsAllowed() || to.Port() != 80 && to.Port() != 443 {
		f.t.Errorf("dials %s", to)
	}
	return nil, errors.New("nothing answers")
}

// FuzzRequests: whatever a client sends, nothing is dialed that JudgeAddr denies, and each answer is a refusal.
func FuzzRequests(f *testing.F) {
	for _, c := range wrongVectors() {
		if len(c.raw) < 4096 {
			f.Add([]byte(c.raw))
		}
	}
	f.Add([]byte("GET http://good.test/ HTTP/1.1\r\nHost: x\r\n\r\n"))
	f.Add([]byte("POST http://bad.test/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		network := fuzzed{t}
		limits := egress.Limits{Head: 20 * time.Millisecond, Idle: 20 * time.Millisecond, HeadBytes: 4096}
		p, err := egress.NewDialing(egress.Options{Resolver: network, Limits: limits}, network.connect)
		if err != nil {
			t.Fatal(err)
		}
		here, there := net.Pipe()
		ln := &oneConn{conn: there, closed: make(chan struct{})}
		served := make(chan error, 1)
		go func() { served <- p.Serve(ln, egress.Identity{Methods: egress.AllMethods}) }()
		go func() { _, _ = here.Write(raw) }()
		said, _ := io.ReadAll(here)
		_ = here.Close()
		if err := p.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := <-served; err != nil {
			t.Fatal(err)
		}
		if text := string(said); text != "" && !strings.Contains(text, "X-Chaperone-Refused: ") && !strings.HasPrefix(text, "HTTP/1.1 100 ") {
			t.Errorf("answered %q", text)
		}
	})
}

// oneConn is a listener with one connection.
type oneConn struct {
	conn   net.Conn
	given  bool
	closed chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	if !l.given {
		l.given = true
		return l.conn, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error {
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return nil
}

func (l *oneConn) Addr() net.Addr { return l.conn.LocalAddr() }
