package egress

import (
	"context"
	"errors"
	"fmt"
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
	Methods     MethodRule
	TestOrigins []string
	// DangerouslyOpenToNetwork permits a Listen address that is not loopback: whoever reaches it may use the proxy.
	DangerouslyOpenToNetwork bool
	Logger                   *slog.Logger
	Registerer               prometheus.Registerer
	Ready                    func(net.Addr) // called once, when connections are accepted
}

// Run serves until ctx ends, then closes all that is open and returns nil. A listen address that is not
// loopback is ErrOpenToNetwork unless the config asks for it, and ErrTestOriginExposed with test origins.
func Run(ctx context.Context, c Config) error {
	logger := c.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	ln, err := c.listen(ctx)
	if err != nil {
		return fmt.Errorf("run egress on %s: %w", c.Listen, err)
	}
	p, err := New(Options{TestOrigins: c.TestOrigins, Logger: logger, Registerer: c.Registerer})
	if err != nil {
		_ = ln.Close()
		return err
	}
	for _, origin := range c.TestOrigins {
		logger.LogAttrs(ctx, slog.LevelWarn, "test origin is admitted", slog.String("origin", origin))
	}
	if c.Ready != nil {
		c.Ready(ln.Addr())
	}
	return p.serveUntil(ctx, ln, Identity{Session: "alone", Methods: c.Methods})
}

// listen opens the port and judges the address that it got, not the one that was written.
func (c Config) listen(ctx context.Context) (net.Listener, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
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
