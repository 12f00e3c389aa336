package web

import (
	"context"
	"net/http"
	"strconv"

	"chaperone/relay/program"
	"chaperone/server/fault"
	"chaperone/server/live"
	"chaperone/server/session"
)

func (s *site) streamRoutes() []route {
	const sse = "text/event-stream"
	return []route{
		{method: http.MethodGet, path: api + "/sessions/:s/events", does: "The session's durable events, resumed by Last-Event-ID.", query: []string{"after"}, media: sse, handle: s.sessionEvents},
		{method: http.MethodGet, path: api + "/projects/:p/events", does: "The project's durable events, resumed by Last-Event-ID.", query: []string{"after"}, media: sse, handle: s.projectEvents},
		{method: http.MethodGet, path: api + "/sessions/:s/frames", does: "Live pictures, while the session lives.", media: sse, handle: s.frames},
	}
}

func (s *site) sessionEvents(c *call) (any, error) {
	view, err := s.o.Sessions.Get(c.r.Context(), c.actor, c.param("s"))
	if err != nil {
		return nil, err
	}
	return s.events(c, session.Scope{Project: view.Project, Session: view.ID})
}

func (s *site) projectEvents(c *call) (any, error) {
	p, err := s.project(c)
	if err != nil {
		return nil, err
	}
	return s.events(c, session.Scope{Project: p.ID})
}

func (s *site) events(c *call, scope session.Scope) (any, error) {
	after, err := resumeAt(c)
	if err != nil {
		return nil, err
	}
	return s.streaming(func(ctx context.Context, st *stream) error {
		return s.o.Happened.Events(ctx, c.actor, scope, after, func(e session.Event) error {
			return st.send(e.Seq, e.Kind, e)
		})
	}), nil
}

// resumeAt is the number of the last event that the reader has.
func resumeAt(c *call) (int64, error) {
	last := c.r.Header.Get("Last-Event-ID")
	if last == "" {
		return c.number("after")
	}
	n, err := strconv.ParseInt(last, 10, 64)
	if err != nil || n < 0 {
		return 0, fault.New(fault.BadRequest, "Last-Event-ID is not an event's id", "Send the id of the last event that you have, or leave it out.")
	}
	return n, nil
}

func (s *site) frames(c *call) (any, error) {
	id := c.param("s")
	source, err := s.o.Screens.Screen(c.r.Context(), c.actor, id)
	if err != nil {
		return nil, err
	}
	return s.streaming(func(ctx context.Context, st *stream) error {
		return s.o.Cast.Watch(ctx, id, source, live.Viewer{FPS: s.o.FrameFPS, Sink: func(p program.Picture) error {
			return st.send(0, "picture", p)
		}})
	}), nil
}
