package egress

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// closeGrace is how long Run waits for its last connections: half of the ten seconds that a stop may take.
const closeGrace = 5 * time.Second

// Errors of Run's own.
var (
	ErrOpenToNetwork     = errors.New("listen address can be reached from other machines")
	ErrTestOriginExposed = errors.New("test origins need a loopback listen address")
)

// Config is a proxy that runs alone. Only Listen is required.
type Config struct {
	Listen      string // host:port; port 0 picks one
	Metrics     string // host:port that answers /metrics and /healthz; empty for none
	Methods     MethodRule
	TestOrigins []string
	Deny        []netip.AddrPort // further addresses that are refused; port 0 means every port
	// DangerouslyOpenToNetwork permits addresses to listen on that are not loopback: whoever reaches them may use the proxy.
	DangerouslyOpenToNetwork bool
	Limits                   Limits // as of a Proxy, but for Connections and Tunnels: 8,192 and 8,000
	Logger                   *slog.Logger
	Registerer               prometheus.Registerer // default: a registry of its own, which Metrics shows
	Ready                    func(net.Addr)        // called once, when connections are accepted
}

// aloneConnections and aloneTunnels are for many clients; Limits' own defaults are for one browser.
const (
	aloneConnections = 8192
	aloneTunnels     = 8000
)

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Registerer == nil {
		c.Registerer = prometheus.NewRegistry()
	}
	c.Limits.Connections = cmp.Or(c.Limits.Connections, aloneConnections)
	c.Limits.Tunnels = cmp.Or(c.Limits.Tunnels, aloneTunnels)
	c.Limits = c.Limits.withDefaults()
	return c
}

// Check says what would keep Run from serving: it takes the addresses, gives them back, and makes the proxy. The
// answer is the configuration with every default filled in.
func Check(ctx context.Context, c Config) (Config, error) {
	c.Registerer = nil // nothing is registered by asking
	c = c.withDefaults()
	r, err := c.open(ctx)
	if err != nil {
		return c, err
	}
	r.drop()
	return c, nil
}

// Run serves until ctx ends, then closes all that is open and returns nil. A listen address that is not
// loopback is ErrOpenToNetwork unless the config asks for it, and ErrTestOriginExposed with test origins.
func Run(ctx context.Context, c Config) error {
	c = c.withDefaults()
	r, err := c.open(ctx)
	if err != nil {
		return err
	}
	for _, origin := range c.TestOrigins {
		c.Logger.LogAttrs(ctx, slog.LevelWarn, "test origin is admitted", slog.String("origin", origin))
	}
	if r.metrics != nil {
		defer serveMetrics(r.metrics, c.Registerer)()
		c.Logger.LogAttrs(ctx, slog.LevelInfo, "metrics are served", slog.String("address", r.metrics.Addr().String()))
	}
	if c.Ready != nil {
		c.Ready(r.clients.Addr())
	}
	return r.proxy.serveUntil(ctx, r.clients, Identity{Session: "alone", Methods: c.Methods})
}

// opened is a proxy with its listeners, before it serves.
type opened struct {
	proxy            *Proxy
	clients, metrics net.Listener // metrics may be nil
}

func (o opened) drop() {
	_ = o.clients.Close()
	if o.metrics != nil {
		_ = o.metrics.Close()
	}
}

func (c Config) open(ctx context.Context) (opened, error) {
	var o opened
	var err error
	if o.clients, err = c.listen(ctx, c.Listen); err != nil {
		return opened{}, &ListenError{Address: c.Listen, Err: err}
	}
	if c.Metrics != "" {
		if o.metrics, err = c.listen(ctx, c.Metrics); err != nil {
			o.drop()
			return opened{}, &ListenError{Address: c.Metrics, IsMetrics: true, Err: err}
		}
	}
	o.proxy, err = New(Options{TestOrigins: c.TestOrigins, Deny: c.Deny, Logger: c.Logger, Registerer: c.Registerer, Limits: c.Limits})
	if err != nil {
		o.drop()
		return opened{}, err
	}
	return o, nil
}

// ListenError says which of the two addresses of a Config could not be listened on.
type ListenError struct {
	Address   string
	IsMetrics bool
	Err       error
}

func (e *ListenError) Error() string { return "run egress on " + e.Address + ": " + e.Err.Error() }

// Unwrap is the cause: ErrOpenToNetwork, ErrTestOriginExposed, or the system's.
func (e *ListenError) Unwrap() error { return e.Err }

// listen opens the port and judges the address that it got, not the one that was written.
func (c Config) listen(ctx context.Context, address string) (net.Listener, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if err := c.judgeListen(endpoint(ln.Addr()).Addr()); err != nil {
		_ = ln.Close()
		return nil, err
	}
	return ln, nil
}

func (c Config) judgeListen(a netip.Addr) error {
	switch {
	case a.IsLoopback():
		return nil
	case !c.DangerouslyOpenToNetwork:
		return ErrOpenToNetwork
	case len(c.TestOrigins) > 0:
		return ErrTestOriginExposed
	default:
		return nil
	}
}

func (p *Proxy) serveUntil(ctx context.Context, ln net.Listener, id Identity) error {
	served := make(chan error, 1)
	go func() { served <- p.Serve(ln, id) }() //nolint:contextcheck // Serve ends with its listener
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeGrace)
	defer cancel()
	if err := p.Close(grace); err != nil {
		return err
	}
	if err := <-served; !errors.Is(err, ErrClosed) { // ErrClosed: ctx ended before Serve began
		return err
	}
	return nil
}
