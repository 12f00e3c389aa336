package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chaperone/relay/program"
	"chaperone/server/account"
	"chaperone/server/browse"
	"chaperone/server/fault"
	"chaperone/server/project"
	"chaperone/server/session"
	"chaperone/server/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPlacesAreLimitedAndGivenBack(t *testing.T) {
	r := open(t, session.Limits{Sessions: 2, SessionsPerProject: 2, PlaceWait: 20 * time.Millisecond})
	first := r.start(t)
	r.start(t)
	if _, err := r.Open(t.Context(), r.actor, session.Spec{Project: "default"}); !fault.Is(err, fault.Busy) {
		t.Fatalf("the third session: %v, want busy", err)
	}
	if _, err := r.Close(t.Context(), r.actor, first.ID); err != nil {
		t.Fatal(err)
	}
	r.start(t)
}

func TestOneWhoWaitsForAPlaceGetsTheNextOne(t *testing.T) {
	r := open(t, session.Limits{Sessions: 1, PlaceWait: time.Minute})
	first := r.start(t)
	got := make(chan error, 1)
	go func() {
		_, err := r.Open(t.Context(), r.actor, session.Spec{Project: "default"})
		got <- err
	}()
	if _, err := r.Close(t.Context(), r.actor, first.ID); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Fatal(err)
	}
}

func TestEndingTwiceIsEndingOnce(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.start(t)
	for range 2 {
		ended, err := r.Close(t.Context(), r.actor, v.ID)
		if err != nil || ended.State != session.Ended {
			t.Fatalf("close: %v, %s", err, ended.State)
		}
	}
	want := [][2]string{{"session.open", "done"}, {"session.close", "done"}}
	if rows := r.rows(t); len(rows) != 2 || rows[0] != want[0] || rows[1] != want[1] {
		t.Errorf("the ledger has %v, want %v", rows, want)
	}
	if _, err := r.Do(t.Context(), r.actor, v.ID, browse.Action{Action: "tabs"}); !fault.Is(err, fault.SessionEnded) {
		t.Errorf("an action after the end: %v", err)
	}
}

func TestAnIdleSessionExpires(t *testing.T) {
	r := open(t, session.Limits{Idle: 30 * time.Millisecond})
	if v := r.awaitState(t, r.start(t).ID, session.Expired); v.Reason == "" {
		t.Error("an expired session does not say why")
	}
}

func TestALostBrowserFailsItsSession(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.start(t)
	r.backend.newest().die()
	r.awaitState(t, v.ID, session.Failed)
}

func TestALostBrowserIsToldInWordsForPeople(t *testing.T) {
	for sentence, c := range map[string]struct {
		err  error
		want string
	}{
		"it does not say":       {nil, "the browser is gone"},
		"a process was killed":  {errors.New("wait: signal: killed"), "the browser ended unexpectedly"},
		"the edge knows":        {&program.Error{Code: "not_connected", Message: "the browser disconnected"}, "the browser disconnected"},
		"the fault is our own":  {fault.Wrap(errors.New("eof"), "something went wrong inside the server"), "the browser ended unexpectedly"},
		"the fault says enough": {fault.New(fault.ReadOnlyRefused, "the guard is gone", ""), "the guard is gone"},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := open(t, session.Limits{})
			v := r.start(t)
			r.backend.newest().err = c.err
			r.backend.newest().die()
			if got := r.awaitState(t, v.ID, session.Failed).Reason; got != c.want {
				t.Errorf("the reason is %q, want %q", got, c.want)
			}
		})
	}
}

func TestABrowserThatCannotBeHadLeavesNoPlaceTaken(t *testing.T) {
	r := open(t, session.Limits{Sessions: 1, PlaceWait: 20 * time.Millisecond})
	r.backend.fails = &program.Error{Step: -1, Code: "not_connected", Message: "no browser"}
	for range 3 {
		if _, err := r.Open(t.Context(), r.actor, session.Spec{Project: "default"}); !fault.Is(err, fault.NotConnected) {
			t.Fatalf("got %v, want not_connected", err)
		}
	}
	if rows := r.rows(t); len(rows) != 3 || rows[2] != [2]string{"session.open", "not_connected"} {
		t.Errorf("the ledger has %v", rows)
	}
}

