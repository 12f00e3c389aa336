package egress_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"chaperone/egress"
)

// BenchmarkOneKilobyte compares one exchange on kept-open connections, direct and through the proxy.
func BenchmarkOneKilobyte(b *testing.B) {
	page := bytes.Repeat([]byte("x"), 1024)
	site := serve(b, func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(page) })
	p := start(b, egress.Options{TestOrigins: []string{site.URL}}, egress.ReadMethods, nil)
	direct := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	b.Cleanup(direct.CloseIdleConnections)
	for name, client := range map[string]*http.Client{"direct": direct, "proxied": p.client(b)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, site.URL, http.NoBody)
				if err != nil {
					b.Fatal(err)
				}
				resp, err := client.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		})
	}
}

const block = 4 << 20

// BenchmarkThroughput compares a stream through a tunnel with one through a relay that is nothing but io.Copy.
func BenchmarkThroughput(b *testing.B) {
	stream := func(conn *net.TCPConn) {
		_ = conn.SetDeadline(time.Time{})
		page := make([]byte, 64<<10)
		for {
			if _, err := conn.Write(page); err != nil {
				return
			}
		}
	}
	b.Run("tunnel", func(b *testing.B) {
		site := peer(b, stream)
		p := start(b, egress.Options{TestOrigins: []string{site.URL}}, egress.ReadMethods, nil)
		drain(b, openTunnel(b, p, site))
	})
	b.Run("io.Copy", func(b *testing.B) {
		site := peer(b, stream)
		bare := peer(b, func(conn *net.TCPConn) {
			_ = conn.SetDeadline(time.Time{})
			up, err := new(net.Dialer).DialContext(context.Background(), "tcp", site.Listener.Addr().String())
			if err != nil {
				b.Error(err)
				return
			}
			defer func() { _ = up.Close() }()
			_, _ = io.Copy(conn, up)
		})
		conn := (&running{addr: bare.Listener.Addr().String()}).wire(b)
		drain(b, conn)
	})
}

func drain(b *testing.B, conn *wire) {
	b.Helper()
	_ = conn.SetDeadline(time.Time{})
	buffer := make([]byte, 256<<10)
	b.SetBytes(block)
	for b.Loop() {
		for left := block; left > 0; {
			n, err := conn.Read(buffer[:min(left, len(buffer))])
			if err != nil {
				b.Fatal(err)
			}
			left -= n
		}
	}
	_ = conn.Close()
}
