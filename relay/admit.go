package relay

import (
	"context"
	"net/http"

	"github.com/coder/websocket"
)

// admit judges a request before the upgrade, and takes a place for one that may go on: its caller owes
// settle and serving.Done. A page on another site can make a browser dial here, with the Host of its choice
// after DNS rebinding; what it cannot choose is its Origin.
func (h *Hub) admit(r *http.Request) int {
	switch {
	case !h.fromExtension(r), !h.options.Host(r.Host):
		return http.StatusForbidden
	case !h.enter():
		return http.StatusServiceUnavailable
	default:
		return http.StatusOK
	}
}

// fromExtension wants exactly one Origin, and that one. A client without one is no browser.
func (h *Hub) fromExtension(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	return h.options.ExtensionID != "" && len(origins) == 1 &&
		origins[0] == "chrome-extension://"+h.options.ExtensionID
}

// enter holds sockets back while too many have proved nothing, while nobody takes the events, and after Close.
func (h *Hub) enter() bool {
	h.slotsMu.Lock()
	defer h.slotsMu.Unlock()
	if h.closed || h.unproved >= maxOpening || h.news.full() {
		return false
	}
	h.unproved++
	h.serving.Add(1)
	return true
}

// open runs the opening on an upgraded socket, which Close can break off.
func (h *Hub) open(ctx context.Context, conn *websocket.Conn) (opened, error) {
	defer h.settle(conn)
	h.slotsMu.Lock()
	closed := h.closed
	h.opening[conn] = struct{}{}
	h.slotsMu.Unlock()
	if closed {
		return opened{}, errClosed
	}
	return h.greet(ctx, conn)
}

// settle gives the place back: the socket is paired, or refused, or never came to be (nil).
func (h *Hub) settle(conn *websocket.Conn) {
	h.slotsMu.Lock()
	defer h.slotsMu.Unlock()
	h.unproved--
	delete(h.opening, conn)
}
