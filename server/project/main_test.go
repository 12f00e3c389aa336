package project_test

import (
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chaperone/server/account"
	"chaperone/server/ledger"
	"chaperone/server/project"
	"chaperone/server/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is the room over a real file, with two accounts.
type world struct {
	dir      string
	store    *store.Store
	ledger   *ledger.Ledger
	projects *project.Projects
	me       account.Actor
	other    account.Actor
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: filepath.Join(t.TempDir(), "data")}
	s, err := store.Open(t.Context(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	secrets, err := account.OpenSecrets(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	w.store, w.ledger = s, ledger.New(s, nil)
	w.projects = project.New(project.Config{Store: s, Ledger: w.ledger, Secrets: secrets})
	w.me, w.other = w.person(t, "me"), w.person(t, "other")
	return w
}

func (w *world) person(t *testing.T, name string) account.Actor {
	t.Helper()
	id, err := store.NewID("u", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.EnsureAccount(t.Context(), store.Account{ID: id, Name: name, Created: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return account.Account{ID: id, Name: name}.Owner()
}

func (w *world) create(t *testing.T, actor account.Actor, name string) project.Project {
	t.Helper()
	made, err := w.projects.Create(t.Context(), actor, project.Spec{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// agent is a control token of me, bound to a project.
func (w *world) agent(bound string) account.Actor {
	return account.Actor{
		Account: w.me.Account, AccountName: "me", Kind: account.Token, TokenID: "k_1", Project: bound, Role: account.Control,
	}
}

// methods are the access rows of me, oldest first, each as `method outcome`.
func (w *world) methods(t *testing.T) []string {
	t.Helper()
	rows, err := w.ledger.List(t.Context(), ledger.Filter{Account: w.me.Account})
	if err != nil {
		t.Fatal(err)
	}
	said := make([]string, len(rows))
	for i, row := range rows {
		said[len(rows)-1-i] = row.Method + " " + row.Outcome
	}
	return said
}
