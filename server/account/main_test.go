package account_test

import (
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chaperone/server/account"
	"chaperone/server/ledger"
	"chaperone/server/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is the room over a real file, with a clock that stands until it is moved.
type world struct {
	dir      string
	now      time.Time
	store    *store.Store
	ledger   *ledger.Ledger
	accounts *account.Accounts
	me       account.Account
	project  string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{dir: filepath.Join(t.TempDir(), "data"), now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return w.now }
	s, err := store.Open(t.Context(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w.store, w.ledger = s, ledger.New(s, clock)
	if w.accounts, err = account.Open(account.Config{Store: s, Ledger: w.ledger, Dir: w.dir, Now: clock}); err != nil {
		t.Fatal(err)
	}
	if w.me, err = w.accounts.EnsureDefault(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.project, err = store.NewID("p", w.now); err != nil {
		t.Fatal(err)
	}
	row := store.Project{ID: w.project, Account: w.me.ID, Name: "default", Policy: "read_only", Backend: "managed"}
	if err := s.AddProject(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) login(t testing.TB) account.Credentials {
	t.Helper()
	code, err := w.accounts.LoginCode(t.Context(), w.me.ID)
	if err != nil {
		t.Fatal(err)
	}
	given, err := w.accounts.Login(t.Context(), code, "127.0.0.1:5000")
	if err != nil {
		t.Fatal(err)
	}
	return given
}

func (w *world) token(t testing.TB, role account.Role) (account.AgentToken, string) {
	t.Helper()
	spec := account.TokenSpec{Name: "agent", Project: w.project, Role: role}
	kept, text, err := w.accounts.CreateToken(t.Context(), w.me.Owner(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return kept, text
}

// methods are the access rows of the account, oldest first, each as `method outcome`.
func (w *world) methods(t testing.TB) []string {
	t.Helper()
	rows, err := w.ledger.List(t.Context(), ledger.Filter{Account: w.me.ID, Kind: string(ledger.Access)})
	if err != nil {
		t.Fatal(err)
	}
	said := make([]string, len(rows))
	for i, row := range rows {
		said[len(rows)-1-i] = row.Method + " " + row.Outcome
	}
	return said
}
