package egress_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chaperone/egress"
)

// okSite answers every request.
func okSite(tb testing.TB) string {
	tb.Helper()
	return serve(tb, func(rw http.ResponseWriter, _ *http.Request) { say(rw, "ok") }).URL
}

// TestWhoeverAsksIsServedHoweverManyAskNothing: the limits of time are far longer than the test may take, so that no
// connection but the good one's own can be what is waited for.
func TestWhoeverAsksIsServedHoweverManyAskNothing(t *testing.T) {
	cases := map[string]string{
		"connections that say nothing": "",
		"half a head each":             "GET http://good.test/ HTTP/1.1\r\nHos",
	}
	for name, begun := range cases {
		t.Run(name, func(t *testing.T) {
			site := okSite(t)
			o := egress.Options{TestOrigins: []string{site}, Limits: egress.Limits{Connections: 16, Head: time.Hour}}
			p := start(t, o, egress.ReadMethods, nil)
			held := make([]*wire, 0, 100)
			for range 100 {
				conn := p.wire(t)
				conn.send(t, begun)
				held = append(held, conn)
			}
			if got := get(t, p.client(t), site+"/"); got.body != "ok" {
				t.Errorf("%d %q", got.status, got.body)
			}
			if d := p.last(t); d.Verdict != egress.VerdictAllow {
				t.Errorf("decided %+v", d)
			}
			if _, err := io.ReadAll(held[0].in); isTimeout(err) {
				t.Error("the connection that waited longest is still there")
			}
			newest := held[len(held)-1]
			newest.send(t, strings.TrimPrefix("GET "+site+"/ HTTP/1.1\r\nHost: x\r\n\r\n", begun))
			if begun == "" && newest.answer(t, http.MethodGet).body != "ok" {
				t.Error("the newest one lost its place too")
			}
		})
	}
}

func TestAPlaceIsKeptByARequestAndLostByLongSilence(t *testing.T) {
	site := okSite(t)
	hold := make(chan struct{})
	slow := serve(t, func(rw http.ResponseWriter, _ *http.Request) { <-hold; say(rw, "late") })
	o := egress.Options{TestOrigins: []string{site, slow.URL}, Limits: egress.Limits{Connections: 1, Head: 20 * time.Millisecond}}
	p := start(t, o, egress.ReadMethods, nil)
	first := p.wire(t)
	first.send(t, "GET "+slow.URL+"/ HTTP/1.1\r\nHost: x\r\n\r\n")
	ticker := time.NewTicker(o.Limits.Head)
	defer ticker.Stop()
	for range 5 { // it is at work for longer than silence is borne
		<-ticker.C
		second := p.wire(t)
		got := second.answer(t, http.MethodGet)
		wantRefused(t, got, egress.Busy)
	}
	close(hold)
	if got := first.answer(t, http.MethodGet); got.body != "late" {
		t.Errorf("the first connection lost its place at work: %q", got.body)
	}
	until(t, "the silent one's place", func() bool { return p.ask(t, "GET "+site+"/").body == "ok" })
	got := first.answer(t, http.MethodGet)
	wantRefused(t, got, egress.Busy)
}

func TestOneListenersTunnelsHaveALimitOfTheirOwn(t *testing.T) {
	site := peer(t, func(conn *net.TCPConn) { _, _ = io.Copy(conn, conn) })
	o := egress.Options{TestOrigins: []string{site.URL}, Limits: egress.Limits{Tunnels: 1}}
	p := start(t, o, egress.ReadMethods, nil)
	first := openTunnel(t, p, site)
	got := p.ask(t, "CONNECT "+strings.TrimPrefix(site.URL, "http://"))
	if got.status != http.StatusServiceUnavailable {
		t.Errorf("status %d", got.status)
	}
	wantRefused(t, got, egress.Busy)
	_ = first.Close()
	until(t, "a place for the next tunnel", func() bool {
		conn := p.wire(t)
		conn.send(t, "CONNECT "+strings.TrimPrefix(site.URL, "http://")+" HTTP/1.1\r\nHost: x\r\n\r\n")
		line, _ := conn.in.ReadString('\n')
		return strings.HasPrefix(line, "HTTP/1.1 200 ")
	})
}

// until looks again and again.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(patience); !holds(); <-ticker.C {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

