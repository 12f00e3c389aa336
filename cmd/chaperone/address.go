package main

import (
	"context"
	"errors"
	"net"
	"strconv"
	"syscall"

	"chaperone/server/fault"
)

// checkAddress refuses a flag's value that is not an address to listen on.
func checkAddress(flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return usagef("--%s: %q is not a host:port such as 127.0.0.1:7788", flag, address)
	}
	return nil
}

// tryAddress takes an address and gives it back, so that one that cannot be had is told before anything is made.
func tryAddress(ctx context.Context, flag, address string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return untaken(err, flag, address)
	}
	return listener.Close()
}

// untaken says in words why an address could not be taken; any other error stays as it is.
func untaken(err error, flag, address string) error {
	hint := "Choose another with --" + flag + ", such as --" + flag + " 127.0.0.1:0 for any that is free."
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fault.New(fault.Unavailable, "the address "+address+" is in use", "Stop what listens there, or choose another with --"+flag+".")
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return fault.New(fault.Unavailable, "this user may not listen on "+address, hint)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fault.New(fault.Unavailable, address+" is not an address of this machine", hint)
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return fault.New(fault.Unavailable, "the host of "+address+" is not known", hint)
	}
	return err
}
