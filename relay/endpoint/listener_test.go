package endpoint_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"chaperone/relay/endpoint"
)

// fetch asks the listener as a client would that is free to say any Host.
func fetch(t *testing.T, c *endpoint.Capability, path string, change func(*http.Request)) (int, string) {
	t.Helper()
	address := strings.TrimPrefix(c.WS(), "ws://")
	address = address[:strings.IndexByte(address, '/')]
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(request)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func secretOf(c *endpoint.Capability) string { return c.WS()[strings.LastIndexByte(c.WS(), '/')+1:] }

func TestWhateverABrowserSendsIsRefused(t *testing.T) {
	c := grant(t, newEdge("t1"))
	_, port, err := net.SplitHostPort(strings.Split(strings.TrimPrefix(c.HTTP(), "http://"), "/")[0])
	if err != nil {
		t.Fatal(err)
	}
	path := "/" + secretOf(c) + "/json/version"
	for name, test := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"the listener's own address":       {nil, 200},
		"localhost with the port":          {func(r *http.Request) { r.Host = "localhost:" + port }, 200},
		"a page's Origin":                  {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		"the endpoint's own Origin":        {func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:"+port) }, 403},
		"an opaque Origin":                 {func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"an empty Origin":                  {func(r *http.Request) { r.Header["Origin"] = []string{""} }, 403},
		"a name that resolves here":        {func(r *http.Request) { r.Host = "rebound.example:" + port }, 403},
		"a subdomain of localhost":         {func(r *http.Request) { r.Host = "a.localhost:" + port }, 403},
		"localhost in capitals":            {func(r *http.Request) { r.Host = "LOCALHOST:" + port }, 403},
		"localhost with a dot at its end":  {func(r *http.Request) { r.Host = "localhost.:" + port }, 403},
		"the address without its port":     {func(r *http.Request) { r.Host = "127.0.0.1" }, 403},
		"localhost without its port":       {func(r *http.Request) { r.Host = "localhost" }, 403},
		"another port":                     {func(r *http.Request) { r.Host = "127.0.0.1:1" }, 403},
		"IPv6 loopback":                    {func(r *http.Request) { r.Host = "[::1]:" + port }, 403},
		"the address mapped into IPv6":     {func(r *http.Request) { r.Host = "[::ffff:127.0.0.1]:" + port }, 403},
		"the address as one number":        {func(r *http.Request) { r.Host = "2130706433:" + port }, 403},
		"the address in hexadecimal":       {func(r *http.Request) { r.Host = "0x7f.1:" + port }, 403},
		"the address in short":             {func(r *http.Request) { r.Host = "127.1:" + port }, 403},
		"another loopback address":         {func(r *http.Request) { r.Host = "127.0.0.2:" + port }, 403},
		"user info before the address":     {func(r *http.Request) { r.Host = "a@127.0.0.1:" + port }, 403},
		"the port with a zero before it":   {func(r *http.Request) { r.Host = "127.0.0.1:0" + port }, 403},
		"a POST":                           {func(r *http.Request) { r.Method = http.MethodPost }, 405},
		"an upgrade with a page's Origin":  {upgrade("https://evil.example"), 403},
		"an upgrade with an opaque Origin": {upgrade("null"), 403},
	} {
		t.Run(name, func(t *testing.T) {
			if status, body := fetch(t, c, path, test.change); status != test.status {
				t.Errorf("status %d, want %d: %s", status, test.status, body)
			}
		})
	}
}

func upgrade(origin string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "websocket")
		r.Header.Set("Sec-WebSocket-Version", "13")
		r.Header.Set("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")
		r.Header.Set("Origin", origin)
	}
}

// grantTwice gives two capabilities of one server that logs all it can.
func grantTwice(t *testing.T, log io.Writer) (server *endpoint.Server, first, second *endpoint.Capability) {
	t.Helper()
	server, err := endpoint.New(t.Context(), endpoint.Options{
		Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []**endpoint.Capability{&first, &second} {
		if *c, err = server.Grant(endpoint.GrantOptions{Edge: newEdge("t1"), Judge: permissive{}}); err != nil {
			t.Fatal(err)
		}
	}
	return server, first, second
}

func TestOnlyACapabilityOpensAnything(t *testing.T) {
	var log bytes.Buffer
	server, c, other := grantTwice(t, &log)
	secret, revoked := secretOf(c), secretOf(other)
	if len(secret) != 43 || secret == revoked {
		t.Errorf("secrets are %q and %q", secret, revoked)
	}
	other.Revoke()
	other.Revoke()
	_, unknown := fetch(t, c, "/"+strings.Repeat("A", 43)+"/json/version", nil)
	for name, test := range map[string]struct {
		path   string
		status int
	}{
		"version":                        {"/" + secret + "/json/version", 200},
		"version with a slash":           {"/" + secret + "/json/version/", 200},
		"the list":                       {"/" + secret + "/json", 200},
		"the list with a slash":          {"/" + secret + "/json/", 200},
		"the list by its name":           {"/" + secret + "/json/list", 200},
		"the list, name and slash":       {"/" + secret + "/json/list/", 200},
		"the protocol":                   {"/" + secret + "/json/protocol", 200},
		"a way to make tabs":             {"/" + secret + "/json/new", 404},
		"nothing":                        {"/", 404},
		"the capability alone":           {"/" + secret, 404},
		"version without a capability":   {"/json/version", 404},
		"the list without one":           {"/json/list", 404},
		"an unknown capability":          {"/" + strings.Repeat("A", 43) + "/json/version", 404},
		"a revoked one":                  {"/" + revoked + "/json/version", 404},
		"a part of one":                  {"/" + secret[:42] + "/json/version", 404},
		"one in capitals":                {"/" + strings.ToUpper(secret) + "/json/version", 404},
		"a socket for a revoked one":     {"/devtools/browser/" + revoked, 404},
		"a page's socket without a page": {"/devtools/page/" + secret, 404},
		"a socket of another kind":       {"/devtools/worker/" + secret, 404},
		"a page below a browser":         {"/devtools/browser/" + secret + "/TARGETt1", 404},
		"a socket without an upgrade":    {"/devtools/browser/" + secret, 426},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := fetch(t, c, test.path, nil)
			if status != test.status {
				t.Errorf("status %d, want %d: %s", status, test.status, body)
			}
			if status == 404 && body != unknown {
				t.Errorf("says %q, where an unknown one says %q", body, unknown)
			}
		})
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if strings.Contains(log.String(), secret) || strings.Contains(log.String(), revoked) {
		t.Errorf("a secret is in the log:\n%s", log.String())
	}
	if _, err := server.Grant(endpoint.GrantOptions{Edge: newEdge(), Judge: permissive{}}); err == nil {
		t.Error("a closed server grants")
	}
}

func TestAnEndedAddressSaysSoAndWhereToGetAnother(t *testing.T) {
	server, c, other := grantTwice(t, io.Discard)
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	other.Revoke()
	for _, path := range []string{"/" + secretOf(other) + "/json/version", "/devtools/browser/" + secretOf(other)} {
		_, said := fetch(t, c, path, nil)
		if !strings.Contains(said, "does not exist or has ended") || !strings.Contains(said, "chaperone cdp SESSION") {
			t.Errorf("%s is answered %q", strings.Split(path, "/")[1], said)
		}
	}
}

func TestWhatIsListedLeadsToSockets(t *testing.T) {
	c := grant(t, newEdge("t1", "t2"))
	_, body := fetch(t, c, "/"+secretOf(c)+"/json/version", nil)
	var version map[string]string
	if err := json.Unmarshal([]byte(body), &version); err != nil || version["webSocketDebuggerUrl"] != c.WS() || version["Protocol-Version"] != "1.3" {
		t.Errorf("version says %s (%v)", body, err)
	}
	_, body = fetch(t, c, "/"+secretOf(c)+"/json/list", nil)
	var list []map[string]string
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list) != 2 || list[1]["id"] != "TARGETt2" || list[1]["type"] != "page" {
		t.Fatalf("list says %s (%v)", body, err)
	}
	page := connect(t, list[1]["webSocketDebuggerUrl"])
	if got := page.call("", "Runtime.evaluate", `{"expression":"1"}`); got != "{}" {
		t.Errorf("the page answers %s", got)
	}
}

func TestAnAddressThatOthersReachIsRefused(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		if s, err := endpoint.New(t.Context(), endpoint.Options{Addr: addr}); !errors.Is(err, endpoint.ErrNotLoopback) {
			t.Errorf("%s: %v", addr, err)
			if s != nil {
				_ = s.Close()
			}
		}
	}
}

func TestSocketsThatSayNothingTakeNobodysPlace(t *testing.T) {
	capability := grant(t, newEdge("t1"))
	before := connect(t, capability.WS())
	address, _, _ := strings.Cut(strings.TrimPrefix(capability.HTTP(), "http://"), "/")
	var dialer net.Dialer
	silent := make([]net.Conn, 0, 300)
	for range 300 {
		conn, err := dialer.DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		silent = append(silent, conn)
	}
	connect(t, capability.WS()).call("", "Browser.getVersion", "{}")
	before.call("", "Browser.getVersion", "{}")
	if err := silent[0].SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := silent[0].Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the oldest: %v", err)
	}
	if err := silent[299].SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := silent[299].Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the newest: %v", err)
	}
}
