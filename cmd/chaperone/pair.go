package main

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"
)

func (a *app) pairCommand() *cobra.Command {
	var project string
	var reset, revoke bool
	cmd := &cobra.Command{
		Use: "pair", Short: "Print the connection code for the extension",
		Long: "Print the connection code: paste it into the extension's popup. The code stays the same until --reset, which disconnects every\n" +
			"browser of the account (the next chaperone pair prints the new one); --revoke forgets this project's pairing alone.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if reset && revoke {
				return usagef("--reset and --revoke exclude each other")
			}
			c, err := a.dial()
			if err != nil {
				return err
			}
			if reset {
				return a.resetPairing(cmd.Context(), c)
			}
			name, err := c.projectName(cmd.Context(), project)
			if err != nil {
				return err
			}
			return a.pair(cmd, c, "/api/v1/projects/"+url.PathEscape(name)+"/pairing", revoke)
		},
	}
	projectFlag(cmd, &project)
	cmd.Flags().BoolVar(&reset, "reset", false, "replace the account's pairing token: every browser has to be paired again")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "forget this project's pairing")
	return cmd
}

func (a *app) resetPairing(ctx context.Context, c *client) error {
	if _, err := c.call(ctx, http.MethodPost, "/api/v1/pairing/reset", nil); err != nil {
		return err
	}
	line(a.err, "Every browser is disconnected and the old code is void. For the new code run: chaperone pair")
	return nil
}

func (a *app) pair(cmd *cobra.Command, c *client, path string, revoke bool) error { //nolint:revive // the flag is the command line's
	if revoke {
		if _, err := c.call(cmd.Context(), http.MethodPost, path+"/disconnect", nil); err != nil {
			return err
		}
		a.note("the project's pairing is forgotten and its browser disconnected; to connect again, paste the code that chaperone pair prints")
		return nil
	}
	raw, err := c.call(cmd.Context(), http.MethodPost, path+"/code", nil)
	if err != nil {
		return err
	}
	return show(a, raw, func(w io.Writer, answer struct {
		Code string `json:"code"`
	},
	) {
		line(w, "%s", answer.Code)
	})
}
