package egress

import (
	"net/netip"

	"code.dny.dev/ssrf"
)

// JudgeAddr says whether the proxy may connect to a. It refuses all that the IANA special-purpose registries
// list, mapped and translated forms included, and what they do not list: Azure's wire server, which has a
// public address, and ISATAP identifiers, which carry an IPv4 address of their own. An address with a zone is
// refused whatever it is.
func JudgeAddr(a netip.Addr) Reason {
	if !a.IsValid() {
		return BadAddress
	}
	if a.Zone() != "" {
		return Zone
	}
	a = a.Unmap()
	if ssrf.New(ssrf.WithAnyPort()).SafeAddr(a) != nil {
		return denied(a)
	}
	if isWireServer(a) {
		return Metadata
	}
	if isISATAP(a) {
		return Embedded
	}
	return Allowed
}

// denied names what kind of address a, which is refused already, is.
func denied(a netip.Addr) Reason {
	switch {
	case a.IsUnspecified():
		return Unspecified
	case a.IsLoopback():
		return Loopback
	case a.IsPrivate():
		return Private
	case a.IsLinkLocalUnicast():
		return LinkLocal
	case a.IsMulticast():
		return Multicast
	default:
		return Special
	}
}

func isWireServer(a netip.Addr) bool {
	return a == netip.AddrFrom4([4]byte{168, 63, 129, 16})
}

// isISATAP reports whether the interface identifier is one of RFC 5214 section 6.1: 0000:5efe or 0200:5efe
// before an IPv4 address.
func isISATAP(a netip.Addr) bool {
	if !a.Is6() {
		return false
	}
	b := a.As16()
	return b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}
