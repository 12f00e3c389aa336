package store_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"chaperone/server/store"
)

// follow seals a row that names its entry's id as its hash.
func follow(entry store.JournalEntry, head store.LedgerHead) (store.SealedRow, error) {
	return store.SealedRow{Row: store.LedgerRow{
		Account: entry.Account, Seq: head.Seq + 1, Time: noon(), PrevHash: head.Hash, Hash: entry.ID,
	}}, nil
}

func TestTheDatabaseRefusesToChangeTheLedger(t *testing.T) {
	dir := privateDir(t)
	s := open(t, dir)
	who := addTenant(t, s, "me")
	for _, id := range []string{"j1", "j2"} {
		if _, err := s.AppendLedger(t.Context(), store.JournalEntry{ID: id, Account: who.account}, follow); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite3", filepath.Join(dir, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	copyRow := ` INTO ledger SELECT account, %SEQ%, time_ms, actor_kind, actor_id, run, project, session, kind, direction,
		peer, method, request_digest, response_digest, outcome, detail, %PREV%, %HASH% FROM ledger WHERE seq = 2`
	fill := func(seq, prev, hash string) string {
		return strings.NewReplacer("%SEQ%", seq, "%PREV%", prev, "%HASH%", hash).Replace(copyRow)
	}
	for name, statement := range map[string]string{
		"an update":                     `UPDATE ledger SET outcome = 'done' WHERE seq = 1`,
		"a delete":                      `DELETE FROM ledger WHERE seq = 2`,
		"a delete of everything":        `DELETE FROM ledger`,
		"a replacement":                 `INSERT OR REPLACE` + fill("2", "'x'", "'y'"),
		"a fork":                        `INSERT` + fill("3", "prev_hash", "'y'"),
		"a fork by replacement":         `INSERT OR REPLACE` + fill("3", "prev_hash", "'y'"),
		"a hash twice":                  `INSERT` + fill("3", "'x'", "hash"),
		"an update of a row's own hash": `UPDATE OR REPLACE ledger SET hash = 'j1' WHERE seq = 2`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := db.ExecContext(t.Context(), statement)
			if err == nil || !strings.Contains(err.Error(), "append only") {
				t.Errorf("the database answers %v", err)
			}
		})
	}
	list, err := s.ListLedger(t.Context(), store.LedgerFilter{Account: who.account})
	if err != nil || len(list) != 2 || list[0].Hash != "j2" || list[1].Hash != "j1" {
		t.Errorf("the ledger is %v, %v", list, err)
	}
}

func TestAFailedSealLeavesTheJournalAsItWas(t *testing.T) {
	s := open(t, privateDir(t))
	who := addTenant(t, s, "me")
	entry := store.JournalEntry{ID: "j1", Account: who.account, Begun: noon()}
	if err := s.SaveJournal(t.Context(), entry); err != nil {
		t.Fatal(err)
	}
	sealFailed := errors.New("no randomness")
	_, err := s.FinishJournal(t.Context(), who.account, "j1",
		func(store.JournalEntry, store.LedgerHead) (store.SealedRow, error) {
			return store.SealedRow{}, sealFailed
		})
	if !errors.Is(err, sealFailed) {
		t.Errorf("finish answers %v", err)
	}
	left, err := s.ListJournalAnyAccount(t.Context())
	if err != nil || len(left) != 1 || left[0] != entry {
		t.Errorf("the journal holds %v, %v", left, err)
	}
}

func TestAnotherAccountCannotFinishAnEntry(t *testing.T) {
	s := open(t, privateDir(t))
	mine, other := addTenant(t, s, "me"), addTenant(t, s, "other")
	if err := s.SaveJournal(t.Context(), store.JournalEntry{ID: "j1", Account: mine.account}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.FinishJournal(t.Context(), other.account, "j1", follow); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("finish answers %v", err)
	}
}
