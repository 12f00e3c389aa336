package session_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"chaperone/server/account"
	"chaperone/server/fault"
	"chaperone/server/ledger"
	"chaperone/server/session"
)

func TestASessionHasOneEndpointAtATime(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.interactive(t, session.Spec{})
	first := r.expose(t, v.ID)
	if !first.IsNew || first.Session != v.ID || !strings.HasPrefix(first.WS, "ws://") || !strings.HasPrefix(first.HTTP, "http://") {
		t.Errorf("got %+v", first)
	}
	if again := r.expose(t, v.ID); again.IsNew || again.WS != first.WS {
		t.Errorf("asked again: %+v", again)
	}
	r.withdraw(t, v.ID)
	r.withdraw(t, v.ID)
	r.endpoint.newest().awaitEnd(t)
	if other := r.expose(t, v.ID); !other.IsNew || other.WS == first.WS {
		t.Errorf("after the end: %+v", other)
	}
	if _, err := r.Close(t.Context(), r.actor, v.ID); err != nil {
		t.Fatal(err)
	}
	r.withdraw(t, v.ID)
	r.mustTell(t, `cdp.open "new":"true"`, `cdp.open "new":"false"`, `cdp.close "cause":"withdrawn"`, `cdp.open "new":"true"`, `cdp.close "cause":"session_ended"`)
}

func TestWhoMayNotHaveAnEndpoint(t *testing.T) {
	r := open(t, session.Limits{Sessions: 3, SessionsPerProject: 3})
	readOnly := r.start(t).ID
	open, over := r.interactive(t, session.Spec{}).ID, r.interactive(t, session.Spec{}).ID
	if _, err := r.Close(t.Context(), r.actor, over); err != nil {
		t.Fatal(err)
	}
	watcher, stranger := r.actor, r.actor
	watcher.Kind, watcher.Role, watcher.TokenID = account.Token, account.Observe, "k_1"
	stranger.Account = "u_other"
	for sentence, c := range map[string]struct {
		actor account.Actor
		id    string
		code  fault.Code
	}{
		"in a read-only project":       {r.actor, readOnly, fault.ReadOnlyRefused},
		"who may only watch":           {watcher, open, fault.Forbidden},
		"of another account":           {stranger, open, fault.NotFound},
		"of a session that is over":    {r.actor, over, fault.SessionEnded},
		"of a session that never was":  {r.actor, "s_none", fault.NotFound},
		"who is bound to another work": {account.Actor{Account: r.actor.Account, Kind: account.Token, Role: account.Control, Project: "p_other"}, open, fault.NotFound},
	} {
		by, _ := shows(c.actor)
		if _, err := r.Expose(t.Context(), c.actor, c.id, by); !fault.Is(err, c.code) {
			t.Errorf("%s: %v, want %s", sentence, err, c.code)
		}
	}
	if len(r.endpoint.granted) != 0 {
		t.Errorf("granted %d", len(r.endpoint.granted))
	}
	if rows := r.told(t, ledger.Access); len(rows) != 1 || rows[0].Outcome != string(fault.ReadOnlyRefused) {
		t.Errorf("the ledger has %+v", rows)
	}
}

func TestAnEndpointEndsWithAnyCredentialThatAskedForIt(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.interactive(t, session.Spec{})
	r.expose(t, v.ID)
	agent := account.Actor{Account: r.actor.Account, Kind: account.Token, TokenID: "k_1", Role: account.Control, Project: r.project}
	by, revoke := shows(agent)
	if _, err := r.Expose(t.Context(), agent, v.ID, by); err != nil {
		t.Fatal(err)
	}
	door := r.endpoint.newest()
	revoke()
	door.awaitEnd(t)
	r.withdraw(t, v.ID) // waits until it is cleared away
	rows := r.told(t, ledger.Access)
	if last := rows[len(rows)-1]; last.Method != "cdp.close" || !strings.Contains(last.Detail, "credential_ended") || last.ActorKind != "server" {
		t.Errorf("the last row is %+v", last)
	}
	if r.awaitState(t, v.ID, session.Active).State != session.Active {
		t.Error("the session ended too")
	}
}

func TestACredentialThatIsEndedHereEndsItsEndpointAtOnce(t *testing.T) {
	r := openAsking(t, session.Limits{}, time.Hour)
	v := r.interactive(t, session.Spec{})
	by, revoke := shows(r.actor)
	if _, err := r.Expose(t.Context(), r.actor, v.ID, by); err != nil {
		t.Fatal(err)
	}
	door := r.endpoint.newest()
	r.EndedCredential() // another's: this one still holds
	revoke()
	r.EndedCredential()
	door.awaitEnd(t)
}

func TestAConnectedClientIsUse(t *testing.T) {
	r := open(t, session.Limits{Idle: 50 * time.Millisecond})
	v := r.interactive(t, session.Spec{})
	r.expose(t, v.ID)
	door := r.endpoint.newest()
	door.Changed(1)
	r.awaitEvent(t, "browser.cdp", func(fields string) bool { return strings.Contains(fields, `"clients":1`) }) // a second later
	if now, err := r.Get(t.Context(), r.actor, v.ID); err != nil || now.State != session.Active || now.CDPClients != 1 {
		t.Fatalf("with a client: %+v, %v", now, err)
	}
	door.Changed(0)
	r.awaitState(t, v.ID, session.Expired)
	door.awaitEnd(t)
}

// Clients that do not listen take some seconds to be told goodbye. Nobody else goes on meanwhile.
func TestAllEndpointsOfAProjectAreCutOffBeforeAnyGoodbye(t *testing.T) {
	r := open(t, session.Limits{})
	goodbyes := make(chan struct{})
	r.endpoint.goodbyes = goodbyes
	granted := make([]*door, 0, 2)
	for range 2 {
		r.expose(t, r.interactive(t, session.Spec{}).ID)
		granted = append(granted, r.endpoint.newest())
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.EndProject(r.project, "the project was archived", func(session.View) bool { return false })
	}()
	for _, d := range granted {
		d.awaitEnd(t)
	}
	close(goodbyes)
	<-ended
}

// The check of credentials may take long just then.
func TestARevokedEndpointIsCutOffWhateverIsBeingChecked(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.interactive(t, session.Spec{})
	checking, goOn := make(chan struct{}), make(chan struct{})
	by, _ := shows(r.actor)
	holder := by.Holder
	var once sync.Once
	by.Holder = func(ctx context.Context) (account.Actor, error) {
		once.Do(func() { close(checking) })
		<-goOn
		return holder(ctx)
	}
	if _, err := r.Expose(t.Context(), r.actor, v.ID, by); err != nil {
		t.Fatal(err)
	}
	r.EndedCredential()
	<-checking
	withdrawn := make(chan error, 1)
	go func() { withdrawn <- r.Withdraw(t.Context(), r.actor, v.ID) }()
	r.endpoint.newest().awaitEnd(t)
	close(goOn)
	if err := <-withdrawn; err != nil {
		t.Error(err)
	}
	r.awaitEvent(t, "browser.cdp", func(fields string) bool { return strings.Contains(fields, `"withdrawn"`) })
}
