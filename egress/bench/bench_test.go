package bench_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// rounds are measured one after the other, each with everybody in turn; the medians are told.
const rounds = 5

// table is what a benchmark prints.
type table struct{ lines []string }

func (t *table) row(cells ...any) {
	t.lines = append(t.lines, strings.TrimRight(fmt.Sprintf("%-22v %16v %16v %12v %s", cells...), " "))
}

func (t *table) print() { fmt.Println("\n" + strings.Join(t.lines, "\n")) }

func verdict(isGood bool) string {
	if isGood {
		return "met"
	}
	return "MISSED"
}

func median[T int64 | float64](all []T) T {
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

func origin(b *testing.B, talk func(net.Conn)) string {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { defer conn.Close(); talk(conn) }()
		}
	}()
	return ln.Addr().String()
}

// asker asks for the same page again and again on one connection.
type asker struct {
	conn    net.Conn
	in      *bufio.Reader
	request []byte
}

func newAsker(b *testing.B, addr, target, host string) *asker {
	b.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	return &asker{conn, bufio.NewReader(conn), []byte("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")}
}

func (a *asker) ask(b *testing.B) float64 {
	b.Helper()
	began := time.Now()
	if _, err := a.conn.Write(a.request); err != nil {
		b.Fatal(err)
	}
	resp, err := http.ReadResponse(a.in, nil)
	if err != nil {
		b.Fatal(err)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || n != 1024 || resp.StatusCode != http.StatusOK {
		b.Fatalf("%d bytes with status %d: %v", n, resp.StatusCode, err)
	}
	return float64(time.Since(began).Nanoseconds()) / 1000
}

// BenchmarkLatency: what a proxy adds to a 1 KB answer on connections that are open.
func BenchmarkLatency(b *testing.B) {
	const target, warm, each = 150.0, 200, 2000
	s := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1024)) })}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = s.Serve(ln) }()
	b.Cleanup(func() { _ = s.Close() })
	at := ln.Addr().String()
	askers := map[string]*asker{"direct": newAsker(b, at, "/", at)}
	for _, role := range []string{"egress", "smokescreen"} {
		askers[role] = newAsker(b, start(b, role, at).addr, "http://"+at+"/", at)
	}
	for _, a := range askers {
		for range warm {
			a.ask(b)
		}
	}
	added := map[string][]float64{}
	took := map[string][]float64{}
	for b.Loop() {
		for range rounds {
			of := map[string][]float64{}
			for range each { // in turn, so that noise meets all alike
				for role, a := range askers {
					of[role] = append(of[role], a.ask(b))
				}
			}
			for role, all := range of {
				took[role] = append(took[role], median(all))
				added[role] = append(added[role], median(all)-median(of["direct"]))
			}
		}
	}
	t := &table{}
	t.row("1 KB answer", "median us", "added us", "target", "")
	for _, role := range []string{"direct", "egress", "smokescreen"} {
		limit, met := "", ""
		if role == "egress" {
			limit, met = fmt.Sprintf("<= %.0f", target), verdict(median(added[role]) <= target)
		}
		t.row(role, fmt.Sprintf("%.1f", median(took[role])), fmt.Sprintf("%.1f", median(added[role])), limit, met)
	}
	t.print()
	b.ReportMetric(median(added["egress"]), "added-us")
}

const gigabyte = 1 << 30

// tunnel opens one; the relay that is nothing but io.Copy needs no asking.
func tunnel(b *testing.B, c child, to string) net.Conn {
	b.Helper()
	conn, err := net.Dial("tcp", c.addr)
	if err != nil {
		b.Fatal(err)
	}
	if c.role == "io.Copy" {
		return conn
	}
	_, _ = fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", to, to)
	said := make([]byte, 0, 256)
	for one := make([]byte, 1); !strings.HasSuffix(string(said), "\r\n\r\n"); said = append(said, one[0]) {
		if _, err := io.ReadFull(conn, one); err != nil {
			b.Fatalf("%s: %v after %q", c.role, err, said)
		}
	}
	if !strings.Contains(string(said[:16]), " 200") {
		b.Fatalf("%s: %q", c.role, said)
	}
	return conn
}

