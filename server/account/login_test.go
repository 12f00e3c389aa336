package account_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"chaperone/server/account"
	"chaperone/server/fault"
)

func wantUnauthorised(t *testing.T, err error) {
	t.Helper()
	if !fault.Is(err, fault.Unauthorised) {
		t.Errorf("the answer is %v, want unauthorised", err)
	}
}

func TestACodeLogsInOnce(t *testing.T) {
	w := newWorld(t)
	code, err := w.accounts.LoginCode(t.Context(), w.me.ID)
	if err != nil {
		t.Fatal(err)
	}
	given, err := w.accounts.Login(t.Context(), code, "127.0.0.1:5000")
	if err != nil {
		t.Fatal(err)
	}
	actor, err := w.accounts.Authenticate(t.Context(), given.Access)
	if err != nil || actor != w.me.Owner() || actor != given.Actor {
		t.Errorf("the actor is %+v, %v", actor, err)
	}
	_, err = w.accounts.Login(t.Context(), code, "127.0.0.1:5000")
	wantUnauthorised(t, err)
	if f := fault.Of(err); f.Message != "this link was already used or has expired" || f.Hint != "Run: chaperone dashboard" {
		t.Errorf("it says %q, %q", f.Message, f.Hint)
	}
	if got := w.methods(t); !slices.Equal(got, []string{"login done"}) {
		t.Errorf("the ledger says %q", got)
	}
}

func TestALinkIsForWhoManagesTheAccount(t *testing.T) {
	w := newWorld(t)
	code, expires, err := w.accounts.LoginLink(t.Context(), w.me.Owner(), "local")
	if err != nil || !expires.Equal(w.now.Add(10*time.Minute)) {
		t.Fatalf("the link expires at %s, %v", expires, err)
	}
	if _, err := w.accounts.Login(t.Context(), code, ""); err != nil {
		t.Error(err)
	}
	kept, _ := w.token(t, account.Control)
	agent := account.Actor{Account: w.me.ID, Kind: account.Token, TokenID: kept.ID, Project: w.project, Role: account.Control}
	if code, _, err := w.accounts.LoginLink(t.Context(), agent, ""); !fault.Is(err, fault.Forbidden) || code != "" {
		t.Errorf("an agent is answered %v", err)
	}
	if got, want := w.methods(t), []string{"login.link done", "login done", "token.create done"}; !slices.Equal(got, want) {
		t.Errorf("the ledger says %q, want %q", got, want)
	}
}

func TestACodeLivesTenMinutes(t *testing.T) {
	for name, test := range map[string]struct {
		wait time.Duration
		ok   bool
	}{
		"a moment before": {10*time.Minute - time.Millisecond, true},
		"at the minute":   {10 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			code, err := w.accounts.LoginCode(t.Context(), w.me.ID)
			if err != nil {
				t.Fatal(err)
			}
			w.now = w.now.Add(test.wait)
			if _, err = w.accounts.Login(t.Context(), code, ""); (err == nil) != test.ok {
				t.Errorf("login answers %v", err)
			}
		})
	}
}

func TestOfManyLoginsWithOneCodeOneSucceeds(t *testing.T) {
	w := newWorld(t)
	code, err := w.accounts.LoginCode(t.Context(), w.me.ID)
	if err != nil {
		t.Fatal(err)
	}
	var wins sync.Map
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			if _, err := w.accounts.Login(t.Context(), code, ""); err == nil {
				wins.Store(i, true)
			}
		})
	}
	running.Wait()
	n := 0
	wins.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d logins succeeded", n)
	}
}

func TestAnAccessTokenLivesFifteenMinutes(t *testing.T) {
	w := newWorld(t)
	given := w.login(t)
	w.now = w.now.Add(15*time.Minute - time.Second)
	if _, err := w.accounts.Authenticate(t.Context(), given.Access); err != nil {
		t.Errorf("a second before: %v", err)
	}
	w.now = w.now.Add(time.Second)
	_, err := w.accounts.Authenticate(t.Context(), given.Access)
	wantUnauthorised(t, err)
}

