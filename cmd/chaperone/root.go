package main

import (
	"github.com/spf13/cobra"
)

// app is what every subcommand shares.
type app struct {
	streams
	data string
	json bool
}

func newRoot(s streams) *cobra.Command {
	a := &app{streams: s}
	root := &cobra.Command{
		Use:   "chaperone",
		Short: "A browser for agents, under supervision",
		Long: "Chaperone lends an agent a browser: tabs that you share from your own, or a confined one on this machine.\n" +
			"You watch it live, and a ledger proves afterwards what was done.",
		SilenceUsage: true, SilenceErrors: true,
		Args:              cobra.NoArgs,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return fromEnvironment(cmd) },
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	setting(root.PersistentFlags(), "data", "CHAPERONE_DATA").StringVar(&a.data, defaultData(), "the data folder")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print the API's JSON unchanged")
	root.AddCommand(
		a.serveCommand(), a.demoCommand(), a.browseCommand(), a.sessionCommand(), a.projectCommand(), a.pairCommand(),
		a.extensionCommand(), a.ledgerCommand(), a.tokenCommand(), a.mcpCommand(), a.egressCommand(), a.doctorCommand(),
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
			if err := check(cmd, args); err != nil {
				return usage(err)
			}
			return nil
		}
	}
	for _, c := range cmd.Commands() {
		usageOfArgs(c)
	}
}
