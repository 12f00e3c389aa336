package egress_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
)

// The addresses of the network. None is assigned to an interface but source, so that the proxy takes none but that for
// the machine's own: what is routed to lo as local can be listened on all the same.
const (
	source     = "192.0.2.1"
	publicNet  = "93.184.216.0/24"
	goodAddr   = "93.184.216.34"
	otherAddr  = "93.184.216.35"
	nameServer = "127.0.0.53"
)

// makeNetwork makes this process's fresh namespaces a small internet.
func makeNetwork() error {
	if err := resolveHere(); err != nil {
		return fmt.Errorf("make the network: %w", err)
	}
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return err
	}
	addr, public := netip.MustParseAddr(source).As4(), netip.MustParsePrefix(publicNet)
	to, index := public.Addr().As4(), binary.NativeEndian.AppendUint32(nil, uint32(lo.Index))
	requests := []struct {
		kind uint16
		body []byte
	}{
		{syscall.RTM_NEWLINK, join([]byte{0, 0, 0, 0}, index, words(syscall.IFF_UP, syscall.IFF_UP))},
		{syscall.RTM_NEWADDR, join([]byte{syscall.AF_INET, 32, 0, syscall.RT_SCOPE_UNIVERSE}, index, attribute(syscall.IFA_LOCAL, addr[:]))},
		{syscall.RTM_NEWROUTE, join(
			[]byte{syscall.AF_INET, byte(public.Bits()), 0, 0, syscall.RT_TABLE_LOCAL, syscall.RTPROT_BOOT, syscall.RT_SCOPE_HOST, syscall.RTN_LOCAL},
			words(0), attribute(syscall.RTA_DST, to[:]), attribute(syscall.RTA_OIF, index), attribute(syscall.RTA_PREFSRC, addr[:]))},
	}
	for _, r := range requests {
		if err := ask(r.kind, r.body); err != nil {
			return fmt.Errorf("make the network: request %d: %w", r.kind, err)
		}
	}
	return nil
}

// resolveHere lets the resolver ask nameServer alone.
func resolveHere() error {
	if err := syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""); err != nil {
		return err
	}
	file, err := os.CreateTemp("", "resolv-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if _, err := fmt.Fprintf(file, "nameserver %s\noptions timeout:2 attempts:1\n", nameServer); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	at, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err != nil {
		return err
	}
	return syscall.Mount(file.Name(), at, "", syscall.MS_BIND, "")
}

func join(parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func words(values ...uint32) []byte {
	var all []byte
	for _, v := range values {
		all = binary.NativeEndian.AppendUint32(all, v)
	}
	return all
}

// attribute is a route attribute (rtnetlink(7)); every value here is of four bytes, so that nothing is padded.
func attribute(kind uint16, value []byte) []byte {
	head := binary.NativeEndian.AppendUint16(nil, uint16(4+len(value)))
	return join(binary.NativeEndian.AppendUint16(head, kind), value)
}

// ask sends one request to the kernel's routing and reads its word.
func ask(kind uint16, body []byte) error {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, syscall.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }()
	const flags = syscall.NLM_F_REQUEST | syscall.NLM_F_ACK | syscall.NLM_F_CREATE
	head := words(uint32(syscall.NLMSG_HDRLEN + len(body)))
	head = binary.NativeEndian.AppendUint16(binary.NativeEndian.AppendUint16(head, kind), flags)
	if err := syscall.Sendto(fd, join(head, words(1, 0), body), 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	n, _, err := syscall.Recvfrom(fd, answer, 0)
	if err != nil || n < syscall.NLMSG_HDRLEN+4 {
		return fmt.Errorf("no answer of the kernel: %w", err)
	}
	if code := int32(binary.NativeEndian.Uint32(answer[syscall.NLMSG_HDRLEN:])); code != 0 {
		return syscall.Errno(-code)
	}
	return nil
}
