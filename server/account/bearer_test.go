package account_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"chaperone/server/account"
	"chaperone/server/fault"
)

// forged is an access token with the room's own key and what alter makes of its claims.
func forged(t *testing.T, w *world, alter func(jwt.MapClaims)) string {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(w.dir, "signing.key"))
	if err != nil {
		t.Fatal(err)
	}
	said := genuine(t, w)
	alter(said)
	text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, said).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func genuine(t *testing.T, w *world) jwt.MapClaims {
	t.Helper()
	said := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(w.login(t).Access, said); err != nil {
		t.Fatal(err)
	}
	return said
}

func TestOnlyAGenuineAccessTokenAuthenticates(t *testing.T) {
	w := newWorld(t)
	if _, err := w.accounts.Authenticate(t.Context(), forged(t, w, func(jwt.MapClaims) {})); err != nil {
		t.Fatalf("the genuine claims answer %v", err)
	}
	other, err := w.store.EnsureAccount(t.Context(), storeAccount(t, w, "other"))
	if err != nil {
		t.Fatal(err)
	}
	for name, alter := range map[string]func(jwt.MapClaims){
		"no expiry":            func(c jwt.MapClaims) { delete(c, "exp") },
		"expired":              func(c jwt.MapClaims) { c["exp"] = w.now.Unix() },
		"no issuer":            func(c jwt.MapClaims) { delete(c, "iss") },
		"another issuer":       func(c jwt.MapClaims) { c["iss"] = "elsewhere" },
		"no audience":          func(c jwt.MapClaims) { delete(c, "aud") },
		"another audience":     func(c jwt.MapClaims) { c["aud"] = "elsewhere" },
		"another's account":    func(c jwt.MapClaims) { c["sub"] = other.ID },
		"no login":             func(c jwt.MapClaims) { delete(c, "fam") },
		"a login that is none": func(c jwt.MapClaims) { c["fam"] = "l_1" },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.accounts.Authenticate(t.Context(), forged(t, w, alter))
			wantUnauthorised(t, err)
		})
	}
	key, err := os.ReadFile(filepath.Join(w.dir, "signing.key"))
	if err != nil {
		t.Fatal(err)
	}
	for name, sign := range map[string]func(*jwt.Token) (string, error){
		"no algorithm":      func(k *jwt.Token) (string, error) { return k.SignedString(jwt.UnsafeAllowNoneSignatureType) },
		"another algorithm": func(k *jwt.Token) (string, error) { return k.SignedString(key) },
		"another key":       func(k *jwt.Token) (string, error) { return k.SignedString([]byte("another key of thirty-two bytes!")) },
	} {
		t.Run(name, func(t *testing.T) {
			method := map[string]jwt.SigningMethod{
				"no algorithm": jwt.SigningMethodNone, "another algorithm": jwt.SigningMethodHS512, "another key": jwt.SigningMethodHS256,
			}[name]
			text, err := sign(jwt.NewWithClaims(method, genuine(t, w)))
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.accounts.Authenticate(t.Context(), text)
			wantUnauthorised(t, err)
		})
	}
}

func TestAnAgentTokenActsForItsProject(t *testing.T) {
	w := newWorld(t)
	for _, role := range []account.Role{account.Observe, account.Control} {
		kept, text := w.token(t, role)
		want := account.Actor{
			Account: w.me.ID, AccountName: "me", Kind: account.Token, TokenID: kept.ID, Project: w.project, Role: role,
		}
		if got, err := w.accounts.Authenticate(t.Context(), text); err != nil || got != want {
			t.Errorf("the actor is %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestAnAgentTokenExpires(t *testing.T) {
	w := newWorld(t)
	spec := account.TokenSpec{Name: "agent", Project: w.project, Role: account.Observe, Lifetime: time.Hour}
	_, text, err := w.accounts.CreateToken(t.Context(), w.me.Owner(), spec)
	if err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Hour - time.Millisecond)
	if _, err := w.accounts.Authenticate(t.Context(), text); err != nil {
		t.Errorf("a moment before: %v", err)
	}
	w.now = w.now.Add(time.Millisecond)
	_, err = w.accounts.Authenticate(t.Context(), text)
	wantUnauthorised(t, err)
}

func FuzzNoBearerAuthenticatesByChance(f *testing.F) {
	w := newWorld(f)
	given := w.login(f)
	_, token := w.token(f, account.Control)
	for _, seed := range []string{
		"", "chp_", token[:len(token)-1], token + "A", "Bearer " + token, given.Access + ".", given.Access[:40],
		"..", "eyJhbGciOiJub25lIn0.e30.", given.Refresh, "\x00", "' OR 1=1 --",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, bearer string) {
		actor, err := w.accounts.Authenticate(t.Context(), bearer)
		if bearer == token || bearer == given.Access {
			return
		}
		if !fault.Is(err, fault.Unauthorised) || actor != (account.Actor{}) {
			t.Errorf("%q is %+v, %v", bearer, actor, err)
		}
	})
}

func TestARecheckOverlooksAnExpiryAndNothingElse(t *testing.T) {
	w := newWorld(t)
	given := w.login(t)
	_, agent := w.token(t, account.Control)
	w.now = w.now.Add(24 * time.Hour)
	if _, err := w.accounts.Authenticate(t.Context(), given.Access); !fault.Is(err, fault.Unauthorised) {
		t.Fatalf("a day later the access token authenticates: %v", err)
	}
	for _, bearer := range []string{given.Access, agent} {
		if actor, err := w.accounts.Recheck(t.Context(), bearer); err != nil || actor.Account != w.me.ID {
			t.Errorf("recheck answers %+v, %v", actor, err)
		}
	}
	if err := w.accounts.Logout(t.Context(), given.Refresh, "127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(365 * 24 * time.Hour)
	for name, bearer := range map[string]string{
		"a login that has ended": given.Access, "an agent token that has expired": agent, "no token": "x",
		"another issuer's":      forged(t, w, func(c jwt.MapClaims) { c["iss"] = "elsewhere" }),
		"one without an expiry": forged(t, w, func(c jwt.MapClaims) { delete(c, "exp") }),
	} {
		if _, err := w.accounts.Recheck(t.Context(), bearer); !fault.Is(err, fault.Unauthorised) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
