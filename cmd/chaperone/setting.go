package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// environmentKey is where a flag keeps the name of its environment variable.
const environmentKey = "environment"

// declared is a flag that the environment may set too: flag, else environment, else default.
type declared struct {
	flags             *pflag.FlagSet
	name, environment string
}

func setting(flags *pflag.FlagSet, name, environment string) declared {
	return declared{flags, name, environment}
}

func (d declared) usage(text string) string { return text + " (" + d.environment + ")" }

func (d declared) done() {
	d.flags.Lookup(d.name).Annotations = map[string][]string{environmentKey: {d.environment}}
}

// StringVar declares a text.
func (d declared) StringVar(p *string, value, usage string) {
	d.flags.StringVar(p, d.name, value, d.usage(usage))
	d.done()
}

// IntVar declares a whole number.
func (d declared) IntVar(p *int, value int, usage string) {
	d.flags.IntVar(p, d.name, value, d.usage(usage))
	d.done()
}

// BoolVar declares a switch that is off by default.
func (d declared) BoolVar(p *bool, usage string) {
	d.flags.BoolVar(p, d.name, false, d.usage(usage))
	d.done()
}

// SpanVar declares a length of time, which may be in days: 30d.
func (d declared) SpanVar(p *time.Duration, value time.Duration, usage string) {
	*p = value
	d.flags.Var((*span)(p), d.name, d.usage(usage))
	d.done()
}

// fromEnvironment sets the flags that the command line left alone.
func fromEnvironment(cmd *cobra.Command) error {
	var failed error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		names := f.Annotations[environmentKey]
		if f.Changed || len(names) == 0 {
			return
		}
		if value := os.Getenv(names[0]); value != "" {
			if err := f.Value.Set(value); err != nil && failed == nil {
				failed = usagef("%s: %q is not %s", names[0], value, wanted(f))
			}
		}
	})
	return failed
}

// misfit says in words what is wrong with a flag.
func misfit(err error) error {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f := bad.GetFlag()
		return usagef("--%s: %q is not %s", f.Name, bad.GetValue(), wanted(f))
	}
	return usage(err)
}

// wanted is what a flag's value has to be.
func wanted(f *pflag.Flag) string {
	switch value := f.Value.(type) {
	case *choice:
		return "one of " + strings.Join(value.options, ", ")
	case *span:
		return "a length of time such as 5s, 10m or 30d"
	}
	switch f.Value.Type() {
	case "int":
		return "a whole number"
	case "bool":
		return "true or false"
	}
	return "what it takes: see --help"
}

// choice is a text that is one of a few; empty is none of them.
type choice struct {
	into    *string
	options []string
}

func choose(into *string, options ...string) *choice { return &choice{into, options} }

func backendChoice(into *string) *choice { return choose(into, "managed", "shared", "attached") }

// String is what was chosen.
func (c *choice) String() string {
	if c.into == nil {
		return ""
	}
	return *c.into
}

// Set chooses.
func (c *choice) Set(text string) error {
	if text != "" && !slices.Contains(c.options, text) {
		return fmt.Errorf("%q is not one of %s", text, strings.Join(c.options, ", "))
	}
	*c.into = text
	return nil
}

// Type names the options in the help.
func (c *choice) Type() string { return strings.Join(c.options, "|") }

// span is a duration that is also written in days.
type span time.Duration

// String writes whole days as days.
func (s *span) String() string {
	const day = 24 * time.Hour
	d := time.Duration(*s)
	if d >= day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	return d.String()
}

// Set reads a duration.
func (s *span) Set(text string) error {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 0 || n > 36500 {
			return fmt.Errorf("%q is not a number of days", text)
		}
		*s = span(time.Duration(n) * 24 * time.Hour)
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a length of time such as 90s, 5m or 30d", text)
	}
	*s = span(d)
	return nil
}

// Type names the kind in the help.
func (s *span) Type() string { return "time" }

// defaultData is the data folder by the XDG base directory specification.
func defaultData() string {
	if base := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "chaperone")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "share", "chaperone")
}
