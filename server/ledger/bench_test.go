package ledger_test

import (
	"path/filepath"
	"testing"

	"chaperone/server/ledger"
	"chaperone/server/store"
)

// BenchmarkAction is what the ledger costs one action: two durable transactions.
func BenchmarkAction(b *testing.B) {
	s, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "data"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	me, err := s.EnsureAccount(b.Context(), store.Account{ID: "u_1", Name: "me", Created: noon()})
	if err != nil {
		b.Fatal(err)
	}
	l := ledger.New(s, nil)
	for b.Loop() {
		pending, err := l.Begin(b.Context(), click(me.ID))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := l.Finish(b.Context(), pending, ledger.Outcome{Outcome: ledger.Done}); err != nil {
			b.Fatal(err)
		}
	}
}
