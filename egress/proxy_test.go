package egress_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chaperone/egress"
)

func TestATestOriginIsReachedOverRealSocketsAndNothingBesideIt(t *testing.T) {
	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the other server was asked") })
	site := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(rw, r, other.URL+"/secret", http.StatusFound)
			return
		}
		say(rw, "here")
	})
	p := start(t, egress.Options{TestOrigins: []string{site.URL}}, egress.ReadMethods, nil)
	client := p.client(t)

	got := get(t, client, site.URL+"/")
	if got.body != "here" || p.last(t).Reason != string(egress.TestOrigin) || p.last(t).Address != "127.0.0.1" {
		t.Errorf("%d %q, decided %+v", got.status, got.body, p.last(t))
	}
	got = get(t, client, site.URL+"/away")
	if got.status != http.StatusFound {
		t.Fatalf("status %d, want a redirect passed on", got.status)
	}
	got = get(t, client, got.header.Get("Location"))
	wantRefused(t, got, egress.Loopback)

	port := site.URL[strings.LastIndexByte(site.URL, ':'):]
	for place, reason := range map[string]egress.Reason{
		"http://localhost" + port: egress.LocalName,
		"http://[::1]" + port:     egress.Loopback,
		"http://127.0.0.2" + port: egress.Loopback,
		"http://127.0.0.1":        egress.Loopback,
	} {
		got := get(t, client, place+"/")
		wantRefused(t, got, reason)
	}
}

func get(t *testing.T, client *http.Client, place string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, place, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return readReply(t, resp)
}

func TestLocalhostAsATestOriginIsDialedOnIPv4Loopback(t *testing.T) {
	site := serve(t, func(rw http.ResponseWriter, r *http.Request) { say(rw, r.Host) })
	origin := strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
	p := start(t, egress.Options{TestOrigins: []string{origin}}, egress.ReadMethods, nil)
	if got := get(t, p.client(t), origin+"/"); got.body != strings.TrimPrefix(origin, "http://") {
		t.Errorf("body %q", got.body)
	}
	got := get(t, p.client(t), site.URL+"/")
	wantRefused(t, got, egress.Loopback)
}

// answerInShape answers as the path says.
func answerInShape(rw http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/chunks":
		for range 3 {
			say(rw, "part ")
			_ = http.NewResponseController(rw).Flush()
		}
	case "/none":
		rw.WriteHeader(http.StatusNoContent)
	case "/same":
		rw.WriteHeader(http.StatusNotModified)
	default:
		say(rw, "sized")
	}
}

func TestAnswersKeepTheirFraming(t *testing.T) {
	site := serve(t, answerInShape)
	p := start(t, egress.Options{TestOrigins: []string{site.URL}}, egress.ReadMethods, nil)
	conn := p.wire(t)
	for _, c := range []struct {
		method, path, body string
		length             int64
	}{
		{"GET", "/chunks", "part part part ", -1},
		{"HEAD", "/sized", "", 5},
		{"GET", "/none", "", 0},
		{"GET", "/same", "", 0},
		{"GET", "/sized", "sized", 5},
	} {
		conn.send(t, c.method+" "+site.URL+c.path+" HTTP/1.1\r\nHost: x\r\n\r\n")
		got := conn.answer(t, c.method)
		if got.body != c.body || got.length != c.length || got.isClosed {
			t.Errorf("%s %s: %q, length %d, close %v", c.method, c.path, got.body, got.length, got.isClosed)
		}
	}
	conn.send(t, "GET "+site.URL+"/chunks HTTP/1.0\r\n\r\n")
	got := conn.answer(t, http.MethodGet)
	if got.body != "part part part " || len(got.encoding) > 0 || !got.isClosed {
		t.Errorf("HTTP/1.0: %q, %v, close %v", got.body, got.encoding, got.isClosed)
	}
}

func TestAClientThatLeavesEndsItsExchange(t *testing.T) {
	asked, left := make(chan struct{}), make(chan struct{})
	site := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
		close(left)
	})
	p := start(t, egress.Options{TestOrigins: []string{site.URL}}, egress.ReadMethods, nil)
	conn := p.wire(t)
	conn.send(t, "GET "+site.URL+"/ HTTP/1.1\r\nHost: x\r\n\r\n")
	within(t, asked, "the origin is asked")
	_ = conn.Close()
	within(t, left, "the origin is let go")
}

func within(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s: not within %s", what, patience)
	}
}

