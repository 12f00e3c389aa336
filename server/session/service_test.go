package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chaperone/relay/program"
	"chaperone/server/account"
	"chaperone/server/artifact"
	"chaperone/server/browse"
	"chaperone/server/fault"
	"chaperone/server/ledger"
	"chaperone/server/project"
	"chaperone/server/session"
	"chaperone/server/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// room is a session service on real records; only its browsers are made up, so that they can fail at will.
type room struct {
	*session.Service
	store    *store.Store
	ledger   *ledger.Ledger
	actor    account.Actor
	project  string // the default project's id
	projects *project.Projects
	backend  *backend
}

func open(t *testing.T, limits session.Limits) *room {
	t.Helper()
	ctx, dir := t.Context(), t.TempDir()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	s, err := store.Open(ctx, dir+"/data")
	must(err)
	l := ledger.New(s, nil)
	secrets, err := account.OpenSecrets(dir + "/data")
	must(err)
	accounts, err := account.Open(account.Config{Store: s, Ledger: l, Dir: dir + "/data"})
	must(err)
	me, err := accounts.EnsureDefault(ctx)
	must(err)
	actor := account.Actor{Account: me.ID, AccountName: me.Name, Kind: account.Person, Role: account.Control}
	projects := project.New(project.Config{Store: s, Ledger: l, Secrets: secrets})
	p, err := projects.EnsureDefault(ctx, actor)
	must(err)
	artifacts, err := artifact.Open(artifact.Config{Store: s, Dir: dir + "/data", LinkKey: make([]byte, 32)})
	must(err)
	b := &backend{}
	r := &room{store: s, ledger: l, actor: actor, project: p.ID, projects: projects, backend: b, Service: session.New(session.Config{
		Store: s, Projects: projects, Ledger: l, Artifacts: artifacts, Limits: limits,
		Backends: map[project.Backend]session.Backend{project.Managed: b},
	})}
	t.Cleanup(func() {
		must(r.Shutdown(context.Background()))
		must(artifacts.Close())
		must(s.Close())
	})
	return r
}

// backend opens browsers that answer every program at once.
type backend struct {
	opening    func() // called while a browser is being opened
	browsersMu sync.Mutex
	browsers   []*browser
	fails      error
}

func (b *backend) Open(context.Context, session.Opening) (session.Browser, error) {
	b.browsersMu.Lock()
	defer b.browsersMu.Unlock()
	if b.fails != nil {
		return nil, b.fails
	}
	if b.opening != nil {
		b.opening()
	}
	made := &browser{done: make(chan struct{})}
	b.browsers = append(b.browsers, made)
	return made, nil
}

func (b *backend) Describe() string { return "made up" }

func (b *backend) CheckURL(string) error { return nil }

func (b *backend) newest() *browser {
	b.browsersMu.Lock()
	defer b.browsersMu.Unlock()
	return b.browsers[len(b.browsers)-1]
}

type browser struct {
	once sync.Once
	done chan struct{}
	runs int
}

func (b *browser) Run(_ context.Context, p program.Program) (program.Result, error) {
	b.runs++
	return program.Result{Tab: p.Tab, Steps: []json.RawMessage{}}, nil
}

func (b *browser) Tabs() []program.Tab { return nil }

func (b *browser) Cast(ctx context.Context, _ program.CastOptions, _ func(program.Picture)) error {
	<-ctx.Done()
	return nil
}

func (b *browser) Close(context.Context) error { b.die(); return nil }

func (b *browser) Done() <-chan struct{} { return b.done }

func (b *browser) die() { b.once.Do(func() { close(b.done) }) }

func (r *room) start(t *testing.T) session.View {
	t.Helper()
	v, err := r.Open(t.Context(), r.actor, session.Spec{Project: "default"})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// rows are the account's ledger rows, oldest first, as method and outcome.
func (r *room) rows(t *testing.T) [][2]string {
	t.Helper()
	list, err := r.ledger.List(t.Context(), ledger.Filter{Account: r.actor.Account, Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	var rows [][2]string
	for _, row := range slices.Backward(list) {
		if row.Kind == string(ledger.Browser) {
			rows = append(rows, [2]string{row.Method, row.Outcome})
		}
	}
	return rows
}

func (r *room) awaitState(t *testing.T, id string, want session.State) session.View {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	stop := errors.New("seen")
	var v session.View
	err := r.Events(ctx, r.actor, session.Scope{Session: id}, 0, func(session.Event) error {
		var err error
		if v, err = r.Get(ctx, r.actor, id); err != nil {
			return err
		}
		if v.State == want {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) {
		t.Fatalf("the session is %s, want %s: %v", v.State, want, err)
	}
	return v
}

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
	_, err := r.Do(t.Context(), r.actor, v.ID, browse.Action{Action: "type", Text: "secret"})
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
