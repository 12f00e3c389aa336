package egress

import (
	"net/http"
	"strings"
)

// via is how the proxy names itself to the next hop (RFC 9110 section 7.6.3).
const via = "1.1 chaperone"

// dropHopByHop removes what concerns one connection only (RFC 9110 section 7.6.1): the fields that Connection
// names and those that are of that kind always. A field meant for the other end stays even when Connection
// names it: no client makes an origin miss a cookie or a range by that trick.
func dropHopByHop(h http.Header) {
	for _, list := range h["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.TrimSpace(name); !isEndToEnd(name) {
				h.Del(name)
			}
		}
	}
	for _, name := range []string{
		"Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Connection",
		"Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization", "Http2-Settings",
	} {
		h.Del(name)
	}
}

func isEndToEnd(name string) bool {
	switch strings.ToLower(name) {
	case "authorization", "cookie", "set-cookie", "www-authenticate", "host", "origin", "referer", "location",
		"content-length", "content-type", "content-encoding", "content-range", "content-security-policy",
		"cache-control", "expires", "vary", "etag", "range", "if-match", "if-none-match", "expect",
		"strict-transport-security", "x-frame-options", "access-control-allow-origin":
		return true
	default:
		name = strings.ToLower(name)
		return strings.HasPrefix(name, "sec-") || strings.HasPrefix(name, "access-control-")
	}
}
