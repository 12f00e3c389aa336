package endpoint_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"chaperone/relay/endpoint"
)

// drained gives the server's side of a socket whose client reads all and keeps nothing.
func drained(tb testing.TB) *websocket.Conn {
	tb.Helper()
	conns, over := make(chan *websocket.Conn), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
		if err != nil {
			return
		}
		conns <- conn
		<-over
		_ = conn.CloseNow()
	}))
	conn, answer, err := websocket.Dial(tb.Context(), server.URL, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if answer.Body != nil {
		_ = answer.Body.Close()
	}
	conn.SetReadLimit(-1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		buffer := make([]byte, 64<<10)
		for {
			_, r, err := conn.Reader(context.WithoutCancel(tb.Context()))
			if err != nil {
				return
			}
			if _, err := io.CopyBuffer(writerOnly{}, r, buffer); err != nil {
				return
			}
		}
	}()
	tb.Cleanup(func() { _ = conn.CloseNow(); <-read; close(over); server.Close() })
	return <-conns
}

// writerOnly keeps nothing, and has no ReadFrom that would bring a buffer of its own.
type writerOnly struct{}

func (writerOnly) Write(p []byte) (int, error) { return len(p), nil }

func resultOf(size int) []byte { return []byte(`{"value":"` + strings.Repeat("x", size) + `"}`) }

func TestAReplyCostsTheSameMemoryWhateverItsSize(t *testing.T) {
	conn, id := drained(t), []byte("12345")
	cost := func(size int) (allocations float64, bytes uint64) {
		result, scratch := resultOf(size), make([]byte, 0, 32<<10)
		send := func() {
			if err := endpoint.WriteReply(t.Context(), conn, id, result, &scratch); err != nil {
				t.Fatal(err)
			}
		}
		const runs = 20
		send()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		allocations = testing.AllocsPerRun(runs, send)
		runtime.ReadMemStats(&after)
		return allocations, (after.TotalAlloc - before.TotalAlloc) / runs
	}
	few, small := cost(20 << 10)
	for _, size := range []int{1 << 20, 5 << 20} {
		many, large := cost(size)
		t.Logf("%d bytes: %.0f allocations, %d bytes", size, many, large)
		if many > few+4 || large > small+8<<10 {
			t.Errorf("%d bytes cost %.0f allocations of %d bytes in all, 20 KiB %.0f of %d", size, many, large, few, small)
		}
	}
}

func BenchmarkReply(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20, 5 << 20} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			conn, id, result := drained(b), []byte("1"), resultOf(size)
			scratch := make([]byte, 0, 32<<10)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if err := endpoint.WriteReply(b.Context(), conn, id, result, &scratch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
