package account_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chaperone/server/account"
	"chaperone/server/fault"
	"chaperone/server/store"
)

func storeAccount(t *testing.T, w *world, name string) store.Account {
	t.Helper()
	id, err := store.NewID("u", w.now)
	if err != nil {
		t.Fatal(err)
	}
	return store.Account{ID: id, Name: name, Created: w.now}
}

func TestATokenIsShownOnceAndKeptAsAHash(t *testing.T) {
	w := newWorld(t)
	kept, text := w.token(t, account.Observe)
	if !strings.HasPrefix(text, "chp_") || len(text) != len("chp_")+43 {
		t.Errorf("the token is %q", text)
	}
	list, err := w.accounts.ListTokens(t.Context(), w.me.Owner())
	if err != nil || !slices.Equal(list, []account.AgentToken{kept}) {
		t.Errorf("the list is %+v, %v, want %+v", list, err, kept)
	}
	for _, name := range []string{store.FileName, store.FileName + "-wal"} {
		content, err := os.ReadFile(filepath.Join(w.dir, name))
		if err != nil || strings.Contains(string(content), text[4:]) {
			t.Errorf("%s holds the token, or %v", name, err)
		}
	}
}

func TestARevokedTokenIsOutAtOnce(t *testing.T) {
	w := newWorld(t)
	kept, text := w.token(t, account.Control)
	if err := w.accounts.RevokeToken(t.Context(), w.me.Owner(), kept.ID); err != nil {
		t.Fatal(err)
	}
	_, err := w.accounts.Authenticate(t.Context(), text)
	wantUnauthorised(t, err)
	if err := w.accounts.RevokeToken(t.Context(), w.me.Owner(), kept.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("a second revocation answers %v", err)
	}
	if got, want := w.methods(t), []string{"token.create done", "token.revoke done"}; !slices.Equal(got, want) {
		t.Errorf("the ledger says %q, want %q", got, want)
	}
}

func TestWhatATokenMayNotBe(t *testing.T) {
	w := newWorld(t)
	good := account.TokenSpec{Name: "agent", Project: w.project, Role: account.Control, Lifetime: 365 * 24 * time.Hour}
	if _, _, err := w.accounts.CreateToken(t.Context(), w.me.Owner(), good); err != nil {
		t.Fatalf("a year answers %v", err)
	}
	for name, test := range map[string]struct {
		alter func(*account.TokenSpec)
		want  fault.Code
	}{
		"a moment over a year":    {func(s *account.TokenSpec) { s.Lifetime++ }, fault.BadRequest},
		"already over":            {func(s *account.TokenSpec) { s.Lifetime = -1 }, fault.BadRequest},
		"no role":                 {func(s *account.TokenSpec) { s.Role = "" }, fault.BadRequest},
		"an unknown role":         {func(s *account.TokenSpec) { s.Role = "owner" }, fault.BadRequest},
		"no name":                 {func(s *account.TokenSpec) { s.Name = "" }, fault.BadRequest},
		"a name of 65":            {func(s *account.TokenSpec) { s.Name = strings.Repeat("é", 65) }, fault.BadRequest},
		"a name that turns round": {func(s *account.TokenSpec) { s.Name = "a\u202eb" }, fault.BadRequest},
		"no project":              {func(s *account.TokenSpec) { s.Project = "" }, fault.NotFound},
		"a project that is none":  {func(s *account.TokenSpec) { s.Project = "p_1" }, fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			spec := good
			test.alter(&spec)
			if _, text, err := w.accounts.CreateToken(t.Context(), w.me.Owner(), spec); !fault.Is(err, test.want) || text != "" {
				t.Errorf("create answers %v, want %s", err, test.want)
			}
		})
	}
}

func TestOnlyWhoMayManageManagesTokens(t *testing.T) {
	w := newWorld(t)
	kept, text := w.token(t, account.Control)
	bound, err := w.accounts.Authenticate(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	for name, actor := range map[string]account.Actor{"an agent token": bound, "nobody": {}} {
		_, _, createErr := w.accounts.CreateToken(t.Context(), actor, account.TokenSpec{Name: "x", Project: w.project, Role: account.Observe})
		_, listErr := w.accounts.ListTokens(t.Context(), actor)
		for _, err := range []error{createErr, listErr, w.accounts.RevokeToken(t.Context(), actor, kept.ID)} {
			if !fault.Is(err, fault.Forbidden) {
				t.Errorf("%s answers %v", name, err)
			}
		}
	}
}

func TestTokensOfAnotherAccountAreNotThere(t *testing.T) {
	w := newWorld(t)
	kept, _ := w.token(t, account.Control)
	row, err := w.store.EnsureAccount(t.Context(), storeAccount(t, w, "other"))
	if err != nil {
		t.Fatal(err)
	}
	other := account.Account{ID: row.ID, Name: row.Name}.Owner()
	if list, err := w.accounts.ListTokens(t.Context(), other); err != nil || len(list) != 0 {
		t.Errorf("the list is %+v, %v", list, err)
	}
	if err := w.accounts.RevokeToken(t.Context(), other, kept.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("revoke answers %v", err)
	}
	spec := account.TokenSpec{Name: "x", Project: w.project, Role: account.Observe}
	if _, _, err := w.accounts.CreateToken(t.Context(), other, spec); !fault.Is(err, fault.NotFound) {
		t.Errorf("create answers %v", err)
	}
}

// local ensures the local token and checks that it holds.
func (w *world) local(t *testing.T) string {
	t.Helper()
	text, err := w.accounts.EnsureLocalToken(t.Context(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	actor, err := w.accounts.Authenticate(t.Context(), text)
	if err != nil || !actor.CanManage() || actor.IsPerson() || actor.Role != account.Control {
		t.Fatalf("the actor is %+v, %v", actor, err)
	}
	return text
}

func TestTheLocalTokenIsInAPrivateFile(t *testing.T) {
	w := newWorld(t)
	text := w.local(t)
	path := filepath.Join(w.dir, account.LocalTokenFile)
	content, err := os.ReadFile(path)
	if err != nil || string(content) != text+"\n" {
		t.Errorf("the file holds %q, %v", content, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := w.accounts.EnsureLocalToken(t.Context(), w.dir); err == nil || !strings.Contains(err.Error(), "chmod 0600") {
		t.Errorf("a file that others may read answers %v", err)
	}
}

func TestTheLocalTokenStaysWhileItHolds(t *testing.T) {
	w := newWorld(t)
	first := w.local(t)
	if w.local(t) != first {
		t.Error("a valid token was replaced")
	}
	if err := os.WriteFile(filepath.Join(w.dir, account.LocalTokenFile), []byte("chp_damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	second := w.local(t)
	_, err := w.accounts.Authenticate(t.Context(), first)
	wantUnauthorised(t, err)
	w.now = w.now.Add(310 * 24 * time.Hour)
	if w.local(t) == second {
		t.Error("a token that soon expires was kept")
	}
}

func TestABoundTokenInTheFileIsReplaced(t *testing.T) {
	w := newWorld(t)
	_, bound := w.token(t, account.Control)
	if err := os.WriteFile(filepath.Join(w.dir, account.LocalTokenFile), []byte(bound), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := w.accounts.EnsureLocalToken(t.Context(), w.dir)
	if err != nil || text == bound {
		t.Errorf("the local token is the bound one, or %v", err)
	}
}
