package browse

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"chaperone/server/fault"
)

// CheckURL reads an address as a browser would and answers its normal form. What a browser would read in
// another way than it is written (control characters, backslashes, credentials, missing slashes, escaped
// hosts) is url_refused, and so is everything but http, https and about:blank.
func CheckURL(raw string) (string, error) {
	if raw == "about:blank" {
		return raw, nil
	}
	for _, r := range raw {
		if r == utf8.RuneError || r <= ' ' || r == 0x7f || r == '\\' {
			return "", refusedURL("it holds a space, a backslash or a character that is none")
		}
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "", refusedURL("it is not an address")
	}
	if err := checkParts(u, raw); err != nil {
		return "", err
	}
	host, err := normalHost(u.Hostname())
	if err != nil {
		return "", err
	}
	u.Host = joined(host, u.Port())
	return u.String(), nil
}

func refusedURL(why string) error {
	return fault.New(fault.URLRefused, "The address was refused: "+why, "Use an http or https address, written out in full.")
}

func checkParts(u *url.URL, raw string) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return refusedURL("only http, https and about:blank are opened")
	case !strings.HasPrefix(raw[len(u.Scheme):], "://") || u.Host == "":
		return refusedURL("it has no // and host")
	case u.User != nil || strings.Contains(u.Host, "@"):
		return refusedURL("it holds credentials")
	case strings.Contains(authority(raw), "%"):
		return refusedURL("its host is escaped")
	}
	return checkPort(u)
}

func checkPort(u *url.URL) error {
	port := u.Port()
	if port == "" && !strings.HasSuffix(u.Host, ":") {
		return nil
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 1 || n > 65535 || port != strconv.Itoa(n) {
		return refusedURL("its port is not one")
	}
	return nil
}

// authority is the part between // and path, as it was written.
func authority(raw string) string {
	_, rest, _ := strings.Cut(raw, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		return rest[:end]
	}
	return rest
}

// normalHost is the host as Chrome will dial it: IDNA in ASCII, lower case, and every spelling of an IPv4
// address as four decimal numbers (WHATWG URL, host parsing).
func normalHost(host string) (string, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return "", refusedURL("its host has a zone")
		}
		return addr.String(), nil
	}
	ascii, err := idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(false)).ToASCII(strings.TrimSuffix(host, "."))
	if err != nil || !isName(ascii) {
		return "", refusedURL("its host is not a name")
	}
	if !endsInNumber(ascii) {
		return ascii, nil
	}
	addr, ok := oddIPv4(ascii)
	if !ok {
		return "", refusedURL("its host is neither a name nor an address")
	}
	return addr.String(), nil
}

// isName admits what a domain name is spelt with; underscores occur in real ones.
func isName(host string) bool {
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

func joined(host, port string) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == "" {
		return host
	}
	return host + ":" + port
}

func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	_, err := number(last)
	return err == nil || strings.Trim(last, "0123456789") == ""
}

func number(part string) (uint64, error) {
	lower := strings.ToLower(part)
	switch {
	case strings.HasPrefix(lower, "0x"):
		return strconv.ParseUint("0"+lower[2:], 16, 64)
	case len(lower) > 1 && lower[0] == '0':
		return strconv.ParseUint(lower, 8, 64)
	}
	return strconv.ParseUint(lower, 10, 64)
}

// oddIPv4 reads one to four numbers, decimal, octal or hexadecimal, the last of which fills what is left.
func oddIPv4(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		n, err := number(part)
		last := i == len(parts)-1
		most := uint64(255)
		if last {
			most = 1<<(8*(5-len(parts))) - 1
		}
		if err != nil || n > most {
			return netip.Addr{}, false
		}
		if last {
			sum += n
		} else {
			sum += n << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

// checkOpen is what open may go to: CheckURL, the project's domains, private addresses, and the session's own check.
func (o Options) checkOpen(raw string) (string, error) {
	normal, err := CheckURL(raw)
	if err != nil {
		return "", err
	}
	if !o.allows(normal) {
		return "", fault.New(fault.DomainRefused, "The project does not allow this domain", "Allowed: "+strings.Join(o.AllowDomains, ", "))
	}
	if o.CheckURL == nil {
		return normal, nil
	}
	if err := o.CheckURL(normal); err != nil {
		if fault.Of(err).Code != fault.Internal {
			return "", err
		}
		return "", fault.New(fault.URLRefused, "The address was refused: "+err.Error(), "Open another address.")
	}
	return normal, nil
}

// allows reports whether the main frame may stand at the address.
func (o Options) allows(raw string) bool {
	if len(o.AllowDomains) == 0 || raw == "" || raw == "about:blank" {
		return true
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	host, err := normalHost(u.Hostname())
	return err == nil && slices.ContainsFunc(o.AllowDomains, func(pattern string) bool { return covers(pattern, host) })
}

func covers(pattern, host string) bool {
	pattern = strings.ToLower(strings.TrimSpace(pattern))
	if bare, wild := strings.CutPrefix(pattern, "*."); wild {
		return host == bare || strings.HasSuffix(host, "."+bare)
	}
	return host == pattern
}
