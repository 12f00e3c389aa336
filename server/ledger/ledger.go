package ledger

import (
	"context"
	"errors"
	"time"

	"chaperone/server/store"
)

// Kind says what a row is about.
type Kind string

// The kinds of row.
const (
	Browser Kind = "browser"
	CDP     Kind = "cdp"
	Skill   Kind = "skill"
	Access  Kind = "access"
)

// Outcomes that the ledger itself writes; any other outcome is one of the contract's error codes.
const (
	Done = "done"
	Lost = "lost"
)

// Actor is who did it: a person or a token, and its id.
type Actor struct {
	Kind string
	ID   string
}

// Entry is what is known before the action. Request is digested and not kept. Peer is a host, with a port
// when there is one; Method is a word such as `click`, `session.open` or `Page.navigate`. Detail holds
// short words and numbers only; text that could come from a page or a person is refused.
type Entry struct {
	Account   string
	Actor     Actor
	Run       string
	Project   string
	Session   string
	Kind      Kind
	Direction string
	Peer      string
	Method    string
	Request   []byte
	Detail    map[string]string
}

// Outcome is what is known after: Done or an error code, and the answer, which is digested and not kept.
type Outcome struct {
	Outcome  string
	Response []byte
	Detail   map[string]string
}

// Pending is an entry that is in the journal and not yet in the ledger.
type Pending struct{ account, id string }

// Row is one row of an account's ledger as it is stored.
type Row = store.LedgerRow

// Filter picks rows, newest first. Before is the lowest seq of the page before (0: from the end); Limit 0
// means 50, and 500 is the most. Every other zero field means any.
type Filter = store.LedgerFilter

// Class names what is wrong with a ledger.
type Class string

// The classes of a bad ledger.
const (
	BadHash Class = "bad_hash"
	Gap     Class = "gap"
	Fork    Class = "fork"
	Order   Class = "order"
)

// Bad is the first row that does not hold.
type Bad struct {
	Seq   int64  `json:"seq"`
	Class Class  `json:"class"`
	Why   string `json:"why"`
}

// Report is what Verify found. Bad is nil when every row holds; Hash is the last good row's.
type Report struct {
	Account string `json:"account"`
	Rows    int64  `json:"rows"`
	Hash    string `json:"hash"`
	Bad     *Bad   `json:"bad"`
}

// Ledger writes and reads every account's chain. It is safe for concurrent use.
type Ledger struct {
	store *store.Store
	now   func() time.Time
}

var errUnbuilt = errors.New("not here yet")

// New makes a ledger over store; now may be nil.
func New(s *store.Store, now func() time.Time) *Ledger { return &Ledger{s, now} }

// Begin journals entry durably. When it answers an error the action must not run.
func (l *Ledger) Begin(ctx context.Context, entry Entry) (Pending, error) {
	return Pending{}, errUnbuilt
}

// Finish appends the journalled entry with its outcome and clears the journal, in one transaction. It
// outlives ctx's cancellation, for the action has already run. A second Finish is an error.
func (l *Ledger) Finish(ctx context.Context, pending Pending, outcome Outcome) (Row, error) {
	return Row{}, errUnbuilt
}

// Append appends a row for something that has no before, such as a session's end.
func (l *Ledger) Append(ctx context.Context, entry Entry, outcome Outcome) (Row, error) {
	return Row{}, errUnbuilt
}

// Around journals entry, does the thing and appends the row with what came of it.
func (l *Ledger) Around(ctx context.Context, entry Entry, do func(context.Context) error) error {
	return errUnbuilt
}

// Recover makes rows with the outcome Lost of what a crash left in the journal, and says how many. It is
// for the start of a server, before anything else begins.
func (l *Ledger) Recover(ctx context.Context) (int, error) { return 0, errUnbuilt }

// Verify recomputes an account's chain.
func (l *Ledger) Verify(ctx context.Context, account string) (Report, error) {
	return Report{}, errUnbuilt
}

// List pages through an account's rows.
func (l *Ledger) List(ctx context.Context, filter Filter) ([]Row, error) { return nil, errUnbuilt }
