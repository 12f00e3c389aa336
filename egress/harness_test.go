package egress_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"chaperone/egress"
)

// patience bounds every wait of a test; nothing good takes that long.
const patience = 10 * time.Second

type vector struct{ ID, Kind, Input, Expect, Why string }

func vectors(t *testing.T, kind string) []vector {
	t.Helper()
	file, err := os.ReadFile("testdata/vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	for line := range strings.Lines(string(file)) {
		var v vector
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if v.Kind == kind {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		t.Fatalf("no vector of kind %s", kind)
	}
	return all
}

// running is a proxy on a real loopback port, and what it decided.
type running struct {
	*egress.Proxy
	addr string

	decisionsMu sync.Mutex
	decisions   []egress.Decision
}

func (r *running) note(d egress.Decision) {
	r.decisionsMu.Lock()
	defer r.decisionsMu.Unlock()
	r.decisions = append(r.decisions, d)
}

func (r *running) last(t testing.TB) egress.Decision {
	t.Helper()
	r.decisionsMu.Lock()
	defer r.decisionsMu.Unlock()
	if len(r.decisions) == 0 {
		t.Fatal("nothing was decided")
	}
	return r.decisions[len(r.decisions)-1]
}

func start(t testing.TB, o egress.Options, methods egress.MethodRule, world *world) *running {
	t.Helper()
	r := &running{}
	o.OnDecision = r.note
	var err error
	if world == nil {
		r.Proxy, err = egress.New(o)
	} else {
		o.Resolver = world
		r.Proxy, err = egress.NewDialing(o, world.connect)
	}
	if err != nil {
		t.Fatal(err)
	}
	ln := listen(t)
	r.addr = ln.Addr().String()
	served := make(chan error, 1)
	go func() { served <- r.Serve(ln, egress.Identity{Session: "s_test", Methods: methods}) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return r
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func (r *running) client(t testing.TB) *http.Client {
	t.Helper()
	transport := &http.Transport{
		Proxy:              http.ProxyURL(&url.URL{Scheme: "http", Host: r.addr}),
		DisableCompression: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// wire is a client that writes what it likes.
type wire struct {
	net.Conn
	in *bufio.Reader
}

func (r *running) wire(t testing.TB) *wire {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return &wire{Conn: conn, in: bufio.NewReader(conn)}
}

func (w *wire) send(t testing.TB, text string) {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatalf("send: %v", err)
	}
}

// answer reads one answer and its body.
func (w *wire) answer(t testing.TB, method string) (*http.Response, string) {
	t.Helper()
	resp, err := http.ReadResponse(w.in, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("read answer: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("read body: %v", err)
	}
	return resp, string(body)
}

func (w *wire) isClosed() bool {
	_, err := w.in.ReadByte()
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// world is a network in which public addresses lead to servers of the test.
type world struct {
	answers func(name string, lookup int) ([]netip.Addr, error)
	servers map[netip.AddrPort]string

	mu      sync.Mutex
	lookups map[string]int
	dialed  []netip.AddrPort
	peer    func(netip.AddrPort) netip.AddrPort // what the socket says, when not the truth
}

// goodAddr is where good.test lives.
func goodAddr() netip.Addr { return netip.MustParseAddr("93.184.216.34") }

// newWorld has one site, http://good.test.
func newWorld(server *httptest.Server) *world {
	w := &world{
		answers: func(name string, _ int) ([]netip.Addr, error) {
			if name == "good.test." {
				return []netip.Addr{goodAddr()}, nil
			}
			return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		},
		servers: map[netip.AddrPort]string{},
		lookups: map[string]int{},
	}
	if server != nil {
		w.servers[netip.AddrPortFrom(goodAddr(), 80)] = server.Listener.Addr().String()
		w.servers[netip.AddrPortFrom(goodAddr(), 443)] = server.Listener.Addr().String()
	}
	return w
}

func (w *world) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lookups[name]++
	return w.answers(name, w.lookups[name])
}

func (w *world) connect(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, to)
	server, peer := w.servers[to], w.peer
	w.mu.Unlock()
	if server == "" {
		return nil, errors.New("nothing listens there")
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", server)
	if err != nil {
		return nil, err
	}
	if peer != nil {
		to = peer(to)
	}
	return &foreign{TCPConn: conn.(*net.TCPConn), remote: to}, nil
}

func (w *world) dials() []netip.AddrPort {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]netip.AddrPort(nil), w.dialed...)
}

func (w *world) lookupsOf(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lookups[name]
}

// foreign is a loopback connection that says it leads elsewhere.
type foreign struct {
	*net.TCPConn
	remote netip.AddrPort
}

func (f *foreign) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(f.remote) }

func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func wantRefused(t *testing.T, resp *http.Response, body string, reason egress.Reason) {
	t.Helper()
	if got := resp.Header.Get("X-Chaperone-Refused"); got != string(reason) {
		t.Errorf("refused for %q, want %q (status %d)", got, reason, resp.StatusCode)
	}
	if want := "chaperone-egress: " + string(reason); !strings.HasPrefix(body, want) {
		t.Errorf("body %q, want it to begin %q", body, want)
	}
}
