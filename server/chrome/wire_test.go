package chrome_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// wire takes down what goes over all devices of a network namespace.
type wire struct {
	file *os.File
	pid  int // of a process in the namespace

	mu   sync.Mutex
	seen []string // "UDP 127.0.0.1:53", "TCP [::1]:80": where first packets go
	done chan struct{}
}

// tap listens in the namespace of a process; root alone may.
func tap(t *testing.T, pid int) *wire {
	t.Helper()
	fd := -1
	inNamespaceOf(t, pid, func() error {
		var err error
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, int(bigEndian(unix.ETH_P_ALL)))
		return errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 32<<20))
	})
	w := &wire{file: os.NewFile(uintptr(fd), "loopback"), pid: pid, done: make(chan struct{})}
	go w.read()
	t.Cleanup(w.stop)
	return w
}

// leadToLoopback has what would leave a namespace that knows no way out stay in it, where it is seen.
func leadToLoopback(t *testing.T, pid int) {
	t.Helper()
	inNamespaceOf(t, pid, func() error { return configure(t, "route replace default dev lo") })
}

// becomeAMachine gives a fresh namespace what a machine on a network has: a device with an address and a way to everywhere.
func becomeAMachine(t *testing.T) {
	t.Helper()
	err := configure(t,
		"link set lo up", "link add eth9 type veth peer name eth8", "addr add 192.0.2.1/24 dev eth9", "link set eth9 up", "link set eth8 up",
		"neigh add 192.0.2.2 lladdr 02:00:00:00:00:01 dev eth9", "route add default via 192.0.2.2")
	if err != nil {
		t.Fatal(err)
	}
}

func configure(t *testing.T, commands ...string) error {
	t.Helper()
	ip := exec.CommandContext(t.Context(), "ip", "-batch", "-")
	ip.Stdin = strings.NewReader(strings.Join(commands, "\n"))
	if out, err := ip.CombinedOutput(); err != nil {
		return fmt.Errorf("configure the network: %w: %s", err, out)
	}
	return nil
}

func bigEndian(n uint16) uint16 { return n<<8 | n>>8 }

// inNamespaceOf runs something on a thread of its own in the network namespace of a process.
func inNamespaceOf(t *testing.T, pid int, do func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // it ends with the goroutine: nobody else gets the thread
		space, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
		if err != nil {
			done <- err
			return
		}
		defer func() { _ = space.Close() }()
		if err := unix.Setns(int(space.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- err
			return
		}
		done <- do()
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func (w *wire) read() {
	defer close(w.done)
	packet := make([]byte, 64<<10)
	for {
		n, err := w.file.Read(packet)
		if err != nil {
			return
		}
		if to := destination(packet[:n]); to != "" {
			w.mu.Lock()
			if !slices.Contains(w.seen, to) {
				w.seen = append(w.seen, to)
			}
			w.mu.Unlock()
		}
	}
}

// stop reads what is left and ends the listening.
func (w *wire) stop() {
	_ = w.file.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	<-w.done
	_ = w.file.Close()
}

// astray lists where packets went that are for none of these ports: nobody but Chrome sends any in the namespace.
func (w *wire) astray(permitted []int) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var astray []string
	for _, to := range w.seen {
		port, _ := strconv.Atoi(to[strings.LastIndexByte(to, ':')+1:])
		if !strings.HasPrefix(to, "TCP ") || !slices.Contains(permitted, port) {
			astray = append(astray, to)
		}
	}
	return astray
}

// listening lists the TCP ports that somebody listens at in the namespace.
func (w *wire) listening(t *testing.T) []int {
	t.Helper()
	var ports []int
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", w.pid, table))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			field := strings.Fields(line)
			if len(field) < 4 || field[3] != "0A" { // LISTEN
				continue
			}
			_, hex, _ := strings.Cut(field[1], ":")
			port, err := strconv.ParseInt(hex, 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			ports = append(ports, int(port))
		}
	}
	return ports
}

// destination reads an Ethernet frame: where a UDP packet or the first packet of a TCP connection goes, else nothing.
func destination(frame []byte) string {
	if len(frame) < 14+20 {
		return ""
	}
	packet := frame[14:]
	switch binary.BigEndian.Uint16(frame[12:]) {
	case unix.ETH_P_IP:
		head := int(packet[0]&0xf) * 4
		to, _ := netip.AddrFromSlice(packet[16:20])
		return first(packet[9], to, packet[min(head, len(packet)):])
	case unix.ETH_P_IPV6:
		if len(packet) < 40 {
			return ""
		}
		to, _ := netip.AddrFromSlice(packet[24:40])
		return first(packet[6], to, packet[40:])
	}
	return ""
}

func first(protocol byte, to netip.Addr, segment []byte) string {
	if len(segment) < 8 {
		return ""
	}
	at := netip.AddrPortFrom(to, binary.BigEndian.Uint16(segment[2:]))
	switch {
	case protocol == unix.IPPROTO_UDP:
		return "UDP " + at.String()
	case protocol == unix.IPPROTO_TCP && len(segment) >= 14 && segment[13]&0x12 == 0x02: // SYN without ACK
		return "TCP " + at.String()
	}
	return ""
}
