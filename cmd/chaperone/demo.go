package main

import (
	"github.com/spf13/cobra"

	"chaperone/demo"
)

func (a *app) demoCommand() *cobra.Command {
	o := demo.Options{Out: a.out, Version: version}
	cmd := &cobra.Command{
		Use: "demo", Short: "Show the main job for real, in a temporary folder",
		Long: "A server, a browser with the extension, a shared tab, an agent that reads through it and through a managed browser,\n" +
			"a refused write and a verified ledger: one line a step, and nothing is left behind.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return demo.Run(cmd.Context(), o) },
	}
	setting(cmd.Flags(), "chrome", "CHAPERONE_CHROME").StringVar(&o.Chrome, "", "path of the browser")
	return cmd
}
