package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

// The exit codes of the contract.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitRefused     = 3
	exitUnavailable = 4
)

// exitOf is the one table from a fault's code to the exit code.
func exitOf(code fault.Code) int {
	switch code {
	case fault.BadRequest:
		return exitUsage
	case fault.Unauthorised, fault.Forbidden, fault.ReadOnlyRefused, fault.DomainRefused, fault.URLRefused,
		fault.AddressRefused, fault.FormRefused:
		return exitRefused
	case fault.NotConnected, fault.Busy, fault.Unavailable, fault.RateLimited, fault.ControlledByPerson:
		return exitUnavailable
	case fault.NotFound, fault.StaleRef, fault.Ambiguous, fault.NotVisible, fault.NotEnabled, fault.Covered, fault.NotLanded,
		fault.DialogOpen, fault.BotCheck, fault.NavigationFailed, fault.Timeout, fault.TabClosed, fault.TabSuspended,
		fault.UpdateRequired, fault.SessionEnded, fault.TooLarge, fault.Internal:
	}
	return exitFailed
}

// usageError is a command line that cannot be understood.
type usageError struct{ err error }

func (u usageError) Error() string { return u.err.Error() }
func (u usageError) Unwrap() error { return u.err }

func usage(err error) error { return usageError{err} }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// report tells an error, with what to do next, and returns the exit code.
func report(w io.Writer, err error) int {
	var misuse usageError
	var f *fault.Fault
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &misuse), strings.HasPrefix(err.Error(), "unknown command"):
		// The library has no type for an unknown command.
		tell(w, err.Error(), "See chaperone --help, or --help after any command.")
		return exitUsage
	case errors.As(err, &f):
		tell(w, fmt.Sprintf("%s: %s", f.Code, f.Message), f.Hint)
		if f.Detail != "" {
			_, _ = fmt.Fprintln(w, browse.Bounded(f.Detail))
		}
		return exitOf(f.Code)
	}
	tell(w, err.Error(), "See chaperone doctor.")
	return exitFailed
}

func tell(w io.Writer, message, hint string) {
	_, _ = fmt.Fprintln(w, "chaperone: "+message)
	if hint != "" {
		_, _ = fmt.Fprintln(w, "hint: "+hint)
	}
}
