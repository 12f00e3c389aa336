package egress

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// host is a host in the one spelling a browser ends with: a lower-case ASCII name without final dot, or an address.
type host struct {
	name string // empty when addr is set
	addr netip.Addr
}

func (h host) String() string {
	switch {
	case h.name != "":
		return h.name
	case h.addr.Is6():
		return "[" + h.addr.String() + "]"
	default:
		return h.addr.String()
	}
}

// judge says what can be said of h without asking a resolver.
func (h host) judge() Reason {
	if h.name == "" {
		return JudgeAddr(h.addr)
	}
	return judgeName(h.name)
}

// parseHost brings a URL's host to its canonical spelling, by the steps of the WHATWG URL Standard's host
// parser (section 3.5), which browsers follow, and refuses what that parser refuses. It is stricter in two
// ways: a name consists of letters, digits, hyphens and underscores, and invisible characters are refused
// where the standard drops them.
func parseHost(raw string) (host, Reason) {
	if strings.HasPrefix(raw, "[") {
		return parseBracketed(raw)
	}
	text, err := url.PathUnescape(raw)
	if err != nil || !utf8.ValidString(text) || strings.ContainsFunc(text, isInvisible) {
		return host{}, BadHost
	}
	name, err := toASCII(text)
	if err != nil {
		return host{}, BadHost
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if endsInNumber(name) {
		return parseIPv4(name)
	}
	if !isName(name) {
		return host{}, BadHost
	}
	return host{name: name}, Allowed
}

func parseBracketed(raw string) (host, Reason) {
	inner, closed := strings.CutSuffix(raw[1:], "]")
	if strings.Contains(inner, "%") {
		return host{}, Zone
	}
	addr, err := netip.ParseAddr(inner)
	if !closed || err != nil || addr.Is4() {
		return host{}, BadHost
	}
	return host{addr: addr}, Allowed
}

// isInvisible reports format characters, but for the two joiners that some scripts spell names with.
func isInvisible(r rune) bool {
	return unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d'
}

func toASCII(text string) (string, error) {
	return idna.New(
		idna.MapForLookup(),
		idna.BidiRule(),
		idna.Transitional(false),
		idna.StrictDomainName(false), // underscores are in use; isName judges the characters
		idna.CheckHyphens(false),
	).ToASCII(text)
}

// endsInNumber reports whether browsers read name as an IPv4 address, whatever its other parts are.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last != "" && strings.Trim(last, "0123456789") == "" {
		return true
	}
	hex, isHex := strings.CutPrefix(last, "0x")
	return isHex && strings.Trim(hex, "0123456789abcdef") == ""
}

// parseIPv4 reads the one to four decimal, octal or hexadecimal parts that browsers accept; the last part
// fills all bytes that are left.
func parseIPv4(name string) (host, Reason) {
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return host{}, BadHost
	}
	var value uint64
	for i, part := range parts {
		n, ok := parsePart(part)
		width := 8
		if i == len(parts)-1 {
			width = 8 * (5 - len(parts))
		}
		if !ok || n>>width != 0 {
			return host{}, BadHost
		}
		value = value<<width | n
	}
	bytes := [4]byte{byte(value >> 24), byte(value >> 16 & 0xff), byte(value >> 8 & 0xff), byte(value & 0xff)}
	return host{addr: netip.AddrFrom4(bytes)}, Allowed
}

func parsePart(part string) (uint64, bool) {
	base := 10
	switch {
	case part == "0x":
		return 0, true
	case strings.HasPrefix(part, "0x"):
		part, base = part[2:], 16
	case len(part) > 1 && part[0] == '0':
		part, base = part[1:], 8
	}
	n, err := strconv.ParseUint(part, base, 32)
	return n, err == nil && part[0] != '+'
}

// isName reports whether name could be looked up: RFC 1035 section 2.3.4 lengths, and no character that a
// resolver, a log or a header could read as something else.
func isName(name string) bool {
	if name == "" || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// judgeName refuses names that mean this machine, its neighbours or a cloud's metadata service, whatever they
// resolve to: RFC 6761, RFC 6762, RFC 7686, RFC 8375, and ICANN's .internal.
func judgeName(name string) Reason {
	switch name {
	case "metadata", "instance-data", "rancher-metadata", "metadata.google.internal", "metadata.azure.internal",
		"instance-data.ec2.internal", "metadata.goog", "metadata.tencentyun.com", "metadata.packet.net",
		"metadata.platformequinix.com":
		return MetadataName
	case "localhost", "ip6-localhost", "ip6-loopback":
		return LocalName
	}
	for _, zone := range []string{".localhost", ".localdomain", ".local", ".internal", ".home.arpa", ".onion"} {
		if strings.HasSuffix(name, zone) {
			return LocalName
		}
	}
	if !strings.Contains(name, ".") {
		return SingleLabel
	}
	return Allowed
}

// parsePort reads a port in its only canonical spelling.
func parsePort(text string) (uint16, Reason) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != text {
		return 0, BadPort
	}
	return uint16(n), Allowed
}

// splitPort parts an authority without userinfo into host and port text. hasPort tells "host:" from "host".
func splitPort(authority string) (hostText, portText string, hasPort bool) {
	end := strings.LastIndexByte(authority, ':')
	if end < strings.LastIndexByte(authority, ']') || end < 0 {
		return authority, "", false
	}
	return authority[:end], authority[end+1:], true
}
