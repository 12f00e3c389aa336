package e2e_test

import (
	"fmt"
	"maps"
	"testing"

	"chaperone/demo"
)

// sharedRoads is what a script with clients in several sessions reads.
type sharedRoads struct {
	clientRoad
	Roads []exposed `json:"roads"`
}

// wantLines holds a script's steps against what they must give, in order.
func wantLines(t *testing.T, lines []clientLine, want [][2]string) {
	t.Helper()
	for i, w := range want {
		if i >= len(lines) {
			t.Fatalf("%s: the step was never tried", w[0])
		}
		line := lines[i]
		if w[1] == aPicture && line.Error == "" {
			checkPicture(t, fmt.Sprint(line.Value))
			continue
		}
		if line.Step != w[0] || line.Error != "" || fmt.Sprint(line.Value) != w[1] {
			t.Errorf("%s: %q, error %q: want %q", line.Step, line.Value, line.Error, w[1])
		}
	}
	if len(lines) > len(want) {
		t.Errorf("unknown steps: %v", lines[len(want):])
	}
}

// inTwoSessions is what two clients in two sessions see: the first begins with one tab.
func inTwoSessions(second string) [][2]string {
	return [][2]string{
		{"connect", "1 and " + second},
		{"a tab each", "1 and 1"},
		{"a window of the first", "2 and 1"},
		{"a window of the second", "2 and 2"},
		{"both at once", "true and true"},
		{"the second leaves", "pressed 21"},
		{"leave", "false"},
	}
}

// theRest is what else Playwright does, and what every session's endpoint refuses in words.
func theRest() [][2]string {
	return [][2]string{
		{"connect", "Form"},
		{"select", "d"},
		{"check", "true"},
		{"hover", "hovered"},
		{"double click", "twice"},
		{"drag", "dropped"},
		{"type", "done"},
		{"wheel", "600"},
		{"the whole page", aPicture},
		{"one element", aPicture},
		{"a page as PDF", "%PDF-"},
		{"own content", "true"},
		{"headers", "yes"},
		{"headers that sign in", "refused"},
		{"cookies", "refused"},
		{"a cookie set", "refused"},
		{"requests held", "refused"},
		{"files", "1"},
		{"place", "refused"},
		{"permissions", "refused"},
		{"a file of the machine", "refused"},
		{"the browser's own pages", "refused"},
		{"and goes on", "Start"},
		{"leave", "false"},
	}
}

func inOneSession() [][2]string {
	return [][2]string{
		{"early", "true"},
		{"late", "Everything 42"},
		{"the late one's frame", "inner waits"},
		{"the late one's worker", "undefined42"},
		{"both click", "pressed 2, pressed 2"},
		{"both hear", "once and once"},
		{"elements of both", "count and out"},
		{"own overrides", "500 early late"},
		{"the early one leaves", "false"},
		{"what stays", "500 undefined late"},
		{"a close is for oneself", "Everything, false, true 42"},
		{"leave", "false"},
	}
}

// together is a site and a server in which clients meet.
type together struct {
	*served
	site *workshop
}

func (m *together) road(t *testing.T, sessions ...string) sharedRoads {
	t.Helper()
	road := sharedRoads{clientRoad: clientRoad{
		Site: m.site.URL, Far: m.site.far(), Folder: folder(t), StepMS: int(stepPatience.Milliseconds()),
	}}
	for _, session := range sessions {
		road.Roads = append(road.Roads, m.expose(session))
	}
	road.WS, road.HTTP = road.Roads[0].WS, road.Roads[0].HTTP
	return road
}

func meet(t *testing.T, backend string) *together {
	t.Helper()
	site := newWorkshop()
	t.Cleanup(site.Close)
	var origins []string
	if backend == "managed" {
		origins = []string{"--test-origin", site.URL, "--test-origin", site.far()}
	}
	m := &together{site: site, served: serve(t, origins...)}
	m.policy("interactive")
	return m
}

func (m *together) managed() string {
	m.t.Helper()
	session := m.session("managed")
	m.act(session, action{"action": "open", "url": m.site.URL + "/"})
	return session
}

func (m *together) wantHits(t *testing.T, want map[string]int) {
	t.Helper()
	if hits := m.site.taken(); !maps.Equal(hits, want) {
		t.Errorf("the site was sent %v, want %v", hits, want)
	}
}

func TestClientsInOneSessionOrTwoAreNotInEachOthersWayInManagedChrome(t *testing.T) { //nolint:tparallel // its parts have one browser, and go one after the other
	t.Parallel()
	m := meet(t, "managed")
	t.Run("one session", func(t *testing.T) {
		session := m.managed()
		wantLines(t, runScript(t, "same-session", m.road(t, session)), inOneSession())
		m.wantHits(t, map[string]int{"count": 2, "inner": 1})
		wantLines(t, runScript(t, "playwright-more", m.road(t, session)), theRest())
		m.endSession(session)
	})
	t.Run("two sessions", func(t *testing.T) {
		first, second := m.managed(), m.managed()
		wantLines(t, runScript(t, "two-sessions", m.road(t, first, second)), inTwoSessions("1"))
		m.wantHits(t, map[string]int{"count": 41})
		m.endSession(second)
		m.act(first, action{"action": "get_text"}) // the first session's tabs are all there
		m.endSession(first)
	})
}

func TestClientsInOneSessionOrTwoAreNotInEachOthersWayInASharedBrowser(t *testing.T) { //nolint:tparallel // its parts have one browser, and go one after the other
	t.Parallel()
	m := meet(t, "shared")
	person := arrive(t, demo.PersonOptions{})
	page, err := person.Visit(t.Context(), m.site.URL+"/")
	check(t, err)
	check(t, person.Pair(t.Context(), m.code()))
	check(t, person.Share(t.Context(), page, "act"))
	t.Run("one session", func(t *testing.T) {
		session := m.session("shared")
		wantLines(t, runScript(t, "same-session", m.road(t, session)), inOneSession())
		m.wantHits(t, map[string]int{"count": 2, "inner": 1})
		wantLines(t, runScript(t, "playwright-more", m.road(t, session)), theRest())
		m.endSession(session)
	})
	t.Run("two sessions", func(t *testing.T) {
		first, second := m.session("shared"), m.session("shared")
		before := pageCount(t, person)
		wantLines(t, runScript(t, "two-sessions", m.road(t, first, second)), inTwoSessions("0"))
		m.wantHits(t, map[string]int{"count": 41})
		if open := pageCount(t, person); open != before+3 {
			t.Errorf("%d tabs are open after the clients left, want %d: the first's window, the second's tab and window", open, before+3)
		}
		m.endSession(second)
		await(t, func() bool { return pageCount(t, person) == before+1 }, "the second session's tabs to close")
		m.endSession(first)
		await(t, func() bool { return pageCount(t, person) == before }, "the first session's window to close")
		var title string
		check(t, page.Do(t.Context(), "document.title", &title))
		if title != "Start" {
			t.Errorf("the person's tab shows %q", title)
		}
	})
}

// pageCount is how many tabs a person's browser has.
func pageCount(t *testing.T, person *demo.Person) int {
	t.Helper()
	raw, err := person.Browser().Call(t.Context(), "", "Target.getTargets", map[string]any{})
	check(t, err)
	var list struct{ TargetInfos []struct{ Type string } }
	decodeJSON(t, string(raw), &list)
	count := 0
	for _, target := range list.TargetInfos {
		if target.Type == "page" {
			count++
		}
	}
	return count
}
