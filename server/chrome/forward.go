package chrome

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
)

// forwarder carries connections from one loopback port to one Unix socket.
type forwarder struct {
	socket   string
	listener net.Listener
	stop     context.CancelFunc
	running  sync.WaitGroup
}

// newForwarder listens on a fresh port of 127.0.0.1; close ends it and its connections.
func newForwarder(ctx context.Context, socket string) (*forwarder, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open forwarder: %w", err)
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	f := &forwarder{socket: socket, listener: listener, stop: stop}
	f.running.Go(func() { f.accept(life) })
	return f, nil
}

func (f *forwarder) port() int {
	if addr, ok := f.listener.Addr().(*net.TCPAddr); ok {
		return addr.Port
	}
	return 0
}

func (f *forwarder) close() {
	f.stop()
	_ = f.listener.Close()
	f.running.Wait()
}

func (f *forwarder) accept(life context.Context) {
	for {
		in, err := f.listener.Accept()
		if err != nil {
			return // closed
		}
		f.running.Go(func() { f.carry(life, in) })
	}
}

// carry copies both ways until both have ended or the forwarder is closed.
func (f *forwarder) carry(life context.Context, in net.Conn) {
	defer func() { _ = in.Close() }()
	var d net.Dialer
	out, err := d.DialContext(life, "unix", f.socket)
	if err != nil {
		return
	}
	defer func() { _ = out.Close() }()
	unhook := context.AfterFunc(life, func() { _ = in.Close(); _ = out.Close() })
	defer unhook()
	var back sync.WaitGroup
	back.Go(func() { pour(in, out) })
	pour(out, in)
	back.Wait()
}

// pour copies until the source ends and passes that end on, so that half-closed connections keep working.
func pour(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite()
		return
	}
	_ = to.Close()
	_ = from.Close()
}
