package egress

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// origins are the exact test origins, as host:port. They are http; a name among them is localhost.
type origins map[string]struct{}

// CheckTestOrigins says whether each is an exact origin that may be admitted for tests.
func CheckTestOrigins(list []string) error {
	_, err := parseOrigins(list)
	return err
}

func parseOrigins(list []string) (origins, error) {
	set := make(origins, len(list))
	for _, raw := range list {
		authority, ok := strings.CutPrefix(raw, "http://")
		hostText, portText, _ := splitPort(authority)
		_, reason := parsePort(portText)
		if !ok || !reason.IsAllowed() || (hostText != "127.0.0.1" && hostText != "localhost") {
			return nil, fmt.Errorf("read test origin %q: want http://127.0.0.1:PORT or http://localhost:PORT", raw)
		}
		set[authority] = struct{}{}
	}
	return set, nil
}

func (o origins) has(h host, port uint16) bool {
	_, ok := o[hostPort(h, port)]
	return ok
}

func hostPort(h host, port uint16) string { return h.String() + ":" + strconv.Itoa(int(port)) }

// testAddress is where every test origin is dialed, localhost too: no resolver has a say.
func testAddress() netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, 1}) }
