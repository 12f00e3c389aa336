package e2e_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"chaperone/demo"
)

// sharedRoad is a read-only session on a tab that a person shared.
func sharedRoad(t *testing.T) *road {
	t.Helper()
	s := openSite(t)
	r := &road{site: s, served: serve(t)}
	r.shareStart(t)
	r.session = r.served.session("shared")
	r.snapshot()
	return r
}

// linked asks the server how the default project's browser stands.
func (s *served) linked() (connected bool, tabs int) {
	s.t.Helper()
	var status struct {
		Connected bool
		Tabs      []any
	}
	s.ask(http.MethodGet, "/projects/default/pairing", nil, &status)
	return status.Connected, len(status.Tabs)
}

// linkedSince tells one link from the next.
func (s *served) linkedSince() string {
	s.t.Helper()
	var status struct{ Since string }
	s.ask(http.MethodGet, "/projects/default/pairing", nil, &status)
	return status.Since
}

func (s *served) awaitLink(tabs int) {
	s.t.Helper()
	s.await(func() bool { connected, n := s.linked(); return connected && n == tabs }, "the browser to be connected with its tabs")
}

func TestUnshareStopsTheAgentAtOnce(t *testing.T) {
	t.Parallel()
	r := sharedRoad(t)
	check(t, r.person.Unshare(t.Context(), r.page))
	r.refused(r.session, action{"action": "snapshot"}, "tab_closed")
	if connected, tabs := r.linked(); !connected || tabs != 0 {
		t.Errorf("after unsharing: connected %t, %d tabs", connected, tabs)
	}
}

func TestDisconnectStopsTheAgentAtOnceAndIsNotUndone(t *testing.T) {
	t.Parallel()
	r := sharedRoad(t)
	check(t, r.person.Disconnect(t.Context()))
	r.await(func() bool { connected, _ := r.linked(); return !connected }, "the link to end")
	if refusal := r.refusedAny(r.session, action{"action": "snapshot"}); refusal.Code != "not_connected" && refusal.Code != "session_ended" {
		t.Errorf("after Disconnect: %v", refusal)
	}
	check(t, r.person.StopWorker(t.Context()))
	popup, err := r.person.Popup(t.Context(), nil)
	check(t, err)
	check(t, popup.Wait(t.Context(), `document.querySelector("#code")?.getClientRects().length`))
	if connected, _ := r.linked(); connected {
		t.Error("the link came back after Disconnect")
	}
}

func TestOnlyTheSharedTabCanBeReached(t *testing.T) {
	t.Parallel()
	r := sharedRoad(t)
	_, err := r.person.Visit(t.Context(), r.site.URL+"/second")
	check(t, err)
	var answer struct{ Tabs []struct{ ID, URL string } }
	r.ask(http.MethodPost, "/sessions/"+r.session+"/actions", action{"action": "tabs"}, &answer)
	if len(answer.Tabs) != 1 {
		t.Errorf("the agent sees %+v", answer.Tabs)
	}
}

func TestAStoppedWorkerComesBackWithTheSameGrants(t *testing.T) {
	t.Parallel()
	r := sharedRoad(t)
	before, since := r.ref(r.session, "button", "Count"), r.linkedSince()
	check(t, r.person.StopWorker(t.Context()))
	r.await(func() bool { return r.linkedSince() != since }, "the old link to end")
	r.awaitLink(1)
	if after := r.ref(r.session, "button", "Count"); after != before {
		t.Errorf("the button was %s and is %s", before, after)
	}
}

func TestAReloadedExtensionComesBackConnectedWithNoGrants(t *testing.T) {
	t.Parallel()
	r := sharedRoad(t)
	since := r.linkedSince()
	check(t, r.person.LoadExtension(t.Context()))
	r.await(func() bool { return r.linkedSince() != since }, "the old link to end")
	r.awaitLink(0)
	r.refused(r.session, action{"action": "snapshot"}, "tab_closed")
}

