package egress_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"chaperone/egress"
)

// peer is a TCP server that hands each connection to talk and closes it after.
func peer(tb testing.TB, talk func(*net.TCPConn)) *httptest.Server {
	tb.Helper()
	ln := listen(tb)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(patience))
			talk(tcp(conn))
			_ = conn.Close()
		}
	}()
	tb.Cleanup(func() { _ = ln.Close(); <-done })
	return &httptest.Server{Listener: ln, URL: "http://" + ln.Addr().String()}
}

func TestATunnelCarriesBothWaysAndHalfCloses(t *testing.T) {
	site := peer(t, func(conn *net.TCPConn) {
		all, _ := io.ReadAll(conn) // ends with the client's half only
		say(conn, fmt.Sprintf("you said %s", all))
	})
	p := start(t, egress.Options{TestOrigins: []string{site.URL}}, egress.ReadMethods, nil)
	conn := openTunnel(t, p, site)
	conn.send(t, "hello")
	if err := tcp(conn.Conn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if all, err := io.ReadAll(conn.in); err != nil || string(all) != "you said hello" {
		t.Errorf("%q, %v", all, err)
	}
}

func TestTheOriginsHalfCanEndFirst(t *testing.T) {
	got := make(chan string, 1)
	site := peer(t, func(conn *net.TCPConn) {
		say(conn, "bye")
		_ = conn.CloseWrite()
		all, _ := io.ReadAll(conn)
		got <- string(all)
	})
	p := start(t, egress.Options{TestOrigins: []string{site.URL}}, egress.ReadMethods, nil)
	conn := openTunnel(t, p, site)
	if all, err := io.ReadAll(conn.in); err != nil || string(all) != "bye" {
		t.Fatalf("%q, %v", all, err)
	}
	conn.send(t, "still here")
	_ = conn.Close()
	if seen := <-got; seen != "still here" {
		t.Errorf("origin got %q", seen)
	}
}

func TestWhatAClientSendsAheadIsPassedOn(t *testing.T) {
	site := peer(t, func(conn *net.TCPConn) { _, _ = io.Copy(conn, io.LimitReader(conn, 5)) })
	p := start(t, egress.Options{TestOrigins: []string{site.URL}}, egress.ReadMethods, nil)
	conn := p.wire(t)
	conn.send(t, "CONNECT "+site.Listener.Addr().String()+" HTTP/1.1\r\nHost: x\r\n\r\nahead")
	all, err := io.ReadAll(conn.in)
	if err != nil || !strings.HasSuffix(string(all), "\r\n\r\nahead") {
		t.Errorf("%q, %v", all, err)
	}
}

func TestAnIdleTunnelIsClosed(t *testing.T) {
	closed := make(chan struct{})
	site := peer(t, func(conn *net.TCPConn) {
		_, _ = io.ReadAll(conn)
		close(closed)
	})
	o := egress.Options{TestOrigins: []string{site.URL}, Limits: egress.Limits{Idle: 80 * time.Millisecond}}
	p := start(t, o, egress.ReadMethods, nil)
	conn := openTunnel(t, p, site)
	if !conn.isClosed() {
		t.Error("client's end stays open")
	}
	within(t, closed, "the origin's end closes")
}

func TestATunnelThatIsUsedOneWayIsNotIdle(t *testing.T) {
	const idle, beats = 400 * time.Millisecond, 8
	site := peer(t, func(conn *net.TCPConn) {
		ticker := time.NewTicker(idle / 4)
		defer ticker.Stop()
		for range beats {
			<-ticker.C
			say(conn, "x")
		}
	})
	o := egress.Options{TestOrigins: []string{site.URL}, Limits: egress.Limits{Idle: idle}}
	p := start(t, o, egress.ReadMethods, nil)
	conn := openTunnel(t, p, site)
	if all, err := io.ReadAll(conn.in); err != nil || len(all) != beats {
		t.Errorf("%d of %d bytes, %v", len(all), beats, err)
	}
}

func TestClosingTheProxyEndsItsTunnels(t *testing.T) {
	closed := make(chan struct{})
	site := peer(t, func(conn *net.TCPConn) {
		_, _ = io.ReadAll(conn)
		close(closed)
	})
	p := start(t, egress.Options{TestOrigins: []string{site.URL}}, egress.ReadMethods, nil)
	conn := openTunnel(t, p, site)
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !conn.isClosed() {
		t.Error("client's end stays open")
	}
	within(t, closed, "the origin's end closes")
}

func TestATunnelGoesToPort80And443(t *testing.T) {
	site := peer(t, func(conn *net.TCPConn) { say(conn, "there") })
	w := newWorld(site)
	p := start(t, egress.Options{}, egress.ReadMethods, w)
	for _, port := range []string{"80", "443"} {
		conn := p.wire(t)
		conn.send(t, "CONNECT good.test:"+port+" HTTP/1.1\r\n"+hostLine+"\r\n")
		all, err := io.ReadAll(conn.in)
		if err != nil || !strings.HasSuffix(string(all), "\r\n\r\nthere") {
			t.Errorf("%s: %q, %v", port, all, err)
		}
		if d := p.last(t); d.Method != http.MethodConnect || d.Verdict != egress.VerdictAllow || d.Address != goodAddr().String() {
			t.Errorf("decided %+v", d)
		}
	}
}
