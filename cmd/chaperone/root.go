package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// app is what every subcommand shares.
type app struct {
	streams
	data string
	json bool
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "chaperone",
		Short: "A browser for agents, under supervision",
		Long: "Chaperone lends an agent a browser: tabs that you share from your own, or a confined one on this machine.\n" +
			"You watch it live, and a ledger proves afterwards what was done.\n\n" +
			"The commands find a server on this machine by its data folder. Elsewhere set CHAPERONE_URL to the server's address and\n" +
			"CHAPERONE_TOKEN to a token that \"chaperone token create\" printed there.",
		SilenceUsage: true, SilenceErrors: true,
		Args:              cobra.NoArgs,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return fromEnvironment(cmd) },
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return misfit(err) })
	setting(root.PersistentFlags(), "data", "CHAPERONE_DATA").StringVar(&a.data, defaultData(), "the data folder")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print the API's JSON unchanged")
	root.AddCommand(
		a.serveCommand(), a.demoCommand(), a.browseCommand(), a.sessionCommand(), a.projectCommand(), a.dashboardCommand(), a.pairCommand(),
		a.extensionCommand(), a.cdpCommand(), a.ledgerCommand(), a.tokenCommand(), a.mcpCommand(), a.egressCommand(), a.doctorCommand(),
		a.versionCommand(), confineCommand(),
	)
	usageOfArgs(root)
	return root
}

// group is a command that only has subcommands: without one, or with an unknown one, it is used wrongly.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return usagef("%s needs a subcommand", cmd.CommandPath())
	}}
	g.AddCommand(commands...)
	return g
}

// usageOfArgs makes wrong arguments of every command usage errors.
func usageOfArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			var own usageError
			switch {
			case err == nil, errors.As(err, &own):
				return err
			case cmd.HasSubCommands():
				return usage(err)
			case len(args) == 0:
				return usagef("an argument is missing")
			}
			return usagef("these arguments do not fit")
		}
	}
	for _, c := range cmd.Commands() {
		usageOfArgs(c)
	}
}
