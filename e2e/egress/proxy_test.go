package egress_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for what must come.
const patience = 60 * time.Second

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// site is an HTTP server at an address of the network.
type site struct {
	requests atomic.Int64
}

func openSite(t *testing.T, at string, h http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	ln, err := new(net.ListenConfig).Listen(context.Background(), "tcp", at)
	check(t, err)
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		h(w, r)
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(ln) }()
	t.Cleanup(func() { _ = server.Close(); <-served })
	return s
}

// openSecret is what must never be reached: it listens on loopback, where a name or a redirect may lead.
func openSecret(t *testing.T) *site {
	t.Helper()
	return openSite(t, "127.0.0.1:80", func(w http.ResponseWriter, _ *http.Request) { say(w, "secret") })
}

func say(w io.Writer, text string) { _, _ = io.WriteString(w, text) }

// proxy is a running `chaperone egress`.
type proxy struct {
	addr string
	cmd  *exec.Cmd
	log  *buffer
}

type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// start runs the proxy; at the test's end it has to stop when told, without a race.
func start(t *testing.T, args ...string) *proxy {
	t.Helper()
	p := &proxy{log: &buffer{}}
	p.cmd = exec.Command(os.Getenv(binaryKey), append([]string{"egress", "--listen", "127.0.0.1:0", "--log", "json"}, args...)...) //nolint:noctx // it is told to stop
	p.cmd.Stderr = p.log
	out, err := p.cmd.StdoutPipe()
	check(t, err)
	check(t, p.cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("the proxy ended with %v\n%s", err, p.log)
		}
		if strings.Contains(p.log.String(), "DATA RACE") {
			t.Errorf("the proxy raced\n%s", p.log)
		}
	})
	if err != nil {
		t.Fatalf("the proxy did not start: %v\n%s", err, p.log)
	}
	p.addr = strings.TrimPrefix(strings.TrimSpace(line), "http://")
	return p
}

// wire is a bare connection to the proxy.
type wire struct {
	net.Conn
	in *bufio.Reader
}

func (p *proxy) wire(t *testing.T) *wire {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.addr)
	check(t, err)
	check(t, conn.SetDeadline(time.Now().Add(patience)))
	t.Cleanup(func() { _ = conn.Close() })
	return &wire{conn, bufio.NewReader(conn)}
}

// reply is an answer: err is why its body is not whole.
type reply struct {
	status        int
	reason, place string
	body          string
	err           error
}

// ask sends a request and reads its answer.
func (w *wire) ask(t *testing.T, line string) reply {
	t.Helper()
	say(w, line+" HTTP/1.1\r\nHost: x\r\n\r\n")
	return w.read(t, line)
}