func TestRefreshRotates(t *testing.T) {
	w := newWorld(t)
	first := w.login(t)
	w.now = w.now.Add(20 * time.Minute)
	second, err := w.accounts.Refresh(t.Context(), first.Refresh, "")
	if err != nil || second.Refresh == first.Refresh {
		t.Fatalf("refresh answers %v", err)
	}
	if _, err := w.accounts.Authenticate(t.Context(), second.Access); err != nil {
		t.Error(err)
	}
	if _, err := w.accounts.Refresh(t.Context(), second.Refresh, ""); err != nil {
		t.Error(err)
	}
}

func TestARefreshTokenShownTwiceEndsTheLoginAndNoOther(t *testing.T) {
	w := newWorld(t)
	stolen, other := w.login(t), w.login(t)
	next, err := w.accounts.Refresh(t.Context(), stolen.Refresh, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.accounts.Refresh(t.Context(), stolen.Refresh, "203.0.113.9:1")
	wantUnauthorised(t, err)
	for name, access := range map[string]string{"the first": stolen.Access, "the next": next.Access} {
		if _, err := w.accounts.Authenticate(t.Context(), access); !fault.Is(err, fault.Unauthorised) {
			t.Errorf("%s access token answers %v", name, err)
		}
	}
	_, err = w.accounts.Refresh(t.Context(), next.Refresh, "")
	wantUnauthorised(t, err)
	if _, err := w.accounts.Authenticate(t.Context(), other.Access); err != nil {
		t.Errorf("the other login answers %v", err)
	}
	if got, want := w.methods(t), []string{"login done", "login done", "login.reuse done"}; !slices.Equal(got, want) {
		t.Errorf("the ledger says %q, want %q", got, want)
	}
}

func TestHangingUpDoesNotSaveAStolenLogin(t *testing.T) {
	w := newWorld(t)
	stolen := w.login(t)
	next, err := w.accounts.Refresh(t.Context(), stolen.Refresh, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	looks := 0
	w.tick = func() {
		if looks++; looks == 2 { // after the token was recognised, before its login is ended
			hangUp()
		}
	}
	_, err = w.accounts.Refresh(ctx, stolen.Refresh, "")
	w.tick = nil
	wantUnauthorised(t, err)
	if ctx.Err() == nil {
		t.Fatal("nobody hung up")
	}
	_, err = w.accounts.Authenticate(t.Context(), next.Access)
	wantUnauthorised(t, err)
}

func TestARefreshTokenLivesThirtyDays(t *testing.T) {
	w := newWorld(t)
	given := w.login(t)
	w.now = w.now.Add(30 * 24 * time.Hour)
	_, err := w.accounts.Refresh(t.Context(), given.Refresh, "")
	wantUnauthorised(t, err)
}

func TestLogoutEndsAllOfTheLogin(t *testing.T) {
	w := newWorld(t)
	given := w.login(t)
	for range 2 {
		if err := w.accounts.Logout(t.Context(), given.Refresh, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.accounts.Logout(t.Context(), "never seen", ""); err != nil {
		t.Errorf("an unknown token answers %v", err)
	}
	_, err := w.accounts.Authenticate(t.Context(), given.Access)
	wantUnauthorised(t, err)
	if got, want := w.methods(t), []string{"login done", "logout done"}; !slices.Equal(got, want) {
		t.Errorf("the ledger says %q, want %q", got, want)
	}
}

func TestADisabledAccountIsOutAtOnce(t *testing.T) {
	w := newWorld(t)
	given := w.login(t)
	code, err := w.accounts.LoginCode(t.Context(), w.me.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, bearer := w.token(t, account.Control)
	if err := w.store.DisableAccount(t.Context(), w.me.ID, w.now); err != nil {
		t.Fatal(err)
	}
	_, loginErr := w.accounts.Login(t.Context(), code, "")
	_, refreshErr := w.accounts.Refresh(t.Context(), given.Refresh, "")
	_, accessErr := w.accounts.Authenticate(t.Context(), given.Access)
	_, tokenErr := w.accounts.Authenticate(t.Context(), bearer)
	_, codeErr := w.accounts.LoginCode(t.Context(), w.me.ID)
	for _, err := range []error{loginErr, refreshErr, accessErr, tokenErr, codeErr} {
		wantUnauthorised(t, err)
	}
}
