package chrome_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"chaperone/relay/program"
	"chaperone/server/chrome"
)

// patience bounds every wait; a busy machine needs some of it.
const patience = 8 * time.Second

// testChrome names the browser to test with; empty means the one that Find finds.
const testChrome = "CHAPERONE_TEST_CHROME"

// script is a page script that finds the middle of a big button wherever it is asked to look.
const script = `globalThis.chaperone = async (name) => JSON.stringify({value:
	name === '@locate' ? {x: 50, y: 50, node: 1, doc: 'd', role: 'button', name: 'go'} :
	name === '@quiet' ? {quiet: true} : name === '@has_text' ? false : {url: location.href, title: document.title}})`

// exits is a tiny forward proxy on Unix sockets. It lets through the test's own origins and remembers
// what else was asked for.
type exits struct {
	mu      sync.Mutex
	origins []string
	refused []string
	open    int
	broken  bool
}

func (e *exits) OpenWay(ctx context.Context, way chrome.Way) (func() error, error) {
	if e.broken {
		return nil, errors.New("broken")
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "unix", way.Socket)
	if err != nil {
		return nil, err
	}
	var tunnels sync.WaitGroup
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	transport := &http.Transport{}
	forward := &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, Transport: transport, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !e.permits(r.Host):
			http.Error(w, "refused", http.StatusForbidden)
		case r.Method == http.MethodConnect:
			tunnels.Add(1)
			defer tunnels.Done()
			tunnel(life, w, r.Host)
		default:
			forward.ServeHTTP(w, r)
		}
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()
	e.count(1)
	return func() error {
		e.count(-1)
		err := server.Close()
		end()
		<-served
		tunnels.Wait()
		transport.CloseIdleConnections()
		return err
	}, nil
}

func (e *exits) count(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open += n
}

func (e *exits) permits(host string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if slices.Contains(e.origins, host) {
		return true
	}
	e.refused = append(e.refused, host)
	return false
}

func (e *exits) asked(host string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Contains(e.refused, host)
}

func tunnel(life context.Context, w http.ResponseWriter, host string) {
	var d net.Dialer
	out, err := d.DialContext(life, "tcp", host)
	if err != nil {
		http.Error(w, "no answer", http.StatusBadGateway)
		return
	}
	defer func() { _ = out.Close() }()
	in, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = in.Close() }()
	defer context.AfterFunc(life, func() { _ = in.Close(); _ = out.Close() })()
	_, _ = io.WriteString(in, "HTTP/1.1 200 OK\r\n\r\n")
	var back sync.WaitGroup
	back.Go(func() { _, _ = io.Copy(in, out); _ = in.Close() })
	_, _ = io.Copy(out, in)
	_ = out.Close()
	back.Wait()
}

// site is an origin that counts what reaches it.
type site struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string // "METHOD /path?query"
	news chan struct{}
}

// newSite serves pages by path; other paths answer an empty page. /again answers 307 to /post.
func newSite(t *testing.T, pages map[string]string) *site {
	t.Helper()
	s := &site{news: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.note(r.Method + " " + r.URL.RequestURI())
		if r.URL.Path == "/again" {
			http.Redirect(w, r, "/post?"+r.URL.RawQuery, http.StatusTemporaryRedirect)
			return
		}
		if strings.HasSuffix(r.URL.Path, ".js") {
			w.Header().Set("Content-Type", "text/javascript")
		} else {
			w.Header().Set("Content-Type", "text/html")
		}
		_, _ = io.WriteString(w, pages[r.URL.Path])
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, line)
	close(s.news)
	s.news = make(chan struct{})
}

func (s *site) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

func (s *site) host() string {
	u, _ := url.Parse(s.URL)
	return u.Host
}

func (s *site) saw(line string) (bool, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.seen, line), s.news
}

// waitFor waits until a request line has been seen; false when it never is.
func (s *site) waitFor(line string) bool {
	deadline := time.After(patience)
	for {
		ok, news := s.saw(line)
		if ok {
			return true
		}
		select {
		case <-news:
		case <-deadline:
			return false
		}
	}
}

// world is a pool with its exits, whose end leaves nothing.
type world struct {
	*chrome.Pool
	exits  *exits
	runDir string
	root   string // of profiles
	warm   time.Duration
	log    *bytes.Buffer
}

// newWorld keeps nothing warm: what a test finds is its own sessions'.
func newWorld(t *testing.T, sites ...*site) *world {
	t.Helper()
	return newWorldKeeping(t, -1, sites...)
}

