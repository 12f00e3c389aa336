package store_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"chaperone/server/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func noon() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

func open(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// privateDir names a data folder that Open has yet to make.
func privateDir(t *testing.T) string {
	t.Helper()
	return t.TempDir() + "/data"
}

func newID(t *testing.T, prefix string) string {
	t.Helper()
	id, err := store.NewID(prefix, noon())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// tenant is an account with one project.
type tenant struct{ account, project string }

func addTenant(t *testing.T, s *store.Store, name string) tenant {
	t.Helper()
	account, err := s.EnsureAccount(t.Context(), store.Account{ID: newID(t, "u"), Name: name, Created: noon()})
	if err != nil {
		t.Fatal(err)
	}
	project := store.Project{
		ID: newID(t, "p"), Account: account.ID, Name: "default", Policy: "read_only", Backend: "managed", Created: noon(),
	}
	if err := s.AddProject(t.Context(), project); err != nil {
		t.Fatal(err)
	}
	return tenant{account.ID, project.ID}
}
