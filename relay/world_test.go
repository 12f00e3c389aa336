package relay_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chaperone/relay"
	"chaperone/relay/program"
)

const (
	extensionID = "codmbdnikppphedddibekmoeejjjmbig"
	origin      = "chrome-extension://" + extensionID
	host        = "relay.test:7788"
	token       = "the-account's-token"
	account     = "a_1"
	project     = "p_1"
)

// world is a hub behind a real HTTP server on a network of in-memory pipes, under a fake clock.
type world struct {
	t    *testing.T
	hub  *relay.Hub
	auth *authority
	net  *pipes
	log  *eventLog
}

// inWorld runs test in a bubble with a fake clock; everything in it must have ended when it returns.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, auth: newAuthority(), net: newPipes(), log: &eventLog{}}
		w.hub = relay.NewHub(relay.Options{
			Authority: w.auth, ServerName: host, ExtensionID: extensionID, Events: w.log.add,
			Host: func(h string) bool { return h == host },
		})
		server := &http.Server{Handler: w.hub, ReadHeaderTimeout: time.Minute}
		served := make(chan error, 1)
		go func() { served <- server.Serve(w.net) }()
		test(w)
		if err := w.hub.Close(context.Background()); err != nil {
			t.Errorf("close hub: %v", err)
		}
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: %v", err)
		}
		synctest.Wait()
	})
}

// open is a session's browser on the live link.
func (w *world) open(session string) *relay.Browser {
	w.t.Helper()
	b, err := w.hub.Open(w.t.Context(), relay.OpenOptions{Account: account, Project: project, Session: session})
	if err != nil {
		w.t.Fatalf("open %s: %v", session, err)
	}
	return b
}

func (w *world) status() relay.LinkStatus { return w.hub.Status(account, project) }

// authority knows one account with one token.
type authority struct {
	mu       sync.Mutex
	token    string
	projects map[string]error // refused when not nil
	pairing  error            // what every lookup answers, when not nil
	check    error
	slow     time.Duration // how long every check takes
	asked    int
	last     relay.Pairing
}

func newAuthority() *authority {
	return &authority{token: token, projects: map[string]error{project: nil}}
}

func (a *authority) Pairing(_ context.Context, tokenID, projectID string) (relay.Pairing, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pairing != nil {
		return relay.Pairing{}, a.pairing
	}
	refused, known := a.projects[projectID]
	if tokenID != relay.TokenID(a.token) || !known {
		return relay.Pairing{}, &program.Error{Code: "unauthorised", Message: "no such token"}
	}
	return relay.Pairing{
		Account: account, AccountName: "me", Project: projectID, ProjectName: "Docs", Token: a.token, Level: program.LevelAct,
	}, refused
}

func (a *authority) Check(_ context.Context, p relay.Pairing) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	<-time.After(a.slow)
	a.asked++
	a.last = p
	return a.check
}

func (a *authority) set(change func(a *authority)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(a)
}

// eventLog keeps what the hub told.
type eventLog struct {
	gate   chan struct{} // not nil: nobody takes events until it is closed
	mu     sync.Mutex
	events []string
}

func (l *eventLog) add(e relay.Event) {
	if l.gate != nil {
		<-l.gate
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, strings.Join(strings.Fields(string(e.Kind)+" "+e.Tab.ID+" "+string(e.Reason)), " "))
}

// want waits until the bubble is idle and compares.
func (l *eventLog) want(t *testing.T, events ...string) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.events, events) {
		t.Errorf("events\n got %q\nwant %q", l.events, events)
	}
}

// pipes is a listener whose connections are net.Pipe.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: p.dial, DisableKeepAlives: true}}
}

// pass lets the fake clock run for d and everything that it starts settle.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	<-time.After(d)
	synctest.Wait()
}
