package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

// sessionView is what the commands read of a session.
type sessionView struct {
	ID          string    `json:"id"`
	ProjectName string    `json:"project_name"`
	Backend     string    `json:"backend"`
	Policy      string    `json:"policy"`
	Label       string    `json:"label"`
	State       string    `json:"state"`
	Reason      string    `json:"reason"`
	Confinement string    `json:"confinement"`
	Actions     int       `json:"actions"`
	Commands    int       `json:"commands"`
	CDPClients  int       `json:"cdp_clients"`
	CreatedAt   time.Time `json:"created_at"`
}

func (s sessionView) lives() bool {
	return s.State == "idle" || s.State == "starting" || s.State == "active"
}

// sessionSpec is what the commands ask of a new session.
type sessionSpec struct {
	Backend      string   `json:"backend,omitempty"`
	Label        string   `json:"label,omitempty"`
	AllowDomains []string `json:"allow_domains,omitempty"`
}

func (a *app) sessionCommand() *cobra.Command {
	return group("session", "Open, list and end sessions", a.sessionNew(), a.sessionList(), a.sessionShow(), a.sessionClose())
}

func projectFlag(cmd *cobra.Command, p *string) {
	setting(cmd.Flags(), "project", "CHAPERONE_PROJECT").StringVar(p, "", "the project's name or id; else the token's own, else default")
}

func (a *app) sessionNew() *cobra.Command {
	var project string
	var spec sessionSpec
	cmd := &cobra.Command{Use: "new", Short: "Open a session and print its id", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		c, err := a.dial()
		if err != nil {
			return err
		}
		path, err := sessionsPath(cmd, c, project)
		if err != nil {
			return err
		}
		raw, err := a.openSession(cmd.Context(), c, path, spec)
		if err != nil {
			return err
		}
		return show(a, raw, func(w io.Writer, s sessionView) { line(w, "%s", s.ID) })
	}}
	projectFlag(cmd, &project)
	cmd.Flags().Var(backendChoice(&spec.Backend), "backend", "the kind of browser; else the project's")
	cmd.Flags().StringVar(&spec.Label, "label", "", "a name for people")
	cmd.Flags().StringArrayVar(&spec.AllowDomains, "allow-domain", nil, "stay on this domain (repeatable)")
	return cmd
}

func sessionsPath(cmd *cobra.Command, c *client, project string) (string, error) {
	name, err := c.projectName(cmd.Context(), project)
	return "/api/v1/projects/" + url.PathEscape(name) + "/sessions", err
}

func (a *app) sessionList() *cobra.Command {
	var project string
	cmd := &cobra.Command{Use: "list", Short: "List a project's sessions, newest first", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		c, err := a.dial()
		if err != nil {
			return err
		}
		path, err := sessionsPath(cmd, c, project)
		if err != nil {
			return err
		}
		raw, err := c.call(cmd.Context(), http.MethodGet, path, nil)
		if err != nil {
			return err
		}
		return show(a, raw, printSessions)
	}}
	projectFlag(cmd, &project)
	return cmd
}

func printSessions(w io.Writer, sessions list[sessionView]) {
	rows := make([][]string, 0, len(sessions.Items))
	for _, s := range sessions.Items {
		rows = append(rows, []string{s.ID, s.State, s.Backend, strconv.Itoa(s.Actions), strconv.Itoa(s.Commands), s.CreatedAt.Local().Format(time.DateTime), s.Label})
	}
	table(w, []string{"SESSION", "STATE", "BACKEND", "ACTIONS", "COMMANDS", "OPENED", "LABEL"}, rows)
}

func (a *app) sessionShow() *cobra.Command {
	return a.oneSession("show SESSION", "Show one session", http.MethodGet)
}

func (a *app) sessionClose() *cobra.Command {
	return a.oneSession("close SESSION", "End a session; ending it twice is no error", http.MethodDelete)
}

func (a *app) oneSession(use, short, method string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		c, err := a.dial()
		if err != nil {
			return err
		}
		raw, err := c.call(cmd.Context(), method, "/api/v1/sessions/"+url.PathEscape(args[0]), nil)
		if err != nil {
			return err
		}
		return show(a, raw, printSession)
	}}
}

func printSession(w io.Writer, s sessionView) {
	for _, pair := range [][2]string{
		{"session", s.ID},
		{"project", s.ProjectName},
		{"state", s.State},
		{"reason", s.Reason},
		{"backend", s.Backend},
		{"policy", s.Policy},
		{"confinement", s.Confinement},
		{"label", s.Label},
		{"actions", strconv.Itoa(s.Actions)},
		{"commands", s.commandsSaid()},
	} {
		if pair[1] != "" {
			line(w, "%-12s %s", pair[0], pair[1])
		}
	}
}

// commandsSaid tells of CDP clients, where there are or were any.
func (s sessionView) commandsSaid() string {
	switch {
	case s.Commands == 0 && s.CDPClients == 0:
		return ""
	case s.CDPClients == 1:
		return fmt.Sprintf("%d, 1 CDP client connected", s.Commands)
	}
	return fmt.Sprintf("%d, %d CDP clients connected", s.Commands, s.CDPClients)
}
