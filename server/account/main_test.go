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

// world is the room over a real file, with a clock that stands until it is moved. Tick, if there is one,
// is called whenever somebody looks at the clock.
type world struct {
	dir      string
	now      time.Time
	tick     func()
	store    *store.Store
	ledger   *ledger.Ledger
	accounts *account.Accounts
	me       account.Account
	project  string
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{dir: filepath.Join(tb.TempDir(), "data"), now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time {
		if w.tick != nil {
			w.tick()
		}
		return w.now
	}
	s, err := store.Open(tb.Context(), w.dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	w.store, w.ledger = s, ledger.New(s, clock)
	if w.accounts, err = account.Open(account.Config{Store: s, Ledger: w.ledger, Dir: w.dir, Now: clock}); err != nil {
		tb.Fatal(err)
	}
	if w.me, err = w.accounts.EnsureDefault(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	if w.project, err = store.NewID("p", w.now); err != nil {
		tb.Fatal(err)
	}
	row := store.Project{ID: w.project, Account: w.me.ID, Name: "default", Policy: "read_only", Backend: "managed"}
	if err := s.AddProject(tb.Context(), row); err != nil {
		tb.Fatal(err)
	}
	return w
}

func (w *world) login(tb testing.TB) account.Credentials {
	tb.Helper()
	code, err := w.accounts.LoginCode(tb.Context(), w.me.ID)
	if err != nil {
		tb.Fatal(err)
	}
	given, err := w.accounts.Login(tb.Context(), code, "127.0.0.1:5000")
	if err != nil {
		tb.Fatal(err)
	}
	return given
}

func (w *world) token(tb testing.TB, role account.Role) (account.AgentToken, string) {
	tb.Helper()
	spec := account.TokenSpec{Name: "agent", Project: w.project, Role: role}
	kept, text, err := w.accounts.CreateToken(tb.Context(), w.me.Owner(), spec)
	if err != nil {
		tb.Fatal(err)
	}
	return kept, text
}

// methods are the access rows of the account, oldest first, each as `method outcome`.
func (w *world) methods(tb testing.TB) []string {
	tb.Helper()
	rows, err := w.ledger.List(tb.Context(), ledger.Filter{Account: w.me.ID, Kind: string(ledger.Access)})
	if err != nil {
		tb.Fatal(err)
	}
	said := make([]string, len(rows))
	for i, row := range rows {
		said[len(rows)-1-i] = row.Method + " " + row.Outcome
	}
	return said
}
