package ledger_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chaperone/server/ledger"
	"chaperone/server/store"
)

// TestMain also is the process that the tests of crashes kill.
func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		beVictim(dir, os.Getenv(victimTask))
	}
	goleak.VerifyTestMain(m)
}

func noon() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// world is a ledger over a real file, with two accounts.
type world struct {
	dir    string
	store  *store.Store
	ledger *ledger.Ledger
	me     string
	other  string
}

func newWorld(t *testing.T) world {
	t.Helper()
	w := world{dir: filepath.Join(t.TempDir(), "data")}
	w.open(t)
	w.me, w.other = w.account(t, "me"), w.account(t, "other")
	return w
}

func (w *world) open(t *testing.T) {
	t.Helper()
	s, err := store.Open(t.Context(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.close(t, s) })
	w.store, w.ledger = s, ledger.New(s, nil)
}

func (w *world) close(t *testing.T, s *store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func (w *world) account(t *testing.T, name string) string {
	t.Helper()
	id, err := store.NewID("u", noon())
	if err != nil {
		t.Fatal(err)
	}
	account, err := w.store.EnsureAccount(t.Context(), store.Account{ID: id, Name: name, Created: noon()})
	if err != nil {
		t.Fatal(err)
	}
	return account.ID
}

// tampered copies the closed database, changes the copy without its guards, and opens that.
func (w *world) tampered(t *testing.T, statements ...string) world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, store.FileName)} {
		info, err := os.Stat(path)
		if err == nil {
			err = os.Chmod(path, info.Mode().Perm()&0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	change(t, dir, append([]string{
		`DROP TRIGGER ledger_no_update`, `DROP TRIGGER ledger_no_delete`, `DROP TRIGGER ledger_no_replace`,
		`CREATE TABLE loose AS SELECT * FROM ledger`, `DROP TABLE ledger`, `ALTER TABLE loose RENAME TO ledger`,
	}, statements...))
	c := world{dir: dir, me: w.me, other: w.other}
	c.open(t)
	return c
}

func change(t *testing.T, dir string, statements []string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(dir, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// click is an action with words in it that must never be found in the file.
func click(account string) ledger.Entry {
	return ledger.Entry{
		Account: account, Actor: ledger.Actor{Kind: "token", ID: "k_1"}, Run: "r1", Project: "p_1", Session: "s_1",
		Kind: ledger.Browser, Direction: "out", Peer: "example.com", Method: "click",
		Request: []byte(`{"url":"https://example.com/?q=very-private"}`), Detail: map[string]string{"tab": "t1"},
	}
}

// act does one whole action.
func (w *world) act(t *testing.T, account string) ledger.Row {
	t.Helper()
	pending, err := w.ledger.Begin(t.Context(), click(account))
	if err != nil {
		t.Fatal(err)
	}
	row, err := w.ledger.Finish(t.Context(), pending, ledger.Outcome{Outcome: ledger.Done, Response: []byte("page text")})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func (w *world) rows(t *testing.T, account string) []ledger.Row {
	t.Helper()
	rows, err := w.ledger.List(t.Context(), ledger.Filter{Account: account, Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// mustHold checks that an account's ledger has n rows that all hold.
func (w *world) mustHold(t *testing.T, account string, n int64) {
	t.Helper()
	report, err := w.ledger.Verify(t.Context(), account)
	if err != nil || report.Bad != nil || report.Rows != n {
		t.Errorf("verify answers %+v (bad: %+v), %v, want %d good rows", report, report.Bad, err, n)
	}
}
