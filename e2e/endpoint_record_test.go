package e2e_test

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3" // the driver

	"chaperone/server/store"
)

// commandRow is a ledger row of CDP commands.
type commandRow struct {
	Method, Outcome, Peer, Detail string
}

func (s *served) commandRows(session string) []commandRow {
	s.t.Helper()
	var rows struct{ Items []commandRow }
	s.ask(http.MethodGet, "/ledger?kind=cdp&session="+session, nil, &rows)
	return rows.Items
}

// settledRows are the rows once every command counts in one.
func (s *served) settledRows(session string) []commandRow {
	s.t.Helper()
	db := s.database()
	s.await(func() bool {
		var left int
		check(s.t, db.QueryRowContext(s.t.Context(), `SELECT COUNT(*) FROM ledger_journal`).Scan(&left))
		return left == 0
	}, "the journal to be empty")
	return s.commandRows(session)
}

func TestWhatClientsDoIsInTheLedgerAlsoAfterAKill(t *testing.T) {
	s, site, session := interactive(t)
	c := speak(t, s.openCDP(session).WS)
	_, page := c.page()
	c.must(page, "Page.navigate", map[string]any{"url": site.origin + "/form"}, nil)
	c.refused(page, "Network.getCookies", struct{}{})
	const hosts = 2 // none, for what has no tab, and the site's
	s.await(func() bool { return len(s.commandRows(session)) >= hosts }, "the rows of the second")
	seen := map[string]string{}
	for _, row := range s.commandRows(session) {
		if row.Peer != "" {
			decodeJSON(t, row.Detail, &seen)
		}
	}
	if seen["Page.navigate"] != "1" || seen["refused.Network"] != "1" || seen["refused"] != "1" || !strings.Contains(seen["client.1"], ":") {
		t.Errorf("the rows say %v", seen)
	}
	before := len(s.settledRows(session))
	c.must(page, "Page.getFrameTree", struct{}{}, nil)
	s.kill()
	again := serveIn(t, s.data, "--test-origin", site.origin)
	rows := again.commandRows(session)
	if len(rows) != before+1 || rows[0].Outcome != "lost" || rows[0].Method != "commands" {
		t.Errorf("after the kill: %+v", rows)
	}
	if out := again.must("ledger", "verify"); !strings.Contains(out, "hold") {
		t.Errorf("verify says %s", out)
	}
}

func TestAnEndpointWhoseCommandsCannotBeRecordedIsAtItsEnd(t *testing.T) {
	s, _, session := interactive(t)
	o := s.openCDP(session)
	c := speak(t, o.WS)
	_, page := c.page()
	s.settledRows(session)
	s.seal()
	if answer, err := c.try(page, "Runtime.evaluate", evaluate("document.title = 'done'")); err == nil {
		t.Errorf("a command that is not in the journal was answered %+v", answer)
	}
	s.await(func() bool {
		return knockAt(t, o.host(), "/devtools/browser/"+o.secret(), "Host: "+o.host()).status == http.StatusNotFound
	}, "the endpoint to end")
}

// seal makes the journal take nothing more, as a full disk would.
func (s *served) seal() {
	s.t.Helper()
	_, err := s.database().ExecContext(s.t.Context(),
		`CREATE TRIGGER sealed BEFORE INSERT ON ledger_journal BEGIN SELECT RAISE(ABORT, 'sealed'); END`)
	check(s.t, err)
}

// database is the server's own, opened beside it until the test's end.
func (s *served) database() *sql.DB {
	s.t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(s.data, store.FileName)+"?_busy_timeout=5000")
	check(s.t, err)
	s.t.Cleanup(func() { _ = db.Close() })
	return db
}