func TestMoreBytesThanTheLimitCutWhateverCarriesThem(t *testing.T) {
	const limit = 3 << 20
	endless := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for r.Context().Err() == nil {
			if _, err := rw.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	registry := prometheus.NewRegistry()
	o := egress.Options{TestOrigins: []string{endless.URL}, Limits: egress.Limits{Bytes: limit}, Registerer: registry}
	p := start(t, o, egress.AllMethods, nil)
	for name, request := range map[string]string{
		"an answer": "GET " + endless.URL + "/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"a tunnel":  "CONNECT " + endless.Listener.Addr().String() + " HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		conn := p.wire(t)
		conn.send(t, request)
		if n, err := io.Copy(io.Discard, conn.in); isTimeout(err) || n > limit+(1<<20) {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		until(t, name+" to be told as cut", func() bool { return p.last(t).Verdict == egress.VerdictCut })
		if d := p.last(t); d.Reason != string(egress.TooManyBytes) || d.Session != "s_test" || d.Address != "127.0.0.1" {
			t.Errorf("%s: told %+v", name, d)
		}
	}
	if n := gather(t, registry)["chaperone_egress_cuts_total too_many_bytes"]; n != 2 {
		t.Errorf("%v cuts are counted", n)
	}
	conn := p.wire(t)
	go func() {
		say(conn, fmt.Sprintf("POST %s/ HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", endless.URL, 2*limit))
		say(conn, strings.Repeat("x", 2*limit))
	}()
	got := conn.answer(t, http.MethodPost)
	wantRefused(t, got, egress.TooManyBytes)
}

func TestALongHeadIsReadInFull(t *testing.T) {
	w := newWorld(serve(t, func(rw http.ResponseWriter, r *http.Request) { say(rw, fmt.Sprint(len(r.Header.Get("X")), r.URL.Path)) }))
	p := start(t, egress.Options{}, egress.ReadMethods, w)
	const around = "GET http://good.test/1 HTTP/1.1\r\n" + hostLine + "X: \r\n\r\n"
	for _, size := range []int{4095, 4096, 4097, 8192, 60 << 10} {
		conn := p.wire(t)
		n := size - len(around)
		conn.send(t, strings.Replace(around, "X: ", "X: "+strings.Repeat("a", n), 1)+"GET http://good.test/2 HTTP/1.1\r\n"+hostLine+"\r\n")
		for _, want := range []string{fmt.Sprint(n, "/1"), "0/2"} {
			if got := conn.answer(t, http.MethodGet); got.body != want {
				t.Errorf("%d bytes of head: %q, want %q", size, got.body, want)
			}
		}
	}
}

func TestATunnelThatIsCutForSilenceSaysSo(t *testing.T) {
	site := peer(t, untilGoneTCP)
	o := egress.Options{TestOrigins: []string{site.URL}, Limits: egress.Limits{Idle: 80 * time.Millisecond}}
	p := start(t, o, egress.ReadMethods, nil)
	conn := openTunnel(t, p, site)
	if !conn.isClosed() {
		t.Error("it stays open")
	}
	until(t, "the cut to be told", func() bool { return p.last(t).Verdict == egress.VerdictCut })
	if d := p.last(t); d.Reason != string(egress.TooQuiet) {
		t.Errorf("told %+v", d)
	}
}

func untilGoneTCP(conn *net.TCPConn) { untilGone(conn) }

// TestASlowReaderIsNotTakenForASilentOne: the origin sends faster than the client reads, so that one direction of the
// tunnel is never at rest.
func TestASlowReaderIsNotTakenForASilentOne(t *testing.T) {
	const idle, blocks = 400 * time.Millisecond, 12
	site := peer(t, func(conn *net.TCPConn) { repeat(conn, strings.Repeat("x", 64<<10)) })
	o := egress.Options{TestOrigins: []string{site.URL}, Limits: egress.Limits{Idle: idle}}
	p := start(t, o, egress.ReadMethods, nil)
	conn := openTunnel(t, p, site)
	ticker := time.NewTicker(idle / 4)
	defer ticker.Stop()
	for range blocks {
		<-ticker.C
		if n, err := io.CopyN(io.Discard, conn.in, 128<<10); err != nil {
			t.Fatalf("after %d bytes of a block: %v", n, err)
		}
	}
}
