package ledger

import (
	"context"
	"errors"
	"fmt"

	"chaperone/server/store"
)

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

// Report is what Verify found. Bad is nil when every row holds; Rows counts those that do, and Hash is the
// last one's.
type Report struct {
	Account string `json:"account"`
	Rows    int64  `json:"rows"`
	Hash    string `json:"hash"`
	Bad     *Bad   `json:"bad"`
}

// errBad ends the walk at the first bad row.
var errBad = errors.New("bad row")

// Verify recomputes an account's chain as of one moment and names the first row that does not hold. An
// error means that the ledger could not be read, not that it is bad.
func (l *Ledger) Verify(ctx context.Context, account string) (Report, error) {
	c := chain{last: Row{Account: account, Hash: genesis()}}
	head, err := l.store.WalkLedger(ctx, account, c.follow)
	if err != nil && !errors.Is(err, errBad) {
		return Report{}, fmt.Errorf("verify ledger: %w", err)
	}
	if c.bad == nil {
		c.bad = c.end(head)
	}
	return Report{Account: account, Rows: c.last.Seq, Hash: c.last.Hash, Bad: c.bad}, nil
}

// chain is a walk along an account's rows: the last one that held, and the first that did not.
type chain struct {
	last Row
	bad  *Bad
}

func (c *chain) follow(r Row) error {
	if c.bad = c.judge(r); c.bad != nil {
		return errBad
	}
	c.last = r
	return nil
}

func (c *chain) judge(r Row) *Bad {
	switch {
	case c.last.Seq > 0 && r.Seq == c.last.Seq:
		return &Bad{r.Seq, Fork, "two rows have this number"}
	case r.Seq != c.last.Seq+1:
		return &Bad{c.last.Seq + 1, Gap, fmt.Sprintf("this row is missing: after %d comes %d", c.last.Seq, r.Seq)}
	case HashRow(r) != r.Hash:
		return &Bad{r.Seq, BadHash, "the row's contents do not have its hash"}
	case c.last.Seq > 0 && r.PrevHash == c.last.PrevHash:
		return &Bad{r.Seq, Fork, "this row and the one before it follow the same row"}
	case r.PrevHash != c.last.Hash:
		return &Bad{r.Seq, Order, "the row does not follow the one before it"}
	case r.Time.Before(c.last.Time):
		return &Bad{r.Seq, Order, "the row is earlier than the one before it"}
	}
	return nil
}

// end judges where the rows stop against where the chain's head says that they do.
func (c *chain) end(head store.LedgerHead) *Bad {
	switch {
	case head.Seq > c.last.Seq:
		return &Bad{c.last.Seq + 1, Gap, fmt.Sprintf("this row is missing: the ledger ended at %d", head.Seq)}
	case head.Seq < c.last.Seq:
		return &Bad{head.Seq + 1, Order, fmt.Sprintf("this row was not appended: the ledger ended at %d", head.Seq)}
	case head.Seq > 0 && head.Hash != c.last.Hash:
		return &Bad{head.Seq, BadHash, "the last row is not the one that was appended"}
	}
	return nil
}
