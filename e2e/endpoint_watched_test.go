package e2e_test

import (
	"testing"

	"chaperone/demo"
)

// mustBeWatched wants the session, in which nothing but this client has done anything, to be shown live and counted.
func (s *served) mustBeWatched(session string, c *speaker, target string) {
	s.t.Helper()
	page := c.attach(target)
	c.must(page, "Runtime.evaluate", map[string]any{"expression": "document.body.style.background = 'teal'"}, nil)
	s.listen("/sessions/"+session+"/frames", "", func(m message) bool {
		var frame struct {
			Tab   string
			Width int
		}
		decodeJSON(s.t, m.data, &frame)
		if frame.Tab == "" || frame.Width < 300 {
			s.t.Errorf("the frame is %+v", frame)
		}
		return true
	})
	var view struct {
		Actions, Commands int
	}
	s.ask("GET", "/sessions/"+session, nil, &view)
	if view.Actions != 0 || view.Commands < 2 {
		s.t.Errorf("the session counts %+v", view)
	}
}

func TestAManagedSessionThatOnlyAClientDrivesIsShownLive(t *testing.T) {
	s := serve(t)
	s.policy("interactive")
	session := s.session("managed")
	c := speak(t, s.openCDP(session).WS)
	var made struct{ TargetID string }
	c.must("", "Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	s.mustBeWatched(session, c, made.TargetID)
}

func TestASharedTabThatOnlyAClientDrivesIsShownLive(t *testing.T) {
	site := openSite(t)
	s := serve(t)
	s.policy("interactive")
	person := arrive(t, demo.PersonOptions{})
	page, err := person.Visit(t.Context(), site.URL+"/")
	check(t, err)
	check(t, person.Pair(t.Context(), s.code()))
	check(t, person.Share(t.Context(), page, "act"))
	session := s.session("shared")
	c := speak(t, s.openCDP(session).WS)
	target, _ := c.page()
	s.mustBeWatched(session, c, target)
}
