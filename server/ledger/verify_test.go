package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"chaperone/server/ledger"
)

// forge writes row over the one with its seq, or adds it, with a hash that fits its contents.
func forge(row ledger.Row) string {
	return fmt.Sprintf(`INSERT INTO ledger SELECT '%s', %d, %d, '%s', '%s', '%s', '%s', '%s', '%s', '%s', '%s', '%s',
		'%s', '%s', '%s', '%s', '%s', '%s'`,
		row.Account, row.Seq, row.Time.UnixMilli(), row.ActorKind, row.ActorID, row.Run, row.Project, row.Session, row.Kind,
		row.Direction, row.Peer, row.Method, row.RequestDigest, row.ResponseDigest, row.Outcome, row.Detail,
		row.PrevHash, ledger.HashRow(row))
}

func TestVerifyNamesTheFirstBadRow(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		w.act(t, w.me)
		w.act(t, w.other)
	}
	rows := w.rows(t, w.me) // rows[0] is the fifth
	w.close(t, w.store)
	mine := func(statement string) []string { return []string{statement + " AND account = '" + w.me + "'"} }
	with := func(row ledger.Row, alter func(*ledger.Row)) ledger.Row {
		alter(&row)
		return row
	}
	del := func(seq int) string { return mine(fmt.Sprintf(`DELETE FROM ledger WHERE seq = %d`, seq))[0] }

	type result struct {
		seq   int64
		class ledger.Class
	}
	tests := map[string]struct {
		tamper []string
		want   result
	}{
		"the first deleted":      {mine(`DELETE FROM ledger WHERE seq = 1`), result{1, ledger.Gap}},
		"one in the middle gone": {mine(`DELETE FROM ledger WHERE seq = 3`), result{3, ledger.Gap}},
		"the last deleted":       {mine(`DELETE FROM ledger WHERE seq = 5`), result{5, ledger.Gap}},
		"all deleted":            {mine(`DELETE FROM ledger WHERE seq > 0`), result{1, ledger.Gap}},
		"two swapped":            {mine(`UPDATE ledger SET seq = 5 - seq WHERE seq IN (2, 3)`), result{2, ledger.BadHash}},
		"one moved to the end":   {mine(`UPDATE ledger SET seq = 6 WHERE seq = 3`), result{3, ledger.Gap}},
		"one twice":              {mine(`INSERT INTO ledger SELECT * FROM ledger WHERE seq = 3`), result{3, ledger.Fork}},
		"one given to another account": {
			[]string{`UPDATE ledger SET account = '` + w.other + `' WHERE seq = 3 AND account = '` + w.me + `'`}, result{3, ledger.Gap},
		},
		"another account's row in its place": {
			[]string{del(3), `UPDATE ledger SET account = '` + w.me + `' WHERE seq = 3 AND account = '` + w.other + `'`},
			result{3, ledger.BadHash},
		},
		"a changed row with a fitting hash": {
			[]string{del(3), forge(with(rows[2], func(r *ledger.Row) { r.Outcome = "forbidden" }))}, result{4, ledger.Order},
		},
		"a changed last row with a fitting hash": {
			[]string{del(5), forge(with(rows[0], func(r *ledger.Row) { r.Outcome = "forbidden" }))}, result{5, ledger.BadHash},
		},
		"a second row after the second": {
			[]string{del(4), forge(with(rows[2], func(r *ledger.Row) { r.Seq, r.Outcome = 4, "forbidden" }))}, result{4, ledger.Fork},
		},
		"a row that follows an older one": {
			[]string{del(5), forge(with(rows[0], func(r *ledger.Row) { r.PrevHash = rows[4].Hash }))}, result{5, ledger.Order},
		},
		"a row back in time": {
			[]string{del(5), forge(with(rows[0], func(r *ledger.Row) { r.Time = noon().Add(-24 * 365 * time.Hour) }))},
			result{5, ledger.Order},
		},
		"a row added at the end": {
			[]string{forge(with(rows[0], func(r *ledger.Row) { r.Seq, r.PrevHash = 6, rows[0].Hash }))}, result{6, ledger.Order},
		},
		"the head's hash changed": {
			mine(`UPDATE ledger_heads SET hash = 'x' WHERE seq = 5`), result{5, ledger.BadHash},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := w.tampered(t, test.tamper...)
			report, err := c.ledger.Verify(t.Context(), c.me)
			if err != nil || report.Bad == nil {
				t.Fatalf("verify answers %+v, %v", report, err)
			}
			if got := (result{report.Bad.Seq, report.Bad.Class}); got != test.want {
				t.Errorf("verify names %+v (%s), want %+v", got, report.Bad.Why, test.want)
			}
		})
	}
}

func TestVerifySeesAChangedByteInEveryColumn(t *testing.T) {
	w := newWorld(t)
	for range 4 {
		w.act(t, w.me)
	}
	w.close(t, w.store)
	untouched := w.tampered(t)
	untouched.mustHold(t, w.me, 4)
	for _, column := range []string{
		"actor_kind", "actor_id", "run", "project", "session", "kind", "direction", "peer", "method",
		"request_digest", "response_digest", "outcome", "detail", "prev_hash", "hash",
	} {
		t.Run(column, func(t *testing.T) {
			c := w.tampered(t, fmt.Sprintf(`UPDATE ledger SET %s = substr(%s, 1, length(%s) - 1) || '~' WHERE seq = 3`,
				column, column, column))
			wantBad(t, c, 3)
		})
	}
	t.Run("time_ms", func(t *testing.T) {
		wantBad(t, w.tampered(t, `UPDATE ledger SET time_ms = time_ms + 1 WHERE seq = 3`), 3)
	})
}

func wantBad(t *testing.T, w world, seq int64) {
	t.Helper()
	report, err := w.ledger.Verify(t.Context(), w.me)
	if err != nil || report.Bad == nil || report.Bad.Seq != seq || report.Bad.Class != ledger.BadHash || report.Rows != seq-1 {
		t.Errorf("verify answers %+v (bad: %+v), %v", report, report.Bad, err)
	}
}
