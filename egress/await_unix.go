//go:build unix

package egress

import (
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// awaitBytes waits until conn has something to read, its end included, and holds nothing meanwhile: no buffer and no
// pipe. It errs when the connection is closed.
func awaitBytes(conn net.Conn) error {
	bare, ok := conn.(syscall.Conn)
	if !ok {
		return nil // whoever copies waits
	}
	raw, err := bare.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(hasBytes)
}

// hasBytes reports whether a read would not wait; an error of the socket is for that read to tell.
func hasBytes(fd uintptr) bool {
	var one [1]byte
	_, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR)
}
