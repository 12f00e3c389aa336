package web

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// SocketHost is the Host that clients of the private Unix socket send; over TCP it is not ours.
const SocketHost = "chaperone"

// Hosts knows the server's own names. A request for any other name, such as one that a foreign page made
// resolve to this machine, is refused. It never changes and may be used from many goroutines.
type Hosts struct {
	hosts   map[string]bool
	origins map[string]bool
	url     string
}

// NewHosts makes the names of a server that listens on port: the loopback names with that port, and the
// public origin's when there is one.
func NewHosts(port int, publicURL string) (*Hosts, error) {
	h := &Hosts{hosts: map[string]bool{}, origins: map[string]bool{}}
	for _, name := range []string{"localhost", "::1", "127.0.0.1"} {
		h.own("http", net.JoinHostPort(name, strconv.Itoa(port)))
	}
	if publicURL == "" {
		return h, nil
	}
	u, err := url.Parse(publicURL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("read public URL: %q is no origin", publicURL)
	}
	h.own(u.Scheme, withoutDefaultPort(u))
	return h, nil
}

func (h *Hosts) own(scheme, host string) {
	host = strings.ToLower(host)
	h.url = scheme + "://" + host
	h.hosts[host] = true
	h.origins[h.url] = true
}

// Has reports whether a Host header is one of the server's own.
func (h *Hosts) Has(host string) bool { return h.hosts[strings.ToLower(host)] }

// HasOrigin reports whether an Origin header is one of the server's own.
func (h *Hosts) HasOrigin(origin string) bool { return h.origins[strings.ToLower(origin)] }

// URL is the origin by which people reach the server.
func (h *Hosts) URL() string { return h.url }

// admits reports whether a request names the server by a name that holds where it came in.
func (h *Hosts) admits(r *http.Request) bool {
	if isLocalSocket(r) {
		return r.Host == SocketHost || h.Has(r.Host)
	}
	return h.Has(r.Host)
}

// isLocalSocket reports whether a request came in over a Unix socket.
func isLocalSocket(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && local.Network() == "unix"
}

func withoutDefaultPort(u *url.URL) string {
	port := u.Port()
	if (u.Scheme == "https" && port == "443") || (u.Scheme == "http" && port == "80") {
		return strings.TrimSuffix(u.Host, ":"+port)
	}
	return u.Host
}
