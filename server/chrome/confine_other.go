//go:build !linux

package chrome

import (
	"errors"
	"syscall"
)

func namespaceAttempts() [][]string { return nil }

func namespaces([]string) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func raiseLoopback() error { return errors.ErrUnsupported }

func mountProc() error { return errors.ErrUnsupported }

func dropCapabilities() error { return nil }