// newWorldKeeping keeps Chromes warm for a while.
func newWorldKeeping(tb testing.TB, warm time.Duration, sites ...*site) *world {
	tb.Helper()
	w := &world{exits: &exits{}, runDir: shortDir(tb), log: &bytes.Buffer{}, warm: warm}
	for _, s := range sites {
		w.exits.origins = append(w.exits.origins, s.host())
	}
	pool, err := chrome.NewPool(tb.Context(), w.options())
	if err != nil {
		tb.Fatal(err)
	}
	w.Pool = pool
	tb.Cleanup(func() {
		if err := pool.Close(context.Background()); err != nil {
			tb.Error(err)
		}
		mustLeaveNothing(tb, w.runDir)
		if w.exits.open != 0 {
			tb.Errorf("%d ways out are still open", w.exits.open)
		}
		if tb.Failed() {
			tb.Log(w.log.String())
		}
	})
	return w
}

func (w *world) options() chrome.Options {
	return chrome.Options{
		Binary: os.Getenv(testChrome), RunDir: w.runDir, Egress: w.exits, PageScript: script, Warm: w.warm, ProfileRoot: w.root,
		Logger: slog.New(slog.NewTextHandler(w.log, nil)),
	}
}

// shortDir is a temporary folder whose path leaves room for sockets.
func shortDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "chrome") //nolint:usetesting // the test's own folder has a name too long for sockets
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (w *world) open(t *testing.T, policy chrome.Policy) *chrome.Browser {
	t.Helper()
	b, err := w.Open(t.Context(), chrome.OpenOptions{Account: "me", Session: "s_" + t.Name(), Policy: policy})
	if err != nil {
		t.Fatalf("open session: %v\n%s", err, w.log)
	}
	return b
}

// run runs steps and fails the test when they do.
func run(t *testing.T, b *chrome.Browser, tab string, steps ...program.Step) program.Result {
	t.Helper()
	result, err := b.Run(t.Context(), program.Program{Tab: tab, DeadlineMS: 20_000, Steps: steps})
	if err != nil {
		t.Fatal(err)
	}
	if result.Error != nil {
		t.Fatal(result.Error)
	}
	return result
}

func navigate(address string) program.Step {
	return program.Step{Call: "Page.navigate", Params: json.RawMessage(fmt.Sprintf(`{"url":%q}`, address))}
}

func settle() program.Step { return program.Step{Settle: &program.Settle{QuietMS: 100, MaxMS: 700}} }

// click presses and releases at the place that step number located finds.
func click(located int) []program.Step {
	mouse := func(kind string) program.Step {
		at := func(axis string) string { return fmt.Sprintf(`{"$":"%d.%s"}`, located, axis) }
		return program.Step{Call: "Input.dispatchMouseEvent", Params: json.RawMessage(
			`{"type":"` + kind + `","x":` + at("x") + `,"y":` + at("y") + `,"button":"left","clickCount":1}`)}
	}
	return []program.Step{
		{Run: "@locate", Args: json.RawMessage(`{"target":{"role":"button","name":"go"}}`)},
		mouse("mousePressed"), mouse("mouseReleased"),
	}
}

// processes lists the processes that name dir on their command line.
func processes(dir string) []int {
	var found []int
	entries, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range entries {
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte(dir)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			found = append(found, pid)
		}
	}
	return found
}

// chromePID is the browser process of the only Chrome in dir, not one of its helpers.
func chromePID(t *testing.T, dir string) int {
	t.Helper()
	if found := browsers(dir); len(found) == 1 {
		return found[0]
	}
	t.Fatal("not exactly one Chrome runs")
	return 0
}

func mustLeaveNothing(tb testing.TB, dir string) {
	tb.Helper()
	if left := processes(dir); len(left) > 0 {
		tb.Errorf("processes are left: %v", left)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		tb.Errorf("files are left: %v", left)
	}
}

// within polls a condition of the machine that nothing announces.
func within(tb testing.TB, limit time.Duration, what string, holds func() bool) {
	tb.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			tb.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// browsers lists the browser processes in dir, without their helpers.
func browsers(dir string) []int {
	return slices.DeleteFunc(processes(dir), func(pid int) bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return err != nil || !bytes.Contains(text, []byte("--remote-debugging-pipe")) || bytes.Contains(text, []byte("--type="))
	})
}

// parent is the process that started pid.
func parent(t *testing.T, pid int) int {
	t.Helper()
	number, err := parentOf(pid)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

func parentOf(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	return strconv.Atoi(fields[1])
}

// waits runs a program that waits for what never comes, and tells its error once it has one.
func waits(b *chrome.Browser, tab string) <-chan error {
	failed := make(chan error, 1)
	go func() {
		_, err := b.Run(context.Background(), program.Program{Tab: tab, DeadlineMS: 20_000, Steps: []program.Step{
			{Await: &program.Await{Run: "@has_text", Args: []byte(`{"text":"never"}`), MaxMS: 19_000}},
		}})
		failed <- err
	}()
	return failed
}
