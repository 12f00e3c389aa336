package endpoint

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// maxStrangers bounds the connections that have shown no capability: of more, the oldest is closed, so that sockets that
// say nothing take neither the server's files nor anybody's place.
const maxStrangers = 256

// crowd are the connections that are no client's yet, the oldest first.
type crowd struct {
	connsMu sync.Mutex
	conns   []net.Conn
}

// follow is an http.Server's ConnState.
func (c *crowd) follow(conn net.Conn, now http.ConnState) {
	switch now {
	case http.StateNew:
		if oldest := c.add(conn); oldest != nil {
			_ = oldest.Close()
		}
	case http.StateHijacked, http.StateClosed:
		c.remove(conn)
	case http.StateActive, http.StateIdle:
	}
}

// add answers the connection that has to go.
func (c *crowd) add(conn net.Conn) net.Conn {
	c.connsMu.Lock()
	defer c.connsMu.Unlock()
	c.conns = append(c.conns, conn)
	if len(c.conns) <= maxStrangers {
		return nil
	}
	oldest := c.conns[0]
	c.conns = slices.Delete(c.conns, 0, 1)
	return oldest
}

func (c *crowd) remove(conn net.Conn) {
	c.connsMu.Lock()
	defer c.connsMu.Unlock()
	c.conns = slices.DeleteFunc(c.conns, func(known net.Conn) bool { return known == conn })
}
