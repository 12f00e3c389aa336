package main

import (
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"
)

type tokenView struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Project string    `json:"project"`
	Role    string    `json:"role"`
	Expires time.Time `json:"expires"`
	Revoked bool      `json:"revoked"`
	Token   string    `json:"token"`
}

func (t tokenView) state() string {
	switch {
	case t.Revoked:
		return "revoked"
	case t.Expires.Before(time.Now()):
		return "expired"
	}
	return "valid"
}

func (a *app) tokenCommand() *cobra.Command {
	return group("token", "Make and revoke tokens for agents", a.tokenCreate(), a.tokenList(), a.tokenRevoke())
}

func (a *app) tokenCreate() *cobra.Command {
	var project, name, role string
	var expires time.Duration
	cmd := &cobra.Command{
		Use: "create", Short: "Make a token for one project and print it, this once",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if expires < time.Second {
				return usagef("a token is valid for a second at least: --expires 12h")
			}
			c, err := a.dial()
			if err != nil {
				return err
			}
			if project, err = c.projectName(cmd.Context(), project); err != nil {
				return err
			}
			raw, err := c.call(cmd.Context(), http.MethodPost, "/api/v1/tokens", map[string]any{
				"name": name, "project": project, "role": role, "expires_s": int64(expires / time.Second),
			})
			if err != nil {
				return err
			}
			return show(a, raw, func(w io.Writer, t tokenView) { line(w, "%s", t.Token) })
		},
	}
	projectFlag(cmd, &project)
	cmd.Flags().StringVar(&name, "name", "agent", "what it is for")
	role = "control"
	cmd.Flags().Var(choose(&role, "observe", "control"), "role", "how far it reaches")
	expires = 90 * 24 * time.Hour
	cmd.Flags().Var((*span)(&expires), "expires", "valid for so long, a year at most")
	return cmd
}

func (a *app) tokenList() *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List the tokens, newest first", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		c, err := a.dial()
		if err != nil {
			return err
		}
		raw, err := c.call(cmd.Context(), http.MethodGet, "/api/v1/tokens", nil)
		if err != nil {
			return err
		}
		return show(a, raw, printTokens)
	}}
}

func printTokens(w io.Writer, tokens list[tokenView]) {
	rows := make([][]string, 0, len(tokens.Items))
	for _, t := range tokens.Items {
		rows = append(rows, []string{t.ID, t.Name, t.Role, t.state(), t.Expires.Local().Format(time.DateOnly), t.Project})
	}
	table(w, []string{"TOKEN", "NAME", "ROLE", "STATE", "EXPIRES", "PROJECT"}, rows)
}

func (a *app) tokenRevoke() *cobra.Command {
	return &cobra.Command{Use: "revoke TOKEN", Short: "End a token at once, by its id", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		c, err := a.dial()
		if err != nil {
			return err
		}
		_, err = c.call(cmd.Context(), http.MethodDelete, "/api/v1/tokens/"+url.PathEscape(args[0]), nil)
		return err
	}}
}
