package e2e_test

import (
	"net"
	"sync"
	"time"
)

// delayed makes every accepted connection answer as from far away: each byte, either way, comes `each` later.
type delayed struct {
	net.Listener
	each time.Duration
}

func (d delayed) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	if err != nil || d.each == 0 {
		return c, err
	}
	return newFarConn(c, d.each), nil
}

// farConn delays without limiting the rate: chunks under way overlap, as on a real line.
type farConn struct {
	net.Conn
	each     time.Duration
	incoming chan chunk
	outgoing chan chunk
	rest     []byte
	closed   chan struct{}
	once     sync.Once
}

type chunk struct {
	at   time.Time
	data []byte
	err  error
}

func newFarConn(c net.Conn, each time.Duration) *farConn {
	f := &farConn{Conn: c, each: each, incoming: make(chan chunk, 4096), outgoing: make(chan chunk, 4096), closed: make(chan struct{})}
	go f.receive()
	go f.send()
	return f
}

func (f *farConn) receive() {
	for {
		buffer := make([]byte, 64<<10)
		n, err := f.Conn.Read(buffer)
		select {
		case f.incoming <- chunk{at: time.Now().Add(f.each), data: buffer[:n], err: err}:
		case <-f.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

func (f *farConn) send() {
	for {
		select {
		case c := <-f.outgoing:
			time.Sleep(time.Until(c.at)) //nolint:forbidigo // this is the line's length itself
			if _, err := f.Conn.Write(c.data); err != nil {
				return
			}
		case <-f.closed:
			return
		}
	}
}

func (f *farConn) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		select {
		case c := <-f.incoming:
			time.Sleep(time.Until(c.at)) //nolint:forbidigo // this is the line's length itself
			if c.err != nil {
				return 0, c.err
			}
			f.rest = c.data
		case <-f.closed:
			return 0, net.ErrClosed
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

func (f *farConn) Write(p []byte) (int, error) {
	select {
	case f.outgoing <- chunk{at: time.Now().Add(f.each), data: append([]byte(nil), p...)}:
		return len(p), nil
	case <-f.closed:
		return 0, net.ErrClosed
	}
}

func (f *farConn) Close() error {
	f.once.Do(func() { close(f.closed) })
	return f.Conn.Close()
}
