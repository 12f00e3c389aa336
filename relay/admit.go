package relay

import "net/http"

// admit judges a request before the upgrade. A page on another site can make a browser dial here, with the
// Host of its choice after DNS rebinding; what it cannot choose is its Origin.
func (h *Hub) admit(r *http.Request) int {
	switch {
	case !h.fromExtension(r), !h.options.Host(r.Host):
		return http.StatusForbidden
	case h.crowded():
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

// crowded holds back new sockets while too many have proved nothing, while nobody takes the events, or
// after Close.
func (h *Hub) crowded() bool {
	h.slotsMu.Lock()
	defer h.slotsMu.Unlock()
	return h.closed || len(h.opening) >= maxOpening || h.news.full()
}
