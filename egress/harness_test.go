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

func (r *running) last(tb testing.TB) egress.Decision {
	tb.Helper()
	r.decisionsMu.Lock()
	defer r.decisionsMu.Unlock()
	if len(r.decisions) == 0 {
		tb.Fatal("nothing was decided")
	}
	return r.decisions[len(r.decisions)-1]
}

func start(tb testing.TB, o egress.Options, methods egress.MethodRule, world *world) *running {
	tb.Helper()
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
		tb.Fatal(err)
	}
	ln := listen(tb)
	r.addr = ln.Addr().String()
	served := make(chan error, 1)
	go func() { served <- r.Serve(ln, egress.Identity{Session: "s_test", Methods: methods}) }()
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			tb.Errorf("close: %v", err)
		}
		if err := <-served; err != nil {
			tb.Errorf("serve: %v", err)
		}
	})
	return r
}

func listen(tb testing.TB) net.Listener {
	tb.Helper()
	ln, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return ln
}

func (r *running) client(tb testing.TB) *http.Client {
	tb.Helper()
	transport := &http.Transport{
		Proxy:              http.ProxyURL(&url.URL{Scheme: "http", Host: r.addr}),
		DisableCompression: true,
	}
	tb.Cleanup(transport.CloseIdleConnections)
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

func (r *running) wire(tb testing.TB) *wire {
	tb.Helper()
	conn, err := new(net.Dialer).DialContext(tb.Context(), "tcp", r.addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return &wire{Conn: conn, in: bufio.NewReader(conn)}
}

func (w *wire) send(tb testing.TB, text string) {
	tb.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		tb.Fatalf("send: %v", err)
	}
}

// reply is an answer that was read whole.
type reply struct {
	status   int
	header   http.Header
	body     string
	length   int64
	isClosed bool // whether it ends its connection
	encoding []string
}

func readReply(tb testing.TB, resp *http.Response) reply {
	tb.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatalf("read body: %v", err)
	}
	return reply{resp.StatusCode, resp.Header, string(body), resp.ContentLength, resp.Close, resp.TransferEncoding}
}

// answer reads one answer to a request with method.
func (w *wire) answer(tb testing.TB, method string) reply {
	tb.Helper()
	resp, err := http.ReadResponse(w.in, &http.Request{Method: method})
	if err != nil {
		tb.Fatalf("read answer: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	return readReply(tb, resp)
}

// ask sends one request without body and reads its answer.
func (r *running) ask(tb testing.TB, line string) reply {
	tb.Helper()
	conn := r.wire(tb)
	conn.send(tb, line+" HTTP/1.1\r\nHost: good.test\r\n\r\n")
	method, _, _ := strings.Cut(line, " ")
	return conn.answer(tb, method)
}

// say writes text, heard or not.
func say(w io.Writer, text string) { _, _ = io.WriteString(w, text) }

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
	return &foreign{TCPConn: tcp(conn), remote: to}, nil
}

func (w *world) dials() []netip.AddrPort {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]netip.AddrPort(nil), w.dialed...)
}

func (w *world) lookupsOfGood() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lookups["good.test."]
}

// tcp is for connections of tests, which all are.
func tcp(conn net.Conn) *net.TCPConn {
	half, ok := conn.(*net.TCPConn)
	if !ok {
		panic("not TCP")
	}
	return half
}

// foreign is a loopback connection that says it leads elsewhere.
type foreign struct {
	*net.TCPConn
	remote netip.AddrPort
}

func (f *foreign) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(f.remote) }

func serve(tb testing.TB, h http.HandlerFunc) *httptest.Server {
	tb.Helper()
	s := httptest.NewServer(h)
	tb.Cleanup(s.Close)
	return s
}

func wantRefused(t *testing.T, got reply, reason egress.Reason) {
	t.Helper()
	if header := got.header.Get("X-Chaperone-Refused"); header != string(reason) {
		t.Errorf("refused for %q, want %q (status %d)", header, reason, got.status)
	}
	if want := "chaperone-egress: " + string(reason); !strings.HasPrefix(got.body, want) {
		t.Errorf("body %q, want it to begin %q", got.body, want)
	}
}
