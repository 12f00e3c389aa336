package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"chaperone/packager"
	"chaperone/server"
	"chaperone/server/chrome"
	"chaperone/server/fault"
)

// finding is what doctor learnt about one thing.
type finding struct {
	Name  string `json:"name"`
	State state  `json:"state"`
	Says  string `json:"says"`
}

// state is how a thing is; bad ones fail the command.
type state string

const (
	good   state = "ok"
	absent state = "--" // and need not be there
	bad    state = "!!"
)

func (a *app) doctorCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: "doctor", Short: "Say what this machine has and lacks",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := []finding{
				browserFound(path), confinement(cmd.Context()), dataFolder(a.data), bundled(), a.running(cmd.Context()),
			}
			return a.tellFindings(findings)
		},
	}
	setting(cmd.Flags(), "chrome", "CHAPERONE_CHROME").StringVar(&path, "", "path of the browser")
	return cmd
}

func (a *app) tellFindings(findings []finding) error {
	err := tellOwn(a, findings, func(w io.Writer, findings []finding) {
		for _, f := range findings {
			line(w, "%s  %-12s %s", f.State, f.Name, f.Says)
		}
	})
	if err == nil && slices.ContainsFunc(findings, func(f finding) bool { return f.State == bad }) {
		return fault.New(fault.Unavailable, "not all is well", "The lines marked !! say what to do.")
	}
	return err
}

func browserFound(path string) finding {
	binary, err := chrome.Find(path)
	switch {
	case err == nil:
		return finding{"browser", good, binary.Path + " (" + string(binary.Kind) + ")"}
	case path != "":
		return finding{"browser", bad, path + " is no program: name another with --chrome, or leave it out to look for one"}
	}
	return finding{"browser", bad, "none was found: install Chromium, Chrome or Edge, or name one with --chrome"}
}

// confinement is never bad: where the kernel cannot, the server says so and flags alone confine.
func confinement(ctx context.Context) finding {
	c := chrome.CheckConfinement(ctx)
	return finding{"confinement", good, "by " + string(c.Mode) + ": " + c.Reason}
}

func dataFolder(path string) finding {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return newFolder(path)
	case err != nil:
		return finding{"data", bad, path + " cannot be used: name another folder with --data"}
	case !info.IsDir():
		return finding{"data", bad, path + " is not a folder: remove it or name another with --data"}
	case info.Mode().Perm()&0o077 != 0:
		return finding{"data", bad, path + " can be read by others: chmod 700 " + path}
	case !isWritable(path):
		return finding{"data", bad, path + " cannot be written: give it to this user or name another with --data"}
	}
	return finding{"data", good, path}
}

// newFolder judges a folder that is to be made, by the nearest one that is there.
func newFolder(path string) finding {
	above := filepath.Dir(path)
	for above != filepath.Dir(above) {
		if _, err := os.Stat(above); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		above = filepath.Dir(above)
	}
	if path == "" || !isWritable(above) {
		return finding{"data", bad, path + " cannot be made: name another folder with --data"}
	}
	return finding{"data", good, path + " (will be made)"}
}

// isWritable tries: permissions alone do not say what the kernel will.
func isWritable(folder string) bool {
	trial, err := os.MkdirTemp(folder, ".chaperone-doctor-")
	return err == nil && os.Remove(trial) == nil
}

func bundled() finding {
	if _, err := packager.Extension(); err != nil {
		return finding{"extension", bad, "this binary does not carry it: build it with make build"}
	}
	return finding{"extension", good, "carried by this binary"}
}

// running need not be: a server that is not there is no fault.
func (a *app) running(ctx context.Context) finding {
	info, err := server.ReadInfo(a.data)
	if fault.Is(err, fault.NotConnected) {
		return finding{"server", absent, "none is running on this data folder; start one with chaperone serve"}
	}
	if err != nil {
		return finding{"server", bad, filepath.Join(a.data, server.InfoFile) + " cannot be read: delete it and start chaperone serve"}
	}
	c, err := localClient(a.data, info)
	if err == nil {
		_, err = c.call(ctx, "GET", "/readyz", nil)
	}
	if err != nil {
		return finding{"server", bad, info.URL + " does not answer: start it again with chaperone serve"}
	}
	return finding{"server", good, info.URL + " is ready, version " + info.Version}
}
