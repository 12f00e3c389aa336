package egress_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// binaryKey is set for the process inside the network: the path of the chaperone under test.
const binaryKey = "CHAPERONE_EGRESS_E2E_BINARY"

func TestMain(m *testing.M) {
	var code int
	var err error
	if os.Getenv(binaryKey) == "" {
		code, err = outside()
	} else if err = makeNetwork(); err == nil {
		code = m.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

// outside builds the binary and runs this one again, inside.
func outside() (int, error) {
	dir, err := os.MkdirTemp("", "egress-e2e-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary := filepath.Join(dir, "chaperone")
	ctx := context.Background()
	build := exec.CommandContext(ctx, "go", "build", "-race", "-o", binary, "chaperone/cmd/chaperone")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return 0, fmt.Errorf("build the binary under test: %w", err)
	}
	again := exec.CommandContext(ctx, os.Args[0], os.Args[1:]...)
	again.Env = append(os.Environ(), binaryKey+"="+binary)
	again.Stdin, again.Stdout, again.Stderr = os.Stdin, os.Stdout, os.Stderr
	again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		again.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		again.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		again.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	err = again.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}
