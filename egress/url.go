package egress

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// CheckURL says whether a navigation to raw may begin. It reads raw as a browser would and returns it with the
// host in canonical spelling and without final dot; path, query and fragment stay as they are, but for spaces,
// which are encoded. Only http on port 80 and https on port 443 pass, and the exact test origins; names are
// judged, not resolved. The error is a *Refusal. What a browser would repair by guessing (missing slashes,
// backslashes, control characters) is refused, and so is an @ before the path, which makes one host look like another.
func CheckURL(raw string, testOrigins []string) (*url.URL, error) {
	admitted, err := parseOrigins(testOrigins)
	if err != nil {
		return nil, err
	}
	u, reason := checkURL(raw, admitted)
	if !reason.IsAllowed() {
		return nil, refuse(reason)
	}
	return u, nil
}

// ReadURL reads raw as CheckURL does and returns the same URL, but does not judge where it leads: any port and any
// host pass. The error is a *Refusal.
func ReadURL(raw string) (*url.URL, error) {
	d, reason := readURL(raw)
	if !reason.IsAllowed() {
		return nil, refuse(reason)
	}
	return d.url, nil
}

func checkURL(raw string, admitted origins) (*url.URL, Reason) {
	d, reason := readURL(raw)
	if !reason.IsAllowed() {
		return nil, reason
	}
	if reason := judgeDestination(d.host, d.port, d.url.Scheme, admitted); !reason.IsAllowed() {
		return nil, reason
	}
	return d.url, Allowed
}

// destination is a URL that has been read, and where it leads.
type destination struct {
	url  *url.URL
	host host
	port uint16
}

func readURL(raw string) (destination, Reason) {
	scheme, rest, reason := splitScheme(raw)
	if !reason.IsAllowed() {
		return destination{}, reason
	}
	authority, tail, reason := splitAuthority(rest)
	if !reason.IsAllowed() {
		return destination{}, reason
	}
	h, port, reason := parseAuthority(authority, scheme)
	if !reason.IsAllowed() {
		return destination{}, reason
	}
	u, err := url.Parse(scheme + "://" + h.String() + portSuffix(authority) + strings.ReplaceAll(tail, " ", "%20"))
	if err != nil {
		return destination{}, BadURL
	}
	return destination{url: u, host: h, port: port}, Allowed
}

// splitScheme returns what follows the two slashes of an http or https URL.
func splitScheme(raw string) (scheme, rest string, reason Reason) {
	if !utf8.ValidString(raw) || strings.ContainsFunc(raw, isControl) {
		return "", "", BadURL
	}
	scheme, rest, found := strings.Cut(raw, ":")
	scheme = strings.ToLower(scheme)
	switch {
	case !found || scheme == "" || strings.ContainsAny(scheme, "/?#\\. "):
		return "", "", BadURL
	case scheme != "http" && scheme != "https":
		return "", "", Scheme
	}
	rest, found = strings.CutPrefix(rest, "//")
	if !found {
		return "", "", BadURL
	}
	return scheme, rest, Allowed
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }

// splitAuthority parts rest where the authority ends. What stands before the first slash holds neither @ nor
// backslash, though both would be harmless after a ? or #: there they serve as decoys.
func splitAuthority(rest string) (authority, tail string, reason Reason) {
	head, _, _ := strings.Cut(rest, "/")
	if strings.Contains(head, "@") {
		return "", "", UserInfo
	}
	path := rest
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		path = rest[:end]
	}
	if strings.Contains(path, `\`) || strings.Contains(head, `\`) {
		return "", "", BadURL
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	return rest[:end], rest[end:], Allowed
}

// parseAuthority reads host and port; an absent port is the scheme's.
func parseAuthority(authority, scheme string) (host, uint16, Reason) {
	hostText, portText, hasPort := splitPort(authority)
	h, reason := parseHost(hostText)
	if !reason.IsAllowed() {
		return host{}, 0, reason
	}
	if !hasPort {
		return h, defaultPort(scheme), Allowed
	}
	port, reason := parsePort(portText)
	return h, port, reason
}

func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}

func portSuffix(authority string) string {
	_, portText, hasPort := splitPort(authority)
	if !hasPort {
		return ""
	}
	return ":" + portText
}

// judgeDestination is the rule for navigations: a scheme has one port.
func judgeDestination(h host, port uint16, scheme string, admitted origins) Reason {
	if scheme == "http" && admitted.has(h, port) {
		return TestOrigin
	}
	if reason := h.judge(); !reason.IsAllowed() {
		return reason
	}
	if port != defaultPort(scheme) {
		return Port
	}
	return Allowed
}
