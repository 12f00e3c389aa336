package egress_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"chaperone/egress"
)

// hostile is an origin that reads a request's head and then says what it likes.
func hostile(t *testing.T, say func(net.Conn)) string {
	t.Helper()
	return peer(t, func(conn *net.TCPConn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			say(conn)
		}
	}).URL
}

// repeat writes text until the other end is gone.
func repeat(conn net.Conn, text string) {
	for {
		if _, err := io.WriteString(conn, text); err != nil {
			return
		}
	}
}

func untilGone(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

func TestAHostileOriginGivesABadAnswer(t *testing.T) {
	cases := map[string]struct {
		say    func(net.Conn)
		reason egress.Reason
	}{
		"a head of 10 MiB": {func(conn net.Conn) {
			say(conn, "HTTP/1.1 200 OK\r\n")
			repeat(conn, "X: "+strings.Repeat("a", 1024)+"\r\n")
		}, egress.BadAnswer},
		"interim answers for ever": {func(conn net.Conn) {
			repeat(conn, "HTTP/1.1 103 Early Hints\r\nLink: </"+strings.Repeat("a", 1024)+">\r\n\r\n")
		}, egress.BadAnswer},
		"an upgrade nobody asked for": {func(conn net.Conn) {
			say(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
		}, egress.BadAnswer},
		"another protocol": {func(conn net.Conn) { say(conn, "220 mail.test ESMTP\r\n") }, egress.BadAnswer},
		"no answer":        {func(net.Conn) {}, egress.BadAnswer},
		"half a head":      {func(conn net.Conn) { say(conn, "HTTP/1.1 200 OK\r\nX: ") }, egress.BadAnswer},
		"two lengths": {func(conn net.Conn) {
			say(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")
		}, egress.BadAnswer},
		"a head that waits": {func(conn net.Conn) { say(conn, "HTTP/1.1 200 OK\r\n"); untilGone(conn) }, egress.AnswerTimeout},
		"a head that dribbles": {func(conn net.Conn) {
			say(conn, "HTTP/1.1 200 OK\r\nX: ")
			ticker := time.NewTicker(5 * time.Millisecond)
			defer ticker.Stop()
			for range ticker.C {
				if _, err := conn.Write([]byte("a")); err != nil {
					return
				}
			}
		}, egress.AnswerTimeout},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			origin := hostile(t, c.say)
			o := egress.Options{TestOrigins: []string{origin}, Limits: egress.Limits{Answer: 700 * time.Millisecond}}
			p := start(t, o, egress.ReadMethods, nil)
			got := get(t, p.client(t), origin+"/")
			if got.status != http.StatusBadGateway && got.status != http.StatusGatewayTimeout {
				t.Errorf("status %d", got.status)
			}
			wantRefused(t, got, c.reason)
			if d := p.last(t); d.Verdict != egress.VerdictFail || d.Address != "127.0.0.1" {
				t.Errorf("decided %+v", d)
			}
		})
	}
}

func TestACutAnswerIsSeenToBeCut(t *testing.T) {
	cases := map[string]func(net.Conn){
		"fewer bytes than told": func(conn net.Conn) { say(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc") },
		"a bad chunk": func(conn net.Conn) {
			say(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n")
		},
		"no last chunk": func(conn net.Conn) {
			say(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
		},
		"a body that stops": func(conn net.Conn) {
			say(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
			untilGone(conn)
		},
	}
	for name, say := range cases {
		for _, version := range []string{"1.1", "1.0"} {
			t.Run(name+" for HTTP/"+version, func(t *testing.T) {
				origin := hostile(t, say)
				o := egress.Options{TestOrigins: []string{origin}, Limits: egress.Limits{Idle: 300 * time.Millisecond}}
				p := start(t, o, egress.ReadMethods, nil)
				conn := p.wire(t)
				conn.send(t, "GET "+origin+"/ HTTP/"+version+"\r\nHost: x\r\n\r\n")
				resp, err := http.ReadResponse(conn.in, nil)
				if err != nil {
					return // the reset may come before the head was read
				}
				defer func() { _ = resp.Body.Close() }()
				if body, err := io.ReadAll(resp.Body); err == nil {
					t.Errorf("%q passes for a whole body", body)
				} else if isTimeout(err) {
					t.Errorf("goes on: %v", err)
				}
			})
		}
	}
}

func TestAnAnswerBeforeTheUploadsEndReachesTheClient(t *testing.T) {
	origin := hostile(t, func(conn net.Conn) {
		say(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
	})
	p := start(t, egress.Options{TestOrigins: []string{origin}}, egress.AllMethods, nil)
	conn := p.wire(t)
	conn.send(t, "POST "+origin+"/ HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n")
	got := conn.answer(t, http.MethodPost)
	if got.status != http.StatusRequestEntityTooLarge || got.body != "big" {
		t.Errorf("%d %q", got.status, got.body)
	}
	if !conn.isClosed() {
		t.Error("the body's bytes could be read as a request")
	}
}

func TestBrokenUploadsEndTheConnection(t *testing.T) {
	site := serve(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	p := start(t, egress.Options{TestOrigins: []string{site.URL}}, egress.AllMethods, nil)
	for name, body := range map[string]string{
		"a bad chunk size":  "zz\r\n",
		"a bad trailer":     "0\r\nX: a\nGET / HTTP/1.1\r\n\r\n",
		"too many trailers": "0\r\n" + strings.Repeat("X: a\r\n", 40) + "\r\n",
	} {
		conn := p.wire(t)
		conn.send(t, "POST "+site.URL+"/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"+body)
		got := conn.answer(t, http.MethodPost)
		if got.status != http.StatusBadRequest {
			t.Errorf("%s: status %d", name, got.status)
		}
		wantRefused(t, got, egress.BadRequest)
		if !conn.isClosed() {
			t.Errorf("%s: connection stays open", name)
		}
	}
}
