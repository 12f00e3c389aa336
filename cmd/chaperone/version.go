package main

import (
	"runtime"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs, Run: func(*cobra.Command, []string) {
		line(a.out, "chaperone %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	}}
}
