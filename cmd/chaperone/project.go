package main

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
)

// projectView is what the commands read of a project.
type projectView struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Policy       string   `json:"policy"`
	Backend      string   `json:"backend"`
	Profile      bool     `json:"profile"`
	AllowDomains []string `json:"allow_domains"`
}

// projectRules are the flags that make or change a project; what was not given stays away from the request.
type projectRules struct {
	policy, backend, rename string
	domains                 []string
	anyDomain, profile      bool
}

func (r *projectRules) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(choose(&r.policy, "read_only", "interactive"), "policy", "what agents may do")
	f.Var(backendChoice(&r.backend), "backend", "the kind of browser that sessions get")
	f.BoolVar(&r.profile, "profile", false, "managed sessions keep sign-ins and tabs, one session at a time; --profile=false for none")
	f.StringArrayVar(&r.domains, "allow-domain", nil, "navigations stay on this domain; *.D also beneath it (repeatable)")
}

func (r *projectRules) body(cmd *cobra.Command) map[string]any {
	body := map[string]any{}
	given := map[string]any{"policy": r.policy, "backend": r.backend, "profile": r.profile, "allow-domain": r.domains, "rename": r.rename}
	for flag, field := range map[string]string{"policy": "policy", "backend": "backend", "profile": "profile", "allow-domain": "allow_domains", "rename": "name"} {
		if cmd.Flags().Changed(flag) {
			body[field] = given[flag]
		}
	}
	if r.anyDomain {
		body["allow_domains"] = []string{}
	}
	return body
}

func (a *app) projectCommand() *cobra.Command {
	return group("project", "Make, list and change projects", a.projectNew(), a.projectList(), a.projectSet(), a.projectDelete())
}

func (a *app) projectNew() *cobra.Command {
	var rules projectRules
	cmd := &cobra.Command{Use: "new NAME", Short: "Make a project", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		body := rules.body(cmd)
		body["name"] = args[0]
		return a.changeProject(cmd, http.MethodPost, "", body)
	}}
	rules.flags(cmd)
	return cmd
}

func (a *app) projectSet() *cobra.Command {
	var rules projectRules
	cmd := &cobra.Command{Use: "set NAME", Short: "Change a project", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		body := rules.body(cmd)
		if len(body) == 0 {
			return usagef("say what to change: --policy, --backend, --profile, --allow-domain, --any-domain or --rename")
		}
		return a.changeProject(cmd, http.MethodPatch, "/"+url.PathEscape(args[0]), body)
	}}
	rules.flags(cmd)
	cmd.Flags().StringVar(&rules.rename, "rename", "", "a new name")
	cmd.Flags().BoolVar(&rules.anyDomain, "any-domain", false, "permit every domain again")
	return cmd
}

func (a *app) changeProject(cmd *cobra.Command, method, under string, body map[string]any) error {
	c, err := a.dial()
	if err != nil {
		return err
	}
	raw, err := c.call(cmd.Context(), method, "/api/v1/projects"+under, body)
	if err != nil {
		return err
	}
	return show(a, raw, func(w io.Writer, p projectView) { printProjects(w, list[projectView]{Items: []projectView{p}}) })
}

func (a *app) projectList() *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List the projects", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		c, err := a.dial()
		if err != nil {
			return err
		}
		raw, err := c.call(cmd.Context(), http.MethodGet, "/api/v1/projects", nil)
		if err != nil {
			return err
		}
		return show(a, raw, printProjects)
	}}
}

func (a *app) projectDelete() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "delete NAME --yes", Short: "Archive a project: its sessions, pairing and tokens end, its profile is removed; its ledger stays", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		if !yes {
			return usagef("this ends the sessions of the project %q, forgets its pairing, revokes its tokens and removes its profile with all sign-ins, for good; its ledger stays. Add --yes", args[0])
		}
		c, err := a.dial()
		if err != nil {
			return err
		}
		_, err = c.call(cmd.Context(), http.MethodDelete, "/api/v1/projects/"+url.PathEscape(args[0]), nil)
		return err
	}}
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	return cmd
}

func printProjects(w io.Writer, projects list[projectView]) {
	rows := make([][]string, 0, len(projects.Items))
	for _, p := range projects.Items {
		domains := strings.Join(p.AllowDomains, " ")
		if domains == "" {
			domains = "any"
		}
		backend := p.Backend
		if p.Profile {
			backend += ", profile"
		}
		rows = append(rows, []string{p.Name, p.Policy, backend, domains, p.ID})
	}
	table(w, []string{"NAME", "POLICY", "BACKEND", "DOMAINS", "ID"}, rows)
}