// BenchmarkThroughput: one gigabyte through one tunnel.
func BenchmarkThroughput(b *testing.B) {
	const target = 0.8
	at := origin(b, func(conn net.Conn) {
		page := make([]byte, 256<<10)
		if _, err := io.ReadFull(conn, page[:1]); err != nil {
			return
		}
		for range gigabyte / len(page) {
			if _, err := conn.Write(page); err != nil {
				return
			}
		}
	})
	roles := []string{"io.Copy", "egress", "smokescreen"}
	children := map[string]child{}
	for _, role := range roles {
		children[role] = start(b, role, at)
	}
	rates := map[string][]float64{}
	buffer := make([]byte, 256<<10)
	for b.Loop() {
		for range rounds {
			for _, role := range roles {
				rates[role] = append(rates[role], drain(b, tunnel(b, children[role], at), buffer))
			}
		}
	}
	t := &table{}
	t.row("1 GB in a tunnel", "median MB/s", "of io.Copy", "target", "")
	bare := median(rates["io.Copy"])
	for _, role := range roles {
		limit, met := "", ""
		if role == "egress" {
			limit = fmt.Sprintf(">= %.1f", target)
			met = verdict(median(rates[role]) >= target*bare && median(rates[role]) >= median(rates["smokescreen"]))
		}
		t.row(role, fmt.Sprintf("%.0f", median(rates[role])), fmt.Sprintf("%.2f", median(rates[role])/bare), limit, met)
	}
	t.print()
	b.ReportMetric(median(rates["egress"])/bare, "of-io.Copy")
	b.ReportMetric(median(rates["egress"])/median(rates["smokescreen"]), "of-smokescreen")
}

func drain(b *testing.B, conn net.Conn, buffer []byte) float64 {
	b.Helper()
	defer func() { _ = conn.Close() }()
	began := time.Now()
	if _, err := conn.Write([]byte("x")); err != nil {
		b.Fatal(err)
	}
	for left := gigabyte; left > 0; {
		n, err := conn.Read(buffer)
		if err != nil {
			b.Fatalf("%d bytes are missing: %v", left, err)
		}
		left -= n
	}
	return gigabyte / 1e6 / time.Since(began).Seconds()
}

// BenchmarkIdleTunnels: what the process holds for each of 5,000 tunnels that have carried something and are silent.
func BenchmarkIdleTunnels(b *testing.B) {
	const target, count = 40.0, 5000
	at := origin(b, func(conn net.Conn) { _, _ = io.CopyBuffer(struct{ io.Writer }{conn}, conn, make([]byte, 1024)) })
	t := &table{}
	t.row("5,000 idle tunnels", "KB each", "files each", "target", "")
	for b.Loop() {
		for _, role := range []string{"egress", "smokescreen"} {
			each, files := idle(b, start(b, role, at), at, count)
			limit, met := "", ""
			if role == "egress" {
				limit, met = fmt.Sprintf("<= %.0f", target), verdict(each <= target)
				b.ReportMetric(each, "KB/tunnel")
			}
			t.row(role, fmt.Sprintf("%.1f", each), fmt.Sprintf("%.1f", files), limit, met)
		}
	}
	t.print()
}

func idle(b *testing.B, c child, at string, count int) (kilobytes, files float64) {
	b.Helper()
	var open []net.Conn
	defer func() {
		for _, conn := range open {
			_ = conn.Close()
		}
	}()
	carry := func() {
		conn := tunnel(b, c, at)
		open = append(open, conn)
		if _, err := io.ReadFull(io.TeeReader(conn, io.Discard), echo(conn)); err != nil {
			b.Fatal(err)
		}
	}
	carry() // what comes with the first is no tunnel's
	before, held := memory(b, c.pid), descriptors(b, c.pid)
	for range count {
		carry()
	}
	settle(b, c.pid)
	return float64(memory(b, c.pid)-before) / float64(count), float64(descriptors(b, c.pid)-held) / float64(count)
}

// echo sends some bytes, and returns room for their return.
func echo(conn net.Conn) []byte {
	page := make([]byte, 1024)
	_, _ = conn.Write(page)
	return page
}

// settle waits until the process opens and closes no files any more.
func settle(b *testing.B, pid int) {
	b.Helper()
	var once sync.Once
	for last, same := -1, 0; same < 10; time.Sleep(100 * time.Millisecond) {
		once.Do(func() { time.Sleep(time.Second) })
		if now := descriptors(b, pid); now == last {
			same++
		} else {
			last, same = now, 0
		}
	}
}

func memory(b *testing.B, pid int) int {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(raw), "VmRSS:")
	var kilobytes int
	if _, err := fmt.Sscan(after, &kilobytes); err != nil {
		b.Fatal(err)
	}
	return kilobytes
}

func descriptors(b *testing.B, pid int) int {
	b.Helper()
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		b.Fatal(err)
	}
	return len(all)
}
