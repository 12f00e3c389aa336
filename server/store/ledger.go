package store

import (
	"context"
	"time"
)

// LedgerRow is one row of an account's ledger. Digests and hashes are lower-case hex; Detail is JSON.
type LedgerRow struct {
	Account        string    `json:"account"`
	Seq            int64     `json:"seq"`
	Time           time.Time `json:"time"`
	ActorKind      string    `json:"actor_kind"`
	ActorID        string    `json:"actor"`
	Run            string    `json:"run,omitempty"`
	Project        string    `json:"project,omitempty"`
	Session        string    `json:"session,omitempty"`
	Kind           string    `json:"kind"`
	Direction      string    `json:"direction,omitempty"`
	Peer           string    `json:"peer,omitempty"`
	Method         string    `json:"method"`
	RequestDigest  string    `json:"request_digest,omitempty"`
	ResponseDigest string    `json:"response_digest,omitempty"`
	Outcome        string    `json:"outcome"`
	Detail         string    `json:"detail,omitempty"`
	PrevHash       string    `json:"prev_hash"`
	Hash           string    `json:"hash"`
}

// LedgerHead is the end of an account's chain; the zero head is that of an account without rows.
type LedgerHead struct {
	Seq  int64
	Time time.Time
	Hash string
}

// LedgerFilter picks rows, newest first; a zero field means any, but Account is required. Before is the
// lowest seq of the page before. Limit 0 means 50, and 500 is the most.
type LedgerFilter struct {
	Account string
	Kind    string
	Project string
	Session string
	Peer    string
	Since   time.Time
	Until   time.Time
	Before  int64
	Limit   int
}

const ledgerColumns = `account, seq, time_ms, actor_kind, actor_id, run, project, session, kind, direction,
	peer, method, request_digest, response_digest, outcome, detail, prev_hash, hash`

func scanLedger(row scanner) (LedgerRow, error) {
	var r LedgerRow
	var at int64
	err := row.Scan(&r.Account, &r.Seq, &at, &r.ActorKind, &r.ActorID, &r.Run, &r.Project, &r.Session, &r.Kind,
		&r.Direction, &r.Peer, &r.Method, &r.RequestDigest, &r.ResponseDigest, &r.Outcome, &r.Detail,
		&r.PrevHash, &r.Hash)
	r.Time = fromMS(at)
	return r, err
}

func scanHead(row scanner) (LedgerHead, error) {
	var h LedgerHead
	var at int64
	err := row.Scan(&h.Seq, &at, &h.Hash)
	h.Time = fromMS(at)
	return h, err
}

// ListLedger lists rows, newest first.
func (s *Store) ListLedger(ctx context.Context, f LedgerFilter) ([]LedgerRow, error) {
	list, err := many(ctx, s.reader, scanLedger, q(`SELECT `+ledgerColumns+` FROM ledger
		WHERE account = $1 AND ($2 = '' OR kind = $2) AND ($3 = '' OR project = $3)
		AND ($4 = '' OR session = $4) AND ($5 = '' OR peer = $5)
		AND ($6 = 0 OR time_ms >= $6) AND ($7 = 0 OR time_ms < $7) AND ($8 = 0 OR seq < $8)
		ORDER BY seq DESC LIMIT $9`,
		f.Account, f.Kind, f.Project, f.Session, f.Peer, toMS(f.Since), toMS(f.Until), f.Before,
		pageSize(f.Limit, 50, 500)))
	return list, wrap(err, "list ledger")
}

// WalkLedger visits all rows of the account in the order of their seq, as of one moment, and returns the
// head of that moment. Visit's error ends the walk and is returned.
func (s *Store) WalkLedger(ctx context.Context, account string, visit func(LedgerRow) error) (LedgerHead, error) {
	tx, err := s.reader.BeginTx(ctx, nil)
	if err != nil {
		return LedgerHead{}, wrap(err, "walk ledger")
	}
	defer func() { _ = tx.Rollback() }() // it only read: there is nothing to lose
	head, err := ledgerHead(ctx, tx, account)
	if err != nil {
		return head, wrap(err, "walk ledger")
	}
	err = each(ctx, tx, q(`SELECT `+ledgerColumns+` FROM ledger WHERE account = $1 ORDER BY seq`, account),
		func(row scanner) error {
			r, err := scanLedger(row)
			if err != nil {
				return err
			}
			return visit(r)
		})
	return head, wrap(err, "walk ledger")
}

// EraseSalts erases the salts of the account's rows up to and with seq, and says how many rows' went. They
// are overwritten in the database; the write-ahead log is emptied too, unless a reader holds it just then.
func (s *Store) EraseSalts(ctx context.Context, account string, seq int64) (int64, error) {
	n, err := exec(ctx, s.writer, q(`DELETE FROM ledger_salts WHERE account = $1 AND seq <= $2`, account, seq))
	if err != nil {
		return 0, wrap(err, "erase salts")
	}
	_, err = exec(ctx, s.writer, q(`PRAGMA wal_checkpoint(TRUNCATE)`))
	return n, wrap(err, "empty the write-ahead log")
}

// LedgerSalts are the salts of one row's digests.
type LedgerSalts struct {
	Request  string
	Response string
}

// GetSalts finds one row's salts; ErrNotFound once they are erased.
func (s *Store) GetSalts(ctx context.Context, account string, seq int64) (LedgerSalts, error) {
	salts, err := one(ctx, s.reader, scanSalts,
		q(`SELECT request_salt, response_salt FROM ledger_salts WHERE account = $1 AND seq = $2`, account, seq))
	return salts, wrap(err, "get salts")
}

func scanSalts(row scanner) (LedgerSalts, error) {
	var salts LedgerSalts
	err := row.Scan(&salts.Request, &salts.Response)
	return salts, err
}
