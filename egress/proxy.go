package egress

import (
	"context"
	"errors"
	"net"
)

// Proxy is a forward proxy. Its methods may be called from several goroutines.
type Proxy struct{ options Options }

// New makes a proxy. It errs when a test origin is not an exact loopback origin or a metric cannot be registered.
func New(o Options) (*Proxy, error) { return &Proxy{options: o.withDefaults()}, nil }

// Serve answers the connections that ln accepts, in the name of id.
func (p *Proxy) Serve(ln net.Listener, id Identity) error { return errors.ErrUnsupported }

// Close ends every listener, connection and tunnel.
func (p *Proxy) Close(ctx context.Context) error { return errors.ErrUnsupported }
