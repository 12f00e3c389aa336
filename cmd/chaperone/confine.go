package main

import (
	"os"

	"github.com/spf13/cobra"

	"chaperone/server/chrome"
)

// confineCommand is what the server starts itself as, inside fresh namespaces; it is not for people.
func confineCommand() *cobra.Command {
	return &cobra.Command{
		Use: chrome.ConfineCommand, Hidden: true, DisableFlagParsing: true,
		// Its flags are not ours, and neither is its environment.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		Run:               func(_ *cobra.Command, args []string) { os.Exit(chrome.ConfineMain(args)) },
	}
}
