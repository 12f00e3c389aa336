package web

import (
	"context"
	"net/http"
	"strconv"

	"chaperone/relay"
	"chaperone/relay/program"
	"chaperone/server/fault"
	"chaperone/server/project"
	"chaperone/server/session"
)

func (s *site) projectRoutes() []route {
	return []route{
		{method: http.MethodGet, path: api + "/projects", does: "The projects that the bearer may see, by name.", gives: page[project.Project]{}, handle: s.listProjects},
		{method: http.MethodPost, path: api + "/projects", does: "Make a project.", takes: project.Spec{}, gives: project.Project{}, handle: s.createProject},
		{method: http.MethodGet, path: api + "/projects/:p", does: "One project, by id or name.", gives: project.Project{}, handle: s.getProject},
		{method: http.MethodPatch, path: api + "/projects/:p", does: "Change a project; sessions that it would no longer permit end.", takes: project.Change{}, gives: project.Project{}, handle: s.updateProject},
		{method: http.MethodDelete, path: api + "/projects/:p", does: "Archive a project; its sessions, pairing and tokens end, and its profile with all sign-ins is removed.", handle: s.deleteProject},
	}
}

func (s *site) listProjects(c *call) (any, error) {
	projects, err := s.o.Projects.List(c.r.Context(), c.actor)
	return all(projects), err
}

func (s *site) createProject(c *call) (any, error) {
	spec, err := take[project.Spec](c)
	if err != nil {
		return nil, err
	}
	p, err := s.o.Keeper.Create(c.r.Context(), c.actor, spec)
	return created{p}, err
}

func (s *site) getProject(c *call) (any, error) { return s.project(c) }

// project is the one that the path names.
func (s *site) project(c *call) (project.Project, error) { return s.projectNamed(c, c.param("p")) }

// projectNamed says which project there is not, so that a name typed wrong shows.
func (s *site) projectNamed(c *call, idOrName string) (project.Project, error) {
	p, err := s.o.Projects.Get(c.r.Context(), c.actor, idOrName)
	if fault.Is(err, fault.NotFound) {
		return p, fault.New(fault.NotFound, "there is no project "+quoted(idOrName),
			"Name another with --project; these are there: chaperone project list")
	}
	return p, err
}

// quoted shows a name as it was given, within reason.
func quoted(name string) string {
	const most = 64
	if len(name) > most {
		name = name[:most] + "…"
	}
	return strconv.Quote(name)
}

func (s *site) updateProject(c *call) (any, error) {
	change, err := take[project.Change](c)
	if err != nil {
		return nil, err
	}
	was, err := s.project(c)
	if err != nil {
		return nil, err
	}
	p, err := s.o.Keeper.Update(c.r.Context(), c.actor, was.ID, change)
	if err != nil {
		return nil, err
	}
	s.settle(p, change.AllowDomains != nil || p.Profile != was.Profile)
	return p, nil
}

// settle makes what runs already obey a changed project: a session lives under the rules it was opened with, or
// not at all; isOther says that more than the policy is new. The edge is let down before sessions end, and let up only
// after.
func (s *site) settle(p project.Project, isOther bool) {
	endOthers := func() {
		s.o.Actions.EndProject(p.ID, session.RulesChanged, func(v session.View) bool {
			return v.Policy == string(p.Policy) && !isOther
		})
	}
	if p.Policy == project.Interactive {
		endOthers()
		s.o.Links.SetLevel(p.Account, p.ID, program.LevelAct)
		return
	}
	s.o.Links.SetLevel(p.Account, p.ID, program.LevelRead)
	endOthers()
}

func (s *site) deleteProject(c *call) (any, error) {
	p, err := s.project(c)
	if err != nil {
		return nil, err
	}
	if err := s.o.Keeper.Delete(c.r.Context(), c.actor, p.ID); err != nil {
		return nil, err
	}
	s.o.Actions.EndProject(p.ID, "the project was archived", func(session.View) bool { return false })
	s.o.Links.Disconnect(p.Account, p.ID, relay.ReasonRevoked)
	if err := s.o.Profiles.RemoveProfile(c.r.Context(), p.Account, p.ID); err != nil {
		return nil, err
	}
	return nil, nil //nolint:nilnil // an answer without a body
}

// disconnectAll ends the links of every project that the caller may see.
func (s *site) disconnectAll(ctx context.Context, c *call) error {
	projects, err := s.o.Projects.List(ctx, c.actor)
	if err != nil {
		return err
	}
	for _, p := range projects {
		s.o.Links.Disconnect(p.Account, p.ID, relay.ReasonReset)
	}
	return nil
}
