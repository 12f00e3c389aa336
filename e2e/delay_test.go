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

	connsMu sync.Mutex
	conns   []net.Conn
}

// cut breaks every connection that was ever accepted.
func (d *delayed) cut() {
	d.connsMu.Lock()
	defer d.connsMu.Unlock()
	for _, c := range d.conns {
		_ = c.Close()
	}
	d.conns = nil
}

func (d *delayed) keep(c net.Conn) {
	d.connsMu.Lock()
	defer d.connsMu.Unlock()
	d.conns = append(d.conns, c)
}

func (d *delayed) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	if err != nil {
		return c, err
	}
	d.keep(c)
	if d.each == 0 {
		return c, nil
	}
	near, line := net.Pipe()
	go carry(c, line, d.each)
	go carry(line, c, d.each)
	return near, nil
}

// chunk is what was read at once, and when it arrives.
type chunk struct {
	due  time.Time
	data []byte
}

// carry brings what comes from one end to the other, later, without limiting the rate: chunks under way
// overlap, as on a real line. When an end closes, so does the other.
func carry(from, to net.Conn, each time.Duration) {
	under := make(chan chunk, 4096) // more than any bench has under way
	go func() {
		defer close(under)
		for {
			buffer := make([]byte, 64<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				under <- chunk{due: time.Now().Add(each), data: buffer[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for c := range under {
		<-time.After(time.Until(c.due))
		if _, err := to.Write(c.data); err != nil {
			_ = from.Close()
		}
	}
	_ = to.Close()
}
