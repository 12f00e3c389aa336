package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// JournalEntry is what was begun: a ledger row's columns as far as they are known before the action.
type JournalEntry struct {
	ID            string
	Account       string
	Begun         time.Time
	ActorKind     string
	ActorID       string
	Run           string
	Project       string
	Session       string
	Kind          string
	Direction     string
	Peer          string
	Method        string
	RequestDigest string
	RequestSalt   string
	Detail        string
}

// SealedRow is a row that is ready to be appended, and its response's salt.
type SealedRow struct {
	Row          LedgerRow
	ResponseSalt string
}

// Seal makes the row that follows head out of a journal entry. It runs inside the transaction that
// appends the row, so it must not use the store.
type Seal func(entry JournalEntry, head LedgerHead) (SealedRow, error)

const journalColumns = `id, account, begun_ms, actor_kind, actor_id, run, project, session, kind, direction,
	peer, method, request_digest, request_salt, detail`

func scanJournal(row scanner) (JournalEntry, error) {
	var e JournalEntry
	var begun int64
	err := row.Scan(&e.ID, &e.Account, &begun, &e.ActorKind, &e.ActorID, &e.Run, &e.Project, &e.Session, &e.Kind,
		&e.Direction, &e.Peer, &e.Method, &e.RequestDigest, &e.RequestSalt, &e.Detail)
	e.Begun = fromMS(begun)
	return e, err
}

// SaveJournal makes an entry durable.
func (s *Store) SaveJournal(ctx context.Context, e JournalEntry) error {
	_, err := exec(ctx, s.writer, q(`INSERT INTO ledger_journal (`+journalColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		e.ID, e.Account, toMS(e.Begun), e.ActorKind, e.ActorID, e.Run, e.Project, e.Session, e.Kind,
		e.Direction, e.Peer, e.Method, e.RequestDigest, e.RequestSalt, e.Detail))
	return wrap(err, "save journal entry")
}

// ListJournalAnyAccount lists what was begun and has no row, oldest first.
func (s *Store) ListJournalAnyAccount(ctx context.Context) ([]JournalEntry, error) {
	list, err := many(ctx, s.reader, scanJournal,
		q(`SELECT `+journalColumns+` FROM ledger_journal ORDER BY begun_ms, id`))
	return list, wrap(err, "list journal")
}

// FinishJournal takes an entry out of the journal and appends its row, both or neither; ErrNotFound when
// the entry is not in the journal any more.
func (s *Store) FinishJournal(ctx context.Context, account, id string, seal Seal) (LedgerRow, error) {
	var appended LedgerRow
	err := s.write(ctx, func(tx *sql.Tx) error {
		entry, err := one(ctx, tx, scanJournal,
			q(`DELETE FROM ledger_journal WHERE account = $1 AND id = $2 RETURNING `+journalColumns, account, id))
		if err != nil {
			return err
		}
		appended, err = appendRow(ctx, tx, entry, seal)
		return err
	})
	return appended, wrap(err, "finish journal entry")
}

// AppendLedger appends the row of an entry that never was in the journal.
func (s *Store) AppendLedger(ctx context.Context, entry JournalEntry, seal Seal) (LedgerRow, error) {
	var appended LedgerRow
	err := s.write(ctx, func(tx *sql.Tx) error {
		var err error
		appended, err = appendRow(ctx, tx, entry, seal)
		return err
	})
	return appended, wrap(err, "append ledger row")
}

func appendRow(ctx context.Context, tx querier, entry JournalEntry, seal Seal) (LedgerRow, error) {
	head, err := ledgerHead(ctx, tx, entry.Account)
	if err != nil {
		return LedgerRow{}, err
	}
	sealed, err := seal(entry, head)
	if err != nil {
		return LedgerRow{}, err
	}
	r := sealed.Row
	for _, st := range []statement{insertRow(r), insertSalts(r, entry.RequestSalt, sealed.ResponseSalt), moveHead(r)} {
		if _, err := exec(ctx, tx, st); err != nil {
			return LedgerRow{}, err
		}
	}
	return r, nil
}

func ledgerHead(ctx context.Context, db querier, account string) (LedgerHead, error) {
	head, err := one(ctx, db, scanHead, q(`SELECT seq, time_ms, hash FROM ledger_heads WHERE account = $1`, account))
	if errors.Is(err, ErrNotFound) {
		return LedgerHead{}, nil
	}
	return head, err
}

func insertRow(r LedgerRow) statement {
	return q(`INSERT INTO ledger (`+ledgerColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
		r.Account, r.Seq, toMS(r.Time), r.ActorKind, r.ActorID, r.Run, r.Project, r.Session, r.Kind, r.Direction,
		r.Peer, r.Method, r.RequestDigest, r.ResponseDigest, r.Outcome, r.Detail, r.PrevHash, r.Hash)
}

func insertSalts(r LedgerRow, request, response string) statement {
	return q(`INSERT INTO ledger_salts (account, seq, request_salt, response_salt) VALUES ($1, $2, $3, $4)`,
		r.Account, r.Seq, request, response)
}

func moveHead(r LedgerRow) statement {
	return q(`INSERT INTO ledger_heads (account, seq, time_ms, hash) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account) DO UPDATE SET seq = excluded.seq, time_ms = excluded.time_ms, hash = excluded.hash`,
		r.Account, r.Seq, toMS(r.Time), r.Hash)
}
