package main

import (
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) dashboardCommand() *cobra.Command {
	return &cobra.Command{Use: "dashboard", Short: "Print a fresh link that logs you in to the dashboard, once", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		c, err := a.dial()
		if err != nil {
			return err
		}
		raw, err := c.call(cmd.Context(), http.MethodPost, "/api/v1/auth/link", nil)
		if err != nil {
			return err
		}
		return show(a, raw, func(w io.Writer, link struct {
			URL     string    `json:"url"`
			Expires time.Time `json:"expires_at"`
		},
		) {
			line(w, "%s", link.URL)
			line(a.err, "It logs in once, until %s.", link.Expires.Local().Format("15:04 MST"))
		})
	}}
}
