package endpoint

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// headerWait bounds how long a connection may take to say what it wants.
	headerWait = 5 * time.Second
	// answerWait bounds how long it may take the answer, and idleWait how long it may stay without asking again.
	answerWait = 30 * time.Second
	idleWait   = time.Minute
	// maxHeader is far more than any CDP client sends.
	maxHeader = 16 << 10
)

// Options of a Server; the zero value listens at a free port of 127.0.0.1.
type Options struct {
	// Addr is a loopback address, 127.0.0.1:0 unless given.
	Addr string
	// Logger takes what an operator may want to know; never an address that opens anything.
	Logger *slog.Logger
}

// Server listens for CDP clients. It is safe for concurrent use.
type Server struct {
	log    *slog.Logger
	http   *http.Server
	host   string // what is in the addresses it gives out
	hosts  []string
	served chan struct{} // closed when the listener's goroutine has ended
	stop   context.CancelFunc

	roomsMu sync.Mutex
	rooms   map[[sha256.Size]byte]*Capability
	closed  bool
	group   sync.WaitGroup // one for each capability's watch
	watch   func(*Capability)
}

// ErrNotLoopback refuses an address that other machines could reach.
var ErrNotLoopback = errors.New("CDP clients are served at a loopback address only")

var errServerClosed = errors.New("the CDP endpoint is closed")

// New listens. ctx is for the look-up of the address alone; Close ends the Server.
func New(ctx context.Context, o Options) (*Server, error) {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("listen for CDP clients: %w", err)
	}
	addr, ok := listener.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		return nil, errors.Join(ErrNotLoopback, listener.Close())
	}
	return serve(listener, addr, o.Logger), nil
}

func serve(listener net.Listener, addr *net.TCPAddr, log *slog.Logger) *Server {
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{
		log: log, host: addr.String(), hosts: []string{addr.String(), fmt.Sprintf("localhost:%d", addr.Port)},
		served: make(chan struct{}), stop: stop, rooms: map[[sha256.Size]byte]*Capability{},
	}
	s.watch = func(c *Capability) { s.group.Go(func() { c.watch(ctx) }) }
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: headerWait, MaxHeaderBytes: maxHeader, ConnState: new(crowd).follow,
		// Sockets are none of these: what takes a connection over takes its deadlines off.
		ReadTimeout: headerWait, WriteTimeout: answerWait, IdleTimeout: idleWait,
		// What it would say of a request may hold its path.
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener) // it says only that Close was called, or what the next request would find
	}()
	return s
}

// Addr is where it listens, HOST:PORT.
func (s *Server) Addr() string { return s.host }

// Close revokes all capabilities and waits until nothing of the Server runs any more.
func (s *Server) Close() error {
	s.roomsMu.Lock()
	s.closed = true
	s.roomsMu.Unlock()
	s.stop()
	err := s.http.Close()
	s.group.Wait()
	<-s.served
	return err
}

func (s *Server) admit(c *Capability) error {
	s.roomsMu.Lock()
	defer s.roomsMu.Unlock()
	if s.closed {
		return errServerClosed
	}
	s.rooms[hashOf(c.secret)] = c
	s.watch(c)
	return nil
}

func (s *Server) forget(c *Capability) {
	s.roomsMu.Lock()
	defer s.roomsMu.Unlock()
	delete(s.rooms, hashOf(c.secret))
}

// find answers nil for whatever is not a capability now, whether or not it ever was.
func (s *Server) find(secret string) *Capability {
	s.roomsMu.Lock()
	defer s.roomsMu.Unlock()
	c := s.rooms[hashOf(secret)]
	if c == nil || isClosed(c.router.over) {
		return nil
	}
	return c
}

// ServeHTTP refuses whatever a browser sends (a page could reach this port, but not without an Origin or with a Host
// of ours), and then looks at the path.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, has := r.Header["Origin"]; has || !s.isOwnHost(r.Host) {
		http.Error(w, "forbidden", http.StatusForbidden)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.Header().Set("Connection", "close") // a body that comes with it is not waited for
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	rest := strings.TrimPrefix(r.URL.Path, "/")
	if devtools, ok := strings.CutPrefix(rest, "devtools/"); ok {
		s.serveSocket(w, r, devtools)
		return
	}
	secret, path, _ := strings.Cut(rest, "/")
	if c := s.find(secret); c != nil {
		c.serveJSON(w, r, strings.TrimSuffix(path, "/"))
		return
	}
	notHere(w)
}

// notHere answers all that is no capability now alike, whether or not it ever was one.
func notHere(w http.ResponseWriter) {
	http.Error(w, "Chaperone: this endpoint does not exist or has ended. Print a fresh address with: chaperone cdp SESSION", http.StatusNotFound)
}

func (s *Server) isOwnHost(host string) bool { return slices.Contains(s.hosts, host) }

// serveSocket takes browser/SECRET and page/SECRET/TARGET.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request, path string) {
	kind, rest, _ := strings.Cut(path, "/")
	secret, target, _ := strings.Cut(strings.TrimSuffix(rest, "/"), "/")
	c := s.find(secret)
	if c == nil || kind == "browser" && target != "" || kind == "page" && target == "" || kind != "browser" && kind != "page" {
		notHere(w)
		return
	}
	c.router.accept(w, r, target)
}

func (c *Capability) serveJSON(w http.ResponseWriter, r *http.Request, path string) {
	var body []byte
	switch path {
	case "json/version":
		body = c.version(r.Host)
	case "json", "json/list":
		body = c.list(r.Host)
	case "json/protocol":
		body = c.router.options.Judge.Protocol()
	default:
		notHere(w)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_, _ = w.Write(body) // whoever asked may have gone
}

func (c *Capability) version(host string) []byte {
	version := c.router.version()
	return encode(map[string]string{
		"Browser": version.Product, "Protocol-Version": "1.3", "User-Agent": version.UserAgent,
		"webSocketDebuggerUrl": "ws://" + host + "/devtools/browser/" + c.secret,
	})
}

func (c *Capability) list(host string) []byte {
	type entry struct {
		Description string `json:"description"`
		ID          string `json:"id"`
		Title       string `json:"title"`
		Type        string `json:"type"`
		URL         string `json:"url"`
		Socket      string `json:"webSocketDebuggerUrl"`
	}
	pages := c.router.pages()
	entries := make([]entry, 0, len(pages))
	for _, info := range pages {
		entries = append(entries, entry{
			ID: info.TargetID, Title: info.Title, Type: info.Type, URL: info.URL,
			Socket: "ws://" + host + "/devtools/page/" + c.secret + "/" + info.TargetID,
		})
	}
	return encode(entries)
}
