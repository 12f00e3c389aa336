package e2e_test

import (
	"net/http"
	"testing"

	"chaperone/demo"
)

// exposed is what POST /sessions/{s}/cdp answers.
type exposed struct {
	WS   string `json:"ws"`
	HTTP string `json:"http"`
}

func (s *served) expose(session string) exposed {
	s.t.Helper()
	var access exposed
	s.ask(http.MethodPost, "/sessions/"+session+"/cdp", nil, &access)
	return access
}

func (s *served) endSession(session string) {
	s.t.Helper()
	s.ask(http.MethodDelete, "/sessions/"+session, nil, nil)
}

// endpointLimits are the steps that no session's endpoint permits.
func endpointLimits() map[string]string {
	return map[string]string{"context": "context"}
}

// noTraces is what the page of traces says where no client has left anything.
const noTraces = "wide, light, undefined, undefined, the worker says 42"

func TestClientsDriveAManagedSession(t *testing.T) { //nolint:tparallel // its parts have one browser, and go one after the other
	t.Parallel()
	site := newWorkshop()
	t.Cleanup(site.Close)
	s := serve(t, "--test-origin", site.URL, "--test-origin", site.far())
	s.policy("interactive")
	b := &backend{site: site, limits: endpointLimits(), visit: func(t *testing.T, road *clientRoad) func() {
		t.Helper()
		session := s.session("managed")
		s.act(session, action{"action": "open", "url": site.URL + "/"})
		access := s.expose(session)
		road.WS, road.HTTP = access.WS, access.HTTP
		return func() {
			s.act(session, action{"action": "open", "url": site.URL + "/traces"})
			s.act(session, action{"action": "wait", "text": "the worker says"})
			wants(t, "the page after the client", s.act(session, action{"action": "get_text"}).Text, noTraces)
			s.endSession(session)
		}
	}}
	b.drive(t)
}

// sharedWorkshop is a site whose first page a person has shared to act with an interactive project.
func sharedWorkshop(t *testing.T) (*workshop, *served, *demo.Page) {
	t.Helper()
	site := newWorkshop()
	t.Cleanup(site.Close)
	s := serve(t)
	s.policy("interactive")
	person := arrive(t, demo.PersonOptions{})
	page, err := person.Visit(t.Context(), site.URL+"/")
	check(t, err)
	check(t, person.Pair(t.Context(), s.code()))
	check(t, person.Share(t.Context(), page, "act"))
	return site, s, page
}

func TestClientsDriveASharedTab(t *testing.T) { //nolint:tparallel // its parts have one browser, and go one after the other
	t.Parallel()
	site, s, page := sharedWorkshop(t)
	b := &backend{site: site, limits: endpointLimits(), visit: func(t *testing.T, road *clientRoad) func() {
		t.Helper()
		session := s.session("shared")
		access := s.expose(session)
		road.WS, road.HTTP = access.WS, access.HTTP
		return func() {
			check(t, page.Wait(t.Context(), "innerWidth !== 500"))
			check(t, page.Do(t.Context(), "void (location.href = '/traces')", nil))
			check(t, page.Wait(t.Context(), "location.pathname === '/traces' && said.textContent !== 'waiting'"))
			var traces string
			check(t, page.Do(t.Context(), "said.textContent", &traces))
			if traces != noTraces {
				t.Errorf("the page after the client: %q, want %q", traces, noTraces)
			}
			s.endSession(session)
		}
	}}
	b.drive(t)
}
