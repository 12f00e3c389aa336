package main

import (
	"io"
	"runtime"

	"github.com/spf13/cobra"
)

// build is what this binary is.
type build struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		return tellOwn(a, build{version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}, func(w io.Writer, b build) {
			line(w, "chaperone %s (%s, %s)", b.Version, b.Go, b.Platform)
		})
	}}
}