func (w *wire) read(t *testing.T, line string) reply {
	t.Helper()
	method, _, _ := strings.Cut(line, " ")
	resp, err := http.ReadResponse(w.in, &http.Request{Method: method})
	if err != nil {
		return reply{err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	r := reply{status: resp.StatusCode, reason: resp.Header.Get("X-Chaperone-Refused"), place: resp.Header.Get("Location")}
	if method == http.MethodConnect && r.status == http.StatusOK {
		return r
	}
	body, err := io.ReadAll(resp.Body)
	r.body, r.err = string(body), err
	return r
}

func TestANameThatChangesIsDialledWhereItWasJudged(t *testing.T) {
	dns := openNames(t, map[string]func(int) []string{"rebind.test.": func(lookup int) []string {
		if lookup == 1 {
			return []string{goodAddr}
		}
		return []string{"127.0.0.1"}
	}})
	secret := openSecret(t)
	openSite(t, goodAddr+":80", func(w http.ResponseWriter, _ *http.Request) { say(w, "public") })
	p := start(t)
	kept := p.wire(t)
	for range 3 {
		if got := kept.ask(t, "GET http://rebind.test/"); got.body != "public" {
			t.Errorf("on the connection that was judged: %+v", got)
		}
	}
	if n := dns.lookups("rebind.test."); n != 1 {
		t.Errorf("%d lookups on one connection", n)
	}
	for _, line := range []string{"GET http://rebind.test/", "CONNECT rebind.test:80", "CONNECT rebind.test:443"} {
		if got := p.wire(t).ask(t, line); got.reason != "loopback_address" || got.status != http.StatusForbidden {
			t.Errorf("%s: %+v", line, got)
		}
	}
	if secret.requests.Load() != 0 {
		t.Error("the secret was reached")
	}
}

func TestANameWithOneBadAddressIsRefusedByTheRealResolver(t *testing.T) {
	many := make([]string, 0, 2000)
	for i := range 2000 {
		many = append(many, net.IPv4(93, 184, byte(i/250), byte(i%250)).String())
	}
	reasons := map[string]struct {
		reason string
		answer []string
	}{
		"private.test.":  {"private_address", []string{goodAddr, "10.0.0.1"}},
		"last.test.":     {"link_local_address", []string{goodAddr, "93.184.216.36", "169.254.169.254"}},
		"six.test.":      {"loopback_address", []string{goodAddr, "::1"}},
		"mapped.test.":   {"loopback_address", []string{goodAddr, "::ffff:127.0.0.1"}},
		"nat64.test.":    {"special_address", []string{"64:ff9b::a9fe:a9fe"}},
		"aliased.test.":  {"link_local_address", []string{"next.test.", "end.test.", "169.254.169.254"}},
		"own.test.":      {"special_address", []string{source}},
		"denied.test.":   {"own_address", []string{otherAddr}},
		"many.test.":     {"too_many_addresses", many},
		"empty.test.":    {"name_not_resolved", nil},
		"nowhere.test.":  {"connection_refused", []string{goodAddr}},
		"localhost.test": {"name_not_resolved", nil}, // not in the zone: no such name
	}
	zone := map[string]func(int) []string{}
	for name, r := range reasons {
		if strings.HasSuffix(name, ".") {
			zone[name] = always(r.answer...)
		}
	}
	openNames(t, zone)
	secret := openSecret(t)
	p := start(t, "--deny", otherAddr)
	for name, want := range reasons {
		host := strings.TrimSuffix(name, ".")
		for _, line := range []string{"GET http://" + host + "/", "CONNECT " + host + ":443"} {
			if got := p.wire(t).ask(t, line); got.reason != want.reason || got.status < 400 {
				t.Errorf("%s: %+v, want %s", line, got, want.reason)
			}
		}
	}
	if secret.requests.Load() != 0 {
		t.Error("the secret was reached")
	}
}

func TestNoRedirectLeadsInside(t *testing.T) {
	openNames(t, map[string]func(int) []string{"good.test.": always(goodAddr), "inside.test.": always("127.0.0.1")})
	secret := openSecret(t)
	openSite(t, goodAddr+":80", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(http.StatusFound)
	})
	p := start(t)
	for place, reason := range map[string]string{
		"http://127.0.0.1/":                 "loopback_address",
		"http://2130706433/":                "loopback_address",
		"http://0x7f.1/":                    "loopback_address",
		"http://0/":                         "unspecified_address",
		"http://[::1]/":                     "loopback_address",
		"http://[::ffff:127.0.0.1]/":        "loopback_address",
		"http://localhost/":                 "local_name",
		"http://inside.test/":               "loopback_address",
		"http://good.test:8080/":            "port",
		"http://metadata.google.internal/":  "metadata_name",
		"http://169.254.169.254/latest/":    "link_local_address",
		"ftp://good.test/":                  "scheme",
		"http://user@good.test/":            "userinfo",
		"http://good.test:80@127.0.0.1:80/": "userinfo",
	} {
		conn := p.wire(t)
		hop := conn.ask(t, "GET http://good.test/?to="+url.QueryEscape(place))
		if hop.place != place {
			t.Errorf("the redirect to %s is passed on as %+v", place, hop)
		}
		if got := conn.ask(t, "GET "+hop.place); got.reason != reason {
			t.Errorf("%s: %+v, want %s", place, got, reason)
		}
	}
	if secret.requests.Load() != 0 {
		t.Error("the secret was reached")
	}
}
