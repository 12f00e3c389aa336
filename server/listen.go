package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// socketPathMax is how long a Unix socket's path may be everywhere (104 bytes on macOS, 108 on Linux).
const socketPathMax = 100

// headerWait bounds how long a client may take over a request's head.
const headerWait = 10 * time.Second

// idleWait is how long a connection may stay open between two requests.
const idleWait = 2 * time.Minute

// doors are the two listeners that the API is served on.
type doors struct {
	address net.Listener
	private net.Listener // the 0600 Unix socket
	scratch string       // the folder made for a socket whose own place has too long a path
}

func openDoors(ctx context.Context, addr string, f *folder) (*doors, error) {
	var lc net.ListenConfig
	address, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	d := &doors{address: address}
	if err := d.openPrivate(ctx, f); err != nil {
		return nil, errors.Join(err, address.Close())
	}
	return d, nil
}

func (d *doors) openPrivate(ctx context.Context, f *folder) error {
	path := f.socket()
	if len(path) > socketPathMax {
		scratch, err := os.MkdirTemp("", "chaperone-")
		if err != nil {
			return fmt.Errorf("make a folder for the private socket: %w", err)
		}
		d.scratch, path = scratch, filepath.Join(scratch, "server.sock")
	}
	// The folder's lock is ours, so a socket that is there was left by a server that is gone.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Join(fmt.Errorf("remove the old private socket: %w", err), d.removeScratch())
	}
	var lc net.ListenConfig
	private, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return errors.Join(fmt.Errorf("listen on the private socket: %w", err), d.removeScratch())
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(err, private.Close(), d.removeScratch())
	}
	d.private = private
	return nil
}

func (d *doors) removeScratch() error {
	if d.scratch == "" {
		return nil
	}
	return os.RemoveAll(d.scratch)
}

// port is where the address door listens.
func (d *doors) port() int {
	if tcp, ok := d.address.Addr().(*net.TCPAddr); ok {
		return tcp.Port
	}
	return 0
}

// own is where the address door listens, for those who must not be led back to it.
func (d *doors) own() []netip.AddrPort {
	if tcp, ok := d.address.Addr().(*net.TCPAddr); ok {
		return []netip.AddrPort{tcp.AddrPort()}
	}
	return nil
}

// close shuts the doors, served or not.
func (d *doors) close() error {
	err := errors.Join(notClosed(d.address.Close()), notClosed(d.private.Close()))
	return errors.Join(err, d.removeScratch())
}

func notClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// stop makes serve return.
func (d *doors) stop() { _ = d.address.Close() }

// serve answers on both doors until ctx ends, then lets requests under way finish within the grace. It
// closes ready once a request would be answered.
func (d *doors) serve(ctx context.Context, h http.Handler, ready chan<- struct{}) error {
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: headerWait, IdleTimeout: idleWait,
		// Requests end with the server: streams must not hold up its shutdown.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	failed := make(chan error, 2)
	for _, l := range []net.Listener{d.address, d.private} {
		go func() { failed <- s.Serve(l) }()
	}
	close(ready)
	var err error
	ends := 2
	select {
	case err = <-failed:
		ends--
	case <-ctx.Done():
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestGrace)
	defer cancel()
	if s.Shutdown(after) != nil {
		err = errors.Join(err, s.Close()) // the grace is over for whoever is still there
	}
	for range ends {
		if e := <-failed; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
	}
	return errors.Join(err, d.removeScratch())
}
