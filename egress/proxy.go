package egress

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// ErrClosed is returned by Serve on a proxy that Close was called on.
var ErrClosed = errors.New("egress proxy is closed")

// acceptPause is how long Serve waits when the process has no file descriptors left.
const acceptPause = 50 * time.Millisecond

// Proxy is a forward proxy. Its methods may be called from several goroutines.
type Proxy struct {
	origins  origins
	resolver Resolver
	own      []netip.AddrPort
	limits   Limits
	log      *slog.Logger
	decided  func(Decision)
	metrics  metrics
	connect  connector
	rooms    *rooms

	serving sync.WaitGroup

	// listenersMu guards listeners and closed. A listener's function ends its connections.
	listenersMu sync.Mutex
	listeners   map[net.Listener]context.CancelFunc
	closed      bool
}

// New makes a proxy. It errs when a test origin is not an exact loopback origin or a metric cannot be
// registered (one registry, one proxy). Close it when done.
func New(o Options) (*Proxy, error) {
	o = o.withDefaults()
	admitted, err := parseOrigins(o.TestOrigins)
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(o.Registerer)
	if err != nil {
		return nil, err
	}
	return &Proxy{
		origins:   admitted,
		resolver:  o.Resolver,
		own:       ownAddresses(o.Deny),
		limits:    o.Limits,
		log:       o.Logger,
		decided:   o.OnDecision,
		metrics:   m,
		connect:   connectTCP,
		rooms:     newRooms(),
		listeners: map[net.Listener]context.CancelFunc{},
	}, nil
}

// Serve answers the connections that ln accepts, in the name of id: one listener per session gives a request
// its identity. It takes over ln. When ln is closed it ends all connections and tunnels that came from it,
// waits for them, and returns nil; after Close it returns ErrClosed at once.
func (p *Proxy) Serve(ln net.Listener, id Identity) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if !p.enter(ln, cancel) {
		_ = ln.Close()
		return ErrClosed
	}
	defer p.leave(ln)
	var clients sync.WaitGroup
	err := p.accept(ctx, ln, id, &clients)
	cancel()
	clients.Wait()
	return err
}

// accept admits up to the limit of connections and lets the next ones be told that it is busy: itself it waits for
// nothing but the next connection.
func (p *Proxy) accept(ctx context.Context, ln net.Listener, id Identity, clients *sync.WaitGroup) error {
	room := newPlaces(p.limits)
	for {
		conn, err := ln.Accept()
		switch {
		case isTransient(err) && pause(ctx, acceptPause):
			continue
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			return fmt.Errorf("accept connection: %w", err)
		}
		c := newClient(p, id, conn, room)
		clients.Go(func() {
			if c.place == nil {
				c.part(ctx)
				return
			}
			c.serve(ctx)
		})
	}
}

// isTransient reports an accept error that other connections' ends will cure.
func isTransient(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ECONNABORTED)
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p *Proxy) enter(ln net.Listener, cancel context.CancelFunc) bool {
	p.listenersMu.Lock()
	defer p.listenersMu.Unlock()
	if p.closed {
		return false
	}
	p.listeners[ln] = cancel
	p.serving.Add(1)
	return true
}

func (p *Proxy) leave(ln net.Listener) {
	_ = ln.Close()
	p.listenersMu.Lock()
	defer p.listenersMu.Unlock()
	delete(p.listeners, ln)
	p.serving.Done()
}

// Close closes every listener, ends every connection and tunnel, and waits until all Serve calls have
// returned or ctx ends. It may be called again.
func (p *Proxy) Close(ctx context.Context) error {
	p.listenersMu.Lock()
	p.closed = true
	for ln, cancel := range p.listeners {
		_ = ln.Close()
		cancel()
	}
	p.listenersMu.Unlock()
	ended := make(chan struct{})
	go func() {
		p.serving.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close egress proxy: %w", ctx.Err())
	}
}
