package main

import (
	"io"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"
)

// cdpAccess is what the command reads of a session's CDP endpoint.
type cdpAccess struct {
	WS      string   `json:"ws"`
	HTTP    string   `json:"http"`
	Notices []string `json:"notices"`
}

func (a *app) cdpCommand() *cobra.Command {
	var revoke bool
	cmd := &cobra.Command{
		Use: "cdp SESSION", Short: "Let CDP clients drive a session, and print the address for them",
		Long: "Print the WebSocket address of the session's private CDP endpoint, for Playwright, Puppeteer, agent-browser and the like. Whoever\n" +
			"has the address drives the session's tabs, under the same rules and into the same ledger as everybody: keep it secret. It lasts\n" +
			"until --revoke, the session's end, or the end of the token that asked for it. The project must be interactive.\n" +
			"Of your own tabs clients see those shared to Act. agent-browser keeps an old address until: agent-browser close",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.dial()
			if err != nil {
				return err
			}
			method := http.MethodPost
			if revoke {
				method = http.MethodDelete
			}
			raw, err := c.call(cmd.Context(), method, "/api/v1/sessions/"+url.PathEscape(args[0])+"/cdp", nil)
			if err != nil {
				return err
			}
			if revoke {
				a.note("the endpoint has ended, and its clients are cut off")
				return nil
			}
			return show(a, raw, a.printAccess)
		},
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, "end the endpoint and cut its clients off")
	return cmd
}

func (a *app) printAccess(w io.Writer, access cdpAccess) {
	line(w, "%s", access.WS)
	a.note("Playwright: chromium.connectOverCDP(ADDRESS) · agent-browser: agent-browser --cdp ADDRESS open URL · others: %s", access.HTTP)
	for _, notice := range access.Notices {
		a.note("%s", notice)
	}
}
