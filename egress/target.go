package egress

import (
	"net/http"
	"net/url"
	"strings"
)

// target is where a request wants to go.
type target struct {
	host     host
	port     uint16
	resource string // path and query as they were sent; empty for a tunnel
}

// parseTarget reads the two forms of request target that a proxy is sent (RFC 9112 section 3.2): the
// authority-form of CONNECT, and the absolute-form of all else.
func parseTarget(method, raw string) (target, Reason) {
	if strings.ContainsFunc(raw, isNotVisible) || strings.Contains(raw, "#") {
		return target{}, BadRequest
	}
	if method == http.MethodConnect {
		return parseTunnelTarget(raw)
	}
	return parsePlainTarget(raw)
}

func isNotVisible(r rune) bool { return r <= ' ' || r >= 0x7f }

func parseTunnelTarget(raw string) (target, Reason) {
	hostText, portText, hasPort := splitPort(raw)
	switch {
	case strings.ContainsAny(raw, `/\?`) || !hasPort:
		return target{}, BadRequest
	case strings.Contains(raw, "@"):
		return target{}, UserInfo
	}
	h, reason := parseHost(hostText)
	if !reason.IsAllowed() {
		return target{}, reason
	}
	port, reason := parsePort(portText)
	return target{host: h, port: port}, reason
}

func parsePlainTarget(raw string) (target, Reason) {
	scheme, rest, found := strings.Cut(raw, "://")
	switch {
	case !found || strings.ContainsAny(scheme, "/?*"):
		return target{}, NotProxied
	case !strings.EqualFold(scheme, "http"):
		return target{}, Scheme
	}
	authority, resource, reason := splitAuthority(rest)
	if !reason.IsAllowed() {
		return target{}, reason
	}
	h, port, reason := parseAuthority(authority, "http")
	if !strings.HasPrefix(resource, "/") {
		resource = "/" + resource
	}
	return target{host: h, port: port, resource: resource}, reason
}

// authority is the canonical Host of a plain request.
func (t target) authority() string {
	if t.port == 80 {
		return t.host.String()
	}
	return hostPort(t.host, t.port)
}

// url is written to the wire as the client spelled it. An opaque part that begins with two slashes would be
// written with a scheme, so that such a path takes the ordinary way.
func (t target) url() *url.URL {
	u := &url.URL{Scheme: "http", Host: t.authority()}
	if !strings.HasPrefix(t.resource, "//") {
		u.Opaque = t.resource
		return u
	}
	path, query, hasQuery := strings.Cut(t.resource, "?")
	decoded, err := url.PathUnescape(path)
	if err != nil {
		decoded = path
	}
	u.Path, u.RawPath, u.RawQuery, u.ForceQuery = decoded, path, query, hasQuery
	return u
}

// judgePort: plain requests go to 80; tunnels to 443, and to 80 because that is how browsers open ws:// URLs.
func (t target) judgePort() Reason {
	if t.port == 80 || t.port == 443 && t.resource == "" {
		return Allowed
	}
	return Port
}