func TestACodeThatIsNoneIsToldInWords(t *testing.T) {
	t.Parallel()
	person := arrive(t, demo.PersonOptions{})
	for _, code := range []string{"hello", "chaperone1.", "chaperone1.e30", "chaperone2.e30"} {
		popup, err := person.Popup(t.Context(), nil)
		check(t, err)
		check(t, popup.Paste(t.Context(), "#code", code))
		check(t, popup.Click(t.Context(), "#connect"))
		check(t, popup.Wait(t.Context(), `document.querySelector("#problem")?.textContent.length > 20`))
		check(t, popup.Leave(t.Context()))
	}
}

func TestABrowserRestartComesBackConnectedWithNoGrants(t *testing.T) {
	t.Parallel()
	s := openSite(t)
	r := &road{site: s, served: serve(t)}
	profile := filepath.Join(t.TempDir(), "profile")
	first := arrive(t, demo.PersonOptions{Profile: profile})
	page, err := first.Visit(t.Context(), s.URL+"/")
	check(t, err)
	check(t, first.Pair(t.Context(), r.code()))
	check(t, first.Share(t.Context(), page, "read"))
	r.awaitLink(1)
	check(t, first.Close())
	r.await(func() bool { connected, _ := r.linked(); return !connected }, "the link to end with its browser")
	arrive(t, demo.PersonOptions{Profile: profile})
	r.awaitLink(0)
}

func TestAServerRestartFindsTheBrowserAndTheGrantsAgain(t *testing.T) {
	t.Parallel()
	r := sharedRoad(t)
	address := r.info.URL[len("http://"):]
	r.stop()
	again := serveIn(t, r.data, "--addr", address)
	again.awaitLink(1)
	session := again.session("shared")
	if again.act(session, action{"action": "snapshot"}).Title != "Start" {
		t.Error("the shared tab is not read after the restart")
	}
}

func TestAKilledServerLeavesNothingAndItsActionsAreTold(t *testing.T) {
	t.Parallel()
	s := openSite(t)
	r := serve(t, "--test-origin", s.URL)
	session := r.session("managed")
	r.act(session, action{"action": "open", "url": s.URL + "/"})
	r.kill()
	r.await(func() bool { return len(processesOf(r.data)) == 0 }, "the killed server's Chrome to end")
	again := serveIn(t, r.data, "--test-origin", s.URL)
	again.refused(session, action{"action": "snapshot"}, "session_ended")
	again.must("ledger", "verify")
	again.act(again.session("managed"), action{"action": "open", "url": s.URL + "/"})
}

func TestAnAttachedBackendIsUnavailable(t *testing.T) {
	t.Parallel()
	r := serve(t)
	_, err := r.agent.Session(t.Context(), "attached")
	if refusal := asRefused(err); refusal == nil || refusal.Code != "unavailable" {
		t.Errorf("got %v, want unavailable", err)
	}
}

func TestASharedSessionWithoutABrowserIsNotConnected(t *testing.T) {
	t.Parallel()
	r := serve(t)
	_, err := r.agent.Session(t.Context(), "shared")
	if refusal := asRefused(err); refusal == nil || refusal.Code != "not_connected" {
		t.Errorf("got %v, want not_connected", err)
	}
}

// TestAPolicyThatIsRaisedDoesNotRaiseASessionThatIsReadOnly holds the edge to what the session was opened with.
func TestAPolicyThatIsRaisedDoesNotRaiseASessionThatIsReadOnly(t *testing.T) {
	t.Parallel()
	r := sharedRoad(t)
	r.policy("interactive")
	r.refused(r.session, action{"action": "snapshot"}, "session_ended")
}

func TestAPolicyThatIsLoweredEndsWhatItNoLongerPermits(t *testing.T) {
	t.Parallel()
	s := openSite(t)
	r := serve(t, "--test-origin", s.URL)
	r.policy("interactive")
	session := r.session("managed")
	r.act(session, action{"action": "open", "url": s.URL + "/form"})
	r.policy("read_only")
	r.refused(session, action{"action": "snapshot"}, "session_ended")
}