func TestTheNextConnectionAfterTheLastPlaceIsTurnedAway(t *testing.T) {
	site := serve(t, func(rw http.ResponseWriter, _ *http.Request) { say(rw, "ok") })
	o := egress.Options{TestOrigins: []string{site.URL}, Limits: egress.Limits{Connections: 1}}
	p := start(t, o, egress.ReadMethods, nil)
	first := p.wire(t)
	first.send(t, "GET "+site.URL+"/ HTTP/1.1\r\nHost: x\r\n\r\n")
	first.answer(t, http.MethodGet)
	second := p.wire(t)
	got := second.answer(t, http.MethodGet)
	if got.status != http.StatusServiceUnavailable {
		t.Errorf("status %d", got.status)
	}
	wantRefused(t, got, egress.Busy)
	first.send(t, "GET "+site.URL+"/ HTTP/1.1\r\nHost: x\r\n\r\n")
	if got := first.answer(t, http.MethodGet); got.body != "ok" {
		t.Errorf("the first connection lost its place: %q", got.body)
	}
}

func TestAConnectionHasALifeHoweverBusyItIs(t *testing.T) {
	site := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := rw.Write(make([]byte, 1024)); err != nil {
				return
			}
		}
	})
	o := egress.Options{TestOrigins: []string{site.URL}, Limits: egress.Limits{Life: 100 * time.Millisecond}}
	p := start(t, o, egress.ReadMethods, nil)
	conn := p.wire(t)
	conn.send(t, "GET "+site.URL+"/ HTTP/1.1\r\nHost: x\r\n\r\n")
	if _, err := io.Copy(io.Discard, conn.in); errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
		t.Errorf("an endless body goes on: %v", err)
	}
}

func isTimeout(err error) bool {
	var netErr net.Error
	return errors.As(err, &netErr) && netErr.Timeout()
}

func TestAListenerGivesItsRequestsTheirIdentityAndTakesThemWithIt(t *testing.T) {
	asked, left := make(chan struct{}), make(chan struct{})
	site := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
		close(left)
	})
	p := start(t, egress.Options{TestOrigins: []string{site.URL}}, egress.ReadMethods, nil)
	path := filepath.Join(t.TempDir(), "s")
	ln, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := p.Serve(ln, egress.Identity{Session: "s_unix", Methods: egress.AllMethods}); err != nil {
			t.Errorf("serve: %v", err)
		}
	}()
	conn, err := new(net.Dialer).DialContext(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	say(conn, fmt.Sprintf("DELETE %s/ HTTP/1.1\r\nHost: x\r\n\r\n", site.URL))
	within(t, asked, "the origin is asked")
	_ = ln.Close()
	within(t, served, "the listener's connections end")
	within(t, left, "the origin is let go")
	if d := p.last(t); d.Session != "s_unix" || d.Method != http.MethodDelete {
		t.Errorf("decided %+v", d)
	}
}

func TestAClosedProxyServesNoMore(t *testing.T) {
	p, err := egress.New(egress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ln := listen(t)
	if err := p.Serve(ln, egress.Identity{}); !errors.Is(err, egress.ErrClosed) {
		t.Errorf("serve: %v", err)
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("listener is left open: %v", err)
	}
}

func TestDecisionsTunnelsAndBytesAreCounted(t *testing.T) {
	site := serve(t, func(rw http.ResponseWriter, _ *http.Request) { say(rw, "12345") })
	registry := prometheus.NewRegistry()
	p := start(t, egress.Options{TestOrigins: []string{site.URL}, Registerer: registry}, egress.ReadMethods, nil)
	get(t, p.client(t), site.URL+"/")
	get(t, p.client(t), "http://127.0.0.1/")
	openTunnel(t, p, site)
	want := map[string]float64{
		"chaperone_egress_decisions_total test_origin allow":     2,
		"chaperone_egress_decisions_total loopback_address deny": 1,
		"chaperone_egress_open_tunnels":                          1,
		"chaperone_egress_bytes_total received":                  5,
	}
	got := gather(t, registry)
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %v, want %v (%v)", name, got[name], value, got)
		}
	}
	if _, err := egress.New(egress.Options{Registerer: registry}); err == nil {
		t.Error("two proxies share a registry")
	}
}

// gather names each series by its metric and its label values, in the order of the labels' names.
func gather(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := append(make([]string, 0, 3), family.GetName())
			for _, label := range m.GetLabel() {
				name = append(name, label.GetValue())
			}
			series[strings.Join(name, " ")] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return series
}

func openTunnel(tb testing.TB, p *running, site *httptest.Server) *wire {
	tb.Helper()
	conn := p.wire(tb)
	conn.send(tb, "CONNECT "+site.Listener.Addr().String()+" HTTP/1.1\r\nHost: x\r\n\r\n")
	line, err := conn.in.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 200 ") {
		tb.Fatalf("tunnel: %q, %v", line, err)
	}
	if _, err := conn.in.ReadString('\n'); err != nil {
		tb.Fatal(err)
	}
	return conn
}
