package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

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

// report tells an error of a command, with what to do next, and returns the exit code.
func (a *app) report(cmd *cobra.Command, err error) int {
	var misuse usageError
	var f *fault.Fault
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &misuse):
		tell(a.err, err.Error()+"\nusage: "+usageLine(cmd), meant(cmd)+"See "+cmd.CommandPath()+" --help.")
		return exitUsage
	case errors.As(err, &f):
		a.repeat(err)
		tell(a.err, fmt.Sprintf("%s: %s", f.Code, f.Message), f.Hint)
		if f.Detail != "" {
			_, _ = fmt.Fprintln(a.err, browse.Bounded(f.Detail))
		}
		return exitOf(f.Code)
	}
	hint := "See chaperone doctor."
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		hint = "Check the path, and whether you may write there."
	}
	tell(a.err, err.Error(), hint)
	return exitFailed
}

// repeat prints the API's own words for a refusal, where JSON is wished.
func (a *app) repeat(err error) {
	var told refusal
	if a.json && errors.As(err, &told) {
		_, _ = a.out.Write(told.raw)
	}
}

// usageLine is how a command is typed: with its arguments, or with the names of what is beneath it.
func usageLine(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return cmd.CommandPath() + " COMMAND"
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if len(names) > 0 {
		return cmd.CommandPath() + " " + strings.Join(names, "|")
	}
	return strings.TrimSuffix(cmd.UseLine(), " [flags]")
}

// farthest is how many letters may differ between what was typed and what may have been meant.
const farthest = 2

// meant asks after the command that was typed wrong, where one is like it.
func meant(cmd *cobra.Command) string {
	cmd.SuggestionsMinimumDistance = farthest
	typed := cmd.Flags().Arg(0)
	if typed == "" || !cmd.HasSubCommands() {
		return ""
	}
	if like := cmd.SuggestionsFor(typed); len(like) > 0 {
		return fmt.Sprintf("Did you mean %q? ", like[0])
	}
	return ""
}

func tell(w io.Writer, message, hint string) {
	_, _ = fmt.Fprintln(w, "chaperone: "+message)
	if hint != "" {
		_, _ = fmt.Fprintln(w, "hint: "+hint)
	}
}
