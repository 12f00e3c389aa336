package web

import (
	"net/http"

	"chaperone/server/browse"
	"chaperone/server/session"
)

func (s *site) sessionRoutes() []route {
	return []route{
		{method: http.MethodPost, path: api + "/projects/:p/sessions", does: "Open a session.", takes: session.Spec{}, gives: session.View{}, handle: s.openSession},
		{method: http.MethodGet, path: api + "/projects/:p/sessions", does: "The project's sessions, newest first.", query: []string{"limit", "cursor"}, gives: page[session.View]{}, handle: s.listSessions},
		{method: http.MethodGet, path: api + "/sessions/:s", does: "One session.", gives: session.View{}, handle: s.getSession},
		{method: http.MethodDelete, path: api + "/sessions/:s", does: "End a session; ending one that is over changes nothing.", gives: session.View{}, handle: s.closeSession},
		{method: http.MethodPost, path: api + "/sessions/:s/actions", does: "Run one action.", takes: browse.Action{}, gives: browse.Result{}, handle: s.act},
		{method: http.MethodPost, path: api + "/sessions/:s/cdp", does: "The session's private CDP endpoint: made, or told again while it lasts. Its addresses are secrets.", gives: session.Access{}, handle: s.expose},
		{method: http.MethodDelete, path: api + "/sessions/:s/cdp", does: "End the session's CDP endpoint and cut its clients off.", handle: s.withdraw},
	}
}

func (s *site) openSession(c *call) (any, error) {
	spec, err := take[session.Spec](c)
	if err != nil {
		return nil, err
	}
	p, err := s.project(c)
	if err != nil {
		return nil, err
	}
	spec.Project = p.ID
	view, err := s.o.Sessions.Open(c.r.Context(), c.actor, spec)
	return created{view}, err
}

// defaultPage is how many items a list's page has when nobody asks.
const defaultPage = 50

func (s *site) listSessions(c *call) (any, error) {
	limit, err := c.number("limit")
	if err != nil {
		return nil, err
	}
	if limit == 0 || limit > 500 {
		limit = defaultPage
	}
	p, err := s.project(c)
	if err != nil {
		return nil, err
	}
	before := c.r.URL.Query().Get("cursor")
	views, err := s.o.Sessions.List(c.r.Context(), c.actor, p.ID, session.Page{Before: before, Limit: int(limit)})
	if err != nil {
		return nil, err
	}
	list := all(views)
	if len(views) == int(limit) {
		list.Next = views[len(views)-1].ID
	}
	return list, nil
}

func (s *site) getSession(c *call) (any, error) {
	return s.o.Sessions.Get(c.r.Context(), c.actor, c.param("s"))
}

func (s *site) closeSession(c *call) (any, error) {
	return s.o.Actions.Close(c.r.Context(), c.actor, c.param("s"))
}

func (s *site) act(c *call) (any, error) {
	raw, err := takeRaw(c)
	if err != nil {
		return nil, err
	}
	action, err := browse.ParseAction(raw)
	if err != nil {
		return nil, err
	}
	return s.o.Actions.Do(c.r.Context(), c.actor, c.param("s"), action)
}
