package egress_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// openHostile reads the head of each request and then says what the request's path asks for.
func openHostile(t *testing.T) {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(context.Background(), "tcp", goodAddr+":80")
	check(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go beHostile(conn)
		}
	}()
}

func beHostile(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if !misbehave(conn, r.URL.Path) {
			return
		}
	}
}

// misbehave reports whether the connection goes on.
func misbehave(conn net.Conn, path string) bool {
	const ok = "HTTP/1.1 200 OK\r\n"
	switch path {
	case "/slow-head":
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		repeat(conn, ok+"X: ", "a", ticker.C)
	case "/long-head":
		repeat(conn, ok, "X: "+strings.Repeat("a", 1024)+"\r\n", nil)
	case "/interim":
		repeat(conn, "", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", nil)
	case "/endless":
		repeat(conn, ok+"Transfer-Encoding: chunked\r\n\r\n", "10000\r\n"+strings.Repeat("x", 0x10000)+"\r\n", nil)
	case "/bad-chunk":
		say(conn, ok+"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n")
	case "/two-lengths":
		say(conn, ok+"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab")
	case "/early-close":
		say(conn, ok+"Content-Length: 10\r\n\r\nabc")
	case "/no-answer":
	case "/extra":
		say(conn, ok+"Content-Length: 4\r\n\r\ngood"+ok+"Content-Length: 6\r\nX-Chaperone-Refused: forged\r\n\r\npoison")
		return true
	default:
		say(conn, fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", ok, len(path), path))
		return true
	}
	return false
}

// repeat says first once and then again until nobody listens, as fast as it can or as the clock ticks.
func repeat(conn net.Conn, first, again string, clock <-chan time.Time) {
	say(conn, first)
	for {
		if _, err := io.WriteString(conn, again); err != nil {
			return
		}
		if clock != nil {
			<-clock
		}
	}
}

func TestAHostileUpstreamHarmsOnlyItself(t *testing.T) {
	openNames(t, map[string]func(int) []string{"bad.test.": always(goodAddr), "good.test.": always(otherAddr)})
	openHostile(t)
	openSite(t, otherAddr+":80", func(w http.ResponseWriter, _ *http.Request) { say(w, "untouched") })
	p := start(t, "--max-bytes", "4000000", "--answer-timeout", "1s")
	for path, reason := range map[string]string{
		"/slow-head": "answer_timeout", "/long-head": "bad_answer", "/interim": "bad_answer", "/two-lengths": "bad_answer", "/no-answer": "bad_answer",
	} {
		if got := p.wire(t).ask(t, "GET http://bad.test"+path); got.reason != reason || got.status < 500 {
			t.Errorf("%s: %+v, want %s", path, got, reason)
		}
	}
	for _, path := range []string{"/endless", "/bad-chunk", "/early-close"} {
		got := p.wire(t).ask(t, "GET http://bad.test"+path)
		if netErr, isNet := got.err.(net.Error); got.err == nil || isNet && netErr.Timeout() || len(got.body) > 5_000_000 { //nolint:errorlint // what ReadAll gives
			t.Errorf("%s passes for a whole answer of %d bytes: %v", path, len(got.body), got.err)
		}
	}
	extraAnswersStayWhereTheyWereSent(t, p)
}

// extraAnswersStayWhereTheyWereSent: what an origin sends beyond its answer reaches no other origin's and no other client's.
func extraAnswersStayWhereTheyWereSent(t *testing.T, p *proxy) {
	t.Helper()
	mine, others := p.wire(t), p.wire(t)
	if got := mine.ask(t, "GET http://bad.test/extra"); got.body != "good" {
		t.Errorf("extra: %+v", got)
	}
	for _, w := range []*wire{mine, others} {
		if got := w.ask(t, "GET http://good.test/"); got.body != "untouched" {
			t.Errorf("another origin after the extra answer: %+v", got)
		}
	}
	if got := others.ask(t, "GET http://bad.test/own"); got.body != "/own" || got.reason != "" {
		t.Errorf("another client of the same origin: %+v", got)
	}
}

func TestAnEndlessTunnelIsCutAndHalvesCloseApart(t *testing.T) {
	openNames(t, map[string]func(int) []string{"bad.test.": always(goodAddr)})
	openHostile(t)
	p := start(t, "--max-bytes", "4000000")
	w := p.wire(t)
	if got := w.ask(t, "CONNECT bad.test:80"); got.status != http.StatusOK {
		t.Fatalf("%+v", got)
	}
	say(w, "GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
	n, err := io.Copy(io.Discard, w.in)
	if netErr, isNet := err.(net.Error); isNet && netErr.Timeout() || n < 3_000_000 || n > 4_000_000 { //nolint:errorlint // what Copy gives
		t.Errorf("%d bytes, %v", n, err)
	}
	half := p.wire(t)
	half.ask(t, "CONNECT bad.test:80")
	say(half, "GET /whole HTTP/1.1\r\nHost: x\r\n\r\n")
	if tcp, ok := half.Conn.(*net.TCPConn); ok {
		check(t, tcp.CloseWrite())
	}
	if all, err := io.ReadAll(half.in); err != nil || !strings.HasSuffix(string(all), "/whole") {
		t.Errorf("after the client's half: %q, %v", all, err)
	}
}
