package ledger

import (
	"context"
	"fmt"
	"time"

	"chaperone/server/fault"
	"chaperone/server/store"
)

// finishTimeout is how long Finish may take once its caller has gone away: longer than the store waits
// for a lock.
const finishTimeout = 15 * time.Second

// Pending is an entry that is in the journal and not yet in the ledger.
type Pending struct{ account, id string }

// Row is one row of an account's ledger as it is stored.
type Row = store.LedgerRow

// Filter picks rows, newest first. Before is the lowest seq of the page before (0: from the end); Limit 0
// means 50, and 500 is the most. Every other zero field means any.
type Filter = store.LedgerFilter

// Ledger writes and reads every account's chain. It is safe for concurrent use.
type Ledger struct {
	store *store.Store
	now   func() time.Time
	words words
}

// New makes a ledger over s; now may be nil.
func New(s *store.Store, now func() time.Time) *Ledger {
	if now == nil {
		now = time.Now
	}
	return &Ledger{store: s, now: now, words: newWords()}
}

// Begin journals entry durably. When it answers an error the action must not run.
func (l *Ledger) Begin(ctx context.Context, entry Entry) (Pending, error) {
	journalled, err := l.journal(entry)
	if err != nil {
		return Pending{}, fmt.Errorf("begin ledger entry: %w", err)
	}
	if err := l.store.SaveJournal(ctx, journalled); err != nil {
		return Pending{}, fmt.Errorf("begin ledger entry: %w", err)
	}
	return Pending{account: journalled.Account, id: journalled.ID}, nil
}

// Finish appends the journalled entry with its outcome and clears the journal, in one transaction. It
// outlives ctx's cancellation, for the action has already run. A second Finish is an error.
func (l *Ledger) Finish(ctx context.Context, pending Pending, outcome Outcome) (Row, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	row, err := l.store.FinishJournal(ctx, pending.account, pending.id, l.seal(outcome))
	if err != nil {
		return Row{}, fmt.Errorf("finish ledger entry: %w", err)
	}
	return row, nil
}

// Append appends a row for something that has no before, such as a session's end.
func (l *Ledger) Append(ctx context.Context, entry Entry, outcome Outcome) (Row, error) {
	journalled, err := l.journal(entry)
	if err != nil {
		return Row{}, fmt.Errorf("append ledger row: %w", err)
	}
	row, err := l.store.AppendLedger(ctx, journalled, l.seal(outcome))
	if err != nil {
		return Row{}, fmt.Errorf("append ledger row: %w", err)
	}
	return row, nil
}

// Around journals entry, does the thing and appends the row: Done, or the code of the fault that do
// answered, which is returned.
func (l *Ledger) Around(ctx context.Context, entry Entry, do func(context.Context) error) error {
	pending, err := l.Begin(ctx, entry)
	if err != nil {
		return err
	}
	failure := do(ctx)
	outcome := Outcome{Outcome: Done}
	if failure != nil {
		outcome.Outcome = string(fault.Of(failure).Code)
	}
	if _, err := l.Finish(ctx, pending, outcome); err != nil && failure == nil {
		return err
	}
	return failure
}

// Recover makes rows with the outcome Lost of what a crash left in the journal, and says how many. It is
// for the start of a server, before anything else begins.
func (l *Ledger) Recover(ctx context.Context) (int, error) {
	left, err := l.store.ListJournalAnyAccount(ctx)
	if err != nil {
		return 0, fmt.Errorf("recover ledger: %w", err)
	}
	for i, entry := range left {
		outcome := Outcome{Outcome: Lost, Detail: map[string]string{"begun": stamp(entry.Begun)}}
		if _, err := l.store.FinishJournal(ctx, entry.Account, entry.ID, l.seal(outcome)); err != nil {
			return i, fmt.Errorf("recover ledger: %w", err)
		}
	}
	return len(left), nil
}

// List pages through an account's rows.
func (l *Ledger) List(ctx context.Context, filter Filter) ([]Row, error) {
	return l.store.ListLedger(ctx, filter)
}

// EraseSalts erases the salts of an account's rows up to and with seq; the chain still holds, but no
// digest of those rows can be tried against a guess any more.
func (l *Ledger) EraseSalts(ctx context.Context, account string, seq int64) (int64, error) {
	return l.store.EraseSalts(ctx, account, seq)
}

// MatchesRequest reports whether a row's request digest is that of request: how somebody who kept the
// bytes shows that they are the ones. Once the row's salts are erased the answer is store.ErrNotFound.
func (l *Ledger) MatchesRequest(ctx context.Context, row Row, request []byte) (bool, error) {
	salts, err := l.store.GetSalts(ctx, row.Account, row.Seq)
	if err != nil {
		return false, err
	}
	return matches(row.RequestDigest, salts.Request, request)
}

// MatchesResponse is MatchesRequest for the response.
func (l *Ledger) MatchesResponse(ctx context.Context, row Row, response []byte) (bool, error) {
	salts, err := l.store.GetSalts(ctx, row.Account, row.Seq)
	if err != nil {
		return false, err
	}
	return matches(row.ResponseDigest, salts.Response, response)
}

func (l *Ledger) journal(entry Entry) (store.JournalEntry, error) {
	if err := l.words.refuse(entry); err != nil {
		return store.JournalEntry{}, err
	}
	detail, err := encodeDetail(entry.Detail)
	if err != nil {
		return store.JournalEntry{}, err
	}
	sum, salt, err := digest(entry.Request)
	if err != nil {
		return store.JournalEntry{}, fmt.Errorf("digest request: %w", err)
	}
	now := l.now()
	id, err := store.NewID("j", now)
	return store.JournalEntry{
		ID: id, Account: entry.Account, Begun: now,
		ActorKind: entry.Actor.Kind, ActorID: entry.Actor.ID, Run: entry.Run,
		Project: entry.Project, Session: entry.Session, Kind: string(entry.Kind),
		Direction: entry.Direction, Peer: entry.Peer, Method: entry.Method,
		RequestDigest: sum, RequestSalt: salt, Detail: detail,
	}, err
}

// seal makes the row that follows the head. Rows are as late as the one before them even when the clock
// was set back.
func (l *Ledger) seal(outcome Outcome) store.Seal {
	outcome = l.words.withhold(outcome)
	return func(e store.JournalEntry, head store.LedgerHead) (store.SealedRow, error) {
		detail, err := mergeDetail(e.Detail, outcome.Detail)
		if err != nil {
			return store.SealedRow{}, err
		}
		sum, salt, err := digest(outcome.Response)
		if err != nil {
			return store.SealedRow{}, fmt.Errorf("digest response: %w", err)
		}
		row := Row{
			Account: e.Account, Seq: head.Seq + 1, Time: later(l.now(), head.Time),
			ActorKind: e.ActorKind, ActorID: e.ActorID, Run: e.Run, Project: e.Project, Session: e.Session,
			Kind: e.Kind, Direction: e.Direction, Peer: e.Peer, Method: e.Method,
			RequestDigest: e.RequestDigest, ResponseDigest: sum, Outcome: outcome.Outcome, Detail: detail,
			PrevHash: head.Hash,
		}
		if head.Seq == 0 {
			row.PrevHash = genesis()
		}
		row.Hash = HashRow(row)
		return store.SealedRow{Row: row, ResponseSalt: salt}, nil
	}
}

// later is the later of both, in the milliseconds that a row keeps.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return time.UnixMilli(a.UnixMilli()).UTC()
}