func TestARefusedActionIsInTheLedgerAndNeverReachesTheBrowser(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.start(t)
	_, err := r.Do(t.Context(), r.actor, v.ID, browse.Action{Action: "type", Text: new("secret")})
	if !fault.Is(err, fault.ReadOnlyRefused) {
		t.Fatalf("got %v, want read_only_refused", err)
	}
	if runs := r.backend.newest().runs; runs != 0 {
		t.Errorf("the browser ran %d programs", runs)
	}
	if rows := r.rows(t); rows[len(rows)-1] != [2]string{"type", "read_only_refused"} {
		t.Errorf("the ledger has %v", rows)
	}
}

func TestWithoutAJournalNothingRuns(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.start(t)
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := r.Do(t.Context(), r.actor, v.ID, browse.Action{Action: "open", URL: "http://example.com/"})
	if err == nil {
		t.Fatal("an action ran without a journal")
	}
	if runs := r.backend.newest().runs; runs != 0 {
		t.Errorf("the browser ran %d programs", runs)
	}
}

func TestASessionWhoseRulesChangeWhileItOpensDoesNotLive(t *testing.T) {
	r := open(t, session.Limits{Sessions: 1, PlaceWait: 20 * time.Millisecond})
	r.backend.opening = func() {
		policy := project.Interactive
		if _, err := r.projects.Update(t.Context(), r.actor, "default", project.Change{Policy: &policy}); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.Open(t.Context(), r.actor, session.Spec{Project: "default"}); !fault.Is(err, fault.SessionEnded) {
		t.Fatalf("got %v, want session_ended", err)
	}
	r.backend.opening = nil
	if v := r.start(t); v.Policy != string(project.Interactive) {
		t.Errorf("the next session's policy is %s", v.Policy)
	}
}

func TestTheLedgerNamesWhoEndedASession(t *testing.T) {
	r := open(t, session.Limits{})
	mine, idle := r.start(t), r.start(t)
	other := r.actor
	other.Kind, other.TokenID = account.Token, "k_other"
	if _, err := r.Close(t.Context(), other, mine.ID); err != nil {
		t.Fatal(err)
	}
	r.EndProject(r.project, "the project was archived", func(session.View) bool { return false })
	r.awaitState(t, idle.ID, session.Ended)
	list := r.list(t)
	closed, archived := list[len(list)-2], list[len(list)-1]
	if closed.ActorID != "k_other" || !strings.Contains(closed.Detail, `"cause":"closed"`) {
		t.Errorf("the close by a token reads %+v", closed)
	}
	if archived.ActorKind != "server" || !strings.Contains(archived.Detail, `"cause":"project_changed"`) {
		t.Errorf("the end by the server reads %+v", archived)
	}
}

func TestThePeerIsWhereTheBrowserIsWhateverTheActionSays(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.start(t)
	r.backend.newest().tabs = []program.Tab{{ID: "t1", URL: "https://here.example/x?key=1"}}
	for _, c := range []struct {
		action browse.Action
		peer   string
	}{
		{browse.Action{Action: "tabs", URL: "https://bank.example/"}, "here.example"},
		{browse.Action{Action: "open", URL: "http://b\u00fccher.example/"}, "xn--bcher-kva.example"},
		{browse.Action{Action: "open", URL: "http://a(b)c.example/"}, ""},
		{browse.Action{Action: "open", URL: "nonsense"}, ""},
	} {
		_, err := r.Do(t.Context(), r.actor, v.ID, c.action)
		if err != nil && strings.Contains(err.Error(), "journal") {
			t.Errorf("%s %s: %v", c.action.Action, c.action.URL, err)
		}
		list := r.list(t)
		if row := list[len(list)-1]; row.Method != c.action.Action || row.Peer != c.peer {
			t.Errorf("%s %s is in the ledger as %s at %q, want %q", c.action.Action, c.action.URL, row.Method, row.Peer, c.peer)
		}
	}
}

func TestACallerWhoLeavesWhileASessionOpensLeavesNothingInTheJournal(t *testing.T) {
	r := open(t, session.Limits{})
	ctx, leave := context.WithCancel(t.Context())
	r.journal.begun = leave
	if _, err := r.Open(ctx, r.actor, session.Spec{Project: "default"}); err == nil {
		t.Fatal("a session opened for nobody")
	}
	if lost, err := r.ledger.Recover(t.Context()); err != nil || lost != 0 {
		t.Errorf("%d entries are left in the journal (%v)", lost, err)
	}
}

func TestEventsKeepNoQueryAndNoFragment(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.start(t)
	b := r.backend.newest()
	b.tabs = []program.Tab{{ID: "t1", URL: "https://here.example/form?q=typed#secret"}}
	if _, err := r.Do(t.Context(), r.actor, v.ID, browse.Action{Action: "tabs"}); err != nil {
		t.Fatal(err)
	}
	events, err := r.store.EventsAfter(t.Context(), store.EventFilter{Account: r.actor.Account})
	if err != nil || len(events) < 2 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	for _, e := range events {
		if strings.Contains(string(e.Fields), "typed") || strings.Contains(string(e.Fields), "secret") {
			t.Errorf("event %s keeps %s", e.Kind, e.Fields)
		}
	}
}

func TestAnObserverMayWatchAndNotAct(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.start(t)
	observer := r.actor
	observer.Kind, observer.Role = account.Token, account.Observe
	if _, err := r.Get(t.Context(), observer, v.ID); err != nil {
		t.Errorf("an observer may not look: %v", err)
	}
	if _, err := r.Do(t.Context(), observer, v.ID, browse.Action{Action: "tabs"}); !fault.Is(err, fault.Forbidden) {
		t.Errorf("an observer's action: %v, want forbidden", err)
	}
	stranger := account.Actor{Account: "other", Kind: account.Person, Role: account.Control}
	_, theirs := r.Get(t.Context(), stranger, v.ID)
	_, nobodys := r.Get(t.Context(), stranger, "s_nothing")
	if !fault.Is(theirs, fault.NotFound) || !fault.Is(nobodys, fault.NotFound) {
		t.Errorf("what is another's answers %v, what does not exist %v", theirs, nobodys)
	}
}

func TestASessionMayNarrowItsProjectsDomainsOnly(t *testing.T) {
	r := open(t, session.Limits{})
	domains := []string{"example.com", "*.test"}
	if _, err := r.projects.Update(t.Context(), r.actor, "default", project.Change{AllowDomains: &domains}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		wished []string
		ok     bool
	}{
		"nothing wished":                {nil, true},
		"one of them":                   {[]string{"example.com"}, true},
		"one beneath a wildcard":        {[]string{"a.test"}, true},
		"a wildcard beneath a wildcard": {[]string{"*.a.test"}, true},
		"one beneath a plain host":      {[]string{"www.example.com"}, false},
		"a wildcard over a plain host":  {[]string{"*.example.com"}, false},
		"another":                       {[]string{"a.test", "example.org"}, false},
		"a look-alike":                  {[]string{"eviltest"}, false},
	} {
		v, err := r.Open(t.Context(), r.actor, session.Spec{Project: "default", AllowDomains: c.wished})
		if c.ok != (err == nil) || (!c.ok && !fault.Is(err, fault.DomainRefused)) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			if _, err := r.Close(t.Context(), r.actor, v.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestWhatACrashLeftIsFailedAndTold(t *testing.T) {
	r := open(t, session.Limits{})
	err := r.store.SaveSession(t.Context(), store.Session{
		ID: "s_old", Account: r.actor.Account, Project: r.project, Backend: "managed", State: "active",
		Created: time.Now(), ActorKind: "person", ActorID: r.actor.Account,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	v, err := r.Get(t.Context(), r.actor, "s_old")
	if err != nil || v.State != session.Failed {
		t.Errorf("the old session is %s (%v)", v.State, err)
	}
	if rows := r.rows(t); len(rows) != 1 || rows[0] != [2]string{"session.close", "lost"} {
		t.Errorf("the ledger has %v", rows)
	}
}
