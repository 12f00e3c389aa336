package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"chaperone/packager"
	"chaperone/server"
	"chaperone/server/chrome"
	"chaperone/server/fault"
)

// finding is what doctor learnt about one thing. Bad ones fail the command.
type finding struct {
	name, says string
	bad        bool
}

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
	sick := false
	for _, f := range findings {
		mark := "ok"
		if f.bad {
			mark, sick = "!!", true
		}
		line(a.out, "%s  %-12s %s", mark, f.name, f.says)
	}
	if sick {
		return fault.New(fault.Unavailable, "not all is well", "The lines marked !! say what to do.")
	}
	return nil
}

func browserFound(path string) finding {
	binary, err := chrome.Find(path)
	if err != nil {
		return finding{"browser", err.Error(), true}
	}
	return finding{"browser", binary.Path + " (" + string(binary.Kind) + ")", false}
}

// confinement is never bad: where the kernel cannot, the server says so and flags alone confine.
func confinement(ctx context.Context) finding {
	c := chrome.CheckConfinement(ctx)
	return finding{"confinement", "by " + string(c.Mode) + ": " + c.Reason, false}
}

func dataFolder(path string) finding {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return finding{"data", path + " (will be made)", false}
	case err != nil:
		return finding{"data", err.Error(), true}
	case !info.IsDir():
		return finding{"data", path + " is not a folder: remove it or name another with --data", true}
	case info.Mode().Perm()&0o077 != 0:
		return finding{"data", path + " can be read by others: chmod 700 it", true}
	}
	return finding{"data", path, false}
}

func bundled() finding {
	if _, err := packager.Extension(); err != nil {
		return finding{"extension", err.Error(), true}
	}
	return finding{"extension", "carried by this binary", false}
}

// running is never bad: a server need not run.
func (a *app) running(ctx context.Context) finding {
	info, err := server.ReadInfo(a.data)
	if err != nil {
		return finding{"server", "none is running on this data folder", false}
	}
	c, err := localClient(a.data, info)
	if err == nil {
		_, err = c.call(ctx, "GET", "/readyz", nil)
	}
	if err != nil {
		return finding{"server", info.URL + " does not answer: start it again with chaperone serve", true}
	}
	return finding{"server", info.URL + " is ready, version " + info.Version, false}
}
