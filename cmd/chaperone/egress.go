package main

import (
	"log/slog"
	"net"

	"github.com/spf13/cobra"

	"chaperone/egress"
)

func (a *app) egressCommand() *cobra.Command {
	c := egress.Config{Logger: slog.New(slog.NewTextHandler(a.err, nil))}
	cmd := &cobra.Command{
		Use: "egress", Short: "Run the egress proxy alone",
		Long: "Run the forward proxy that managed browsers reach the network by: public addresses only, ports 80 and 443 only, each\n" +
			"decision a line of the log. It prints the address it listens on.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkAddress("listen", c.Listen); err != nil {
				return err
			}
			c.Ready = func(at net.Addr) { line(a.out, "http://%s", at) }
			return untaken(egress.Run(cmd.Context(), c), "listen", c.Listen)
		},
	}
	cmd.Flags().StringVar(&c.Listen, "listen", "127.0.0.1:3128", "listen on this host:port; port 0 takes a free one")
	cmd.Flags().StringArrayVar(&c.TestOrigins, "test-origin", nil, "for tests alone: admit this exact http://127.0.0.1:PORT (repeatable)")
	return cmd
}
