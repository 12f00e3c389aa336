package chrome

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespaceAttempts are tried in order until one works on this machine.
func namespaceAttempts() [][]string {
	return [][]string{{inNetwork, inProcesses}, {inNetwork}}
}

// namespaces are the attributes that start a process in the namespaces named by words. Who is not root gets a user
// namespace besides, with only the capabilities that settle needs and then drops.
func namespaces(words []string) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	for _, word := range words {
		switch word {
		case inNetwork:
			attr.Cloneflags |= unix.CLONE_NEWNET
		case inProcesses:
			attr.Cloneflags |= unix.CLONE_NEWPID | unix.CLONE_NEWNS
		}
	}
	if attr.Cloneflags != 0 && !isRoot() {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	}
	return attr
}

func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open socket: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("name loopback: %w", err)
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, lo); err != nil {
		return fmt.Errorf("read flags: %w", err)
	}
	lo.SetUint16(lo.Uint16() | unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("set flags: %w", err)
	}
	return nil
}

// mountProc shows the new process namespace its own processes: Chrome writes to /proc by number, and
// the outer /proc would let it name processes of the machine.
func mountProc() error {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	return unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

// dropCapabilities empties the bounding and ambient sets of this thread, so that what it starts has no
// capability, not even as root. Where that is not ours to do there is none to drop either.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient set: %w", err)
	}
	for capability := uintptr(0); ; capability++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
			return nil // past the last one, or an ordinary user, who has none
		}
		if err != nil {
			return fmt.Errorf("drop capability %d: %w", capability, err)
		}
	}
}
