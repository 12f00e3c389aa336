package store

import (
	"context"
	"database/sql"
	"time"
)

// Account is one account's row. Disabled is zero while it may log in.
type Account struct {
	ID       string
	Name     string
	Created  time.Time
	Disabled time.Time
}

const accountColumns = `id, name, created_ms, disabled_ms`

func scanAccount(row scanner) (Account, error) {
	var a Account
	var created, disabled int64
	err := row.Scan(&a.ID, &a.Name, &created, &disabled)
	a.Created, a.Disabled = fromMS(created), fromMS(disabled)
	return a, err
}

// EnsureAccount adds the account unless one has its name, and returns the one that has it now.
func (s *Store) EnsureAccount(ctx context.Context, account Account) (Account, error) {
	var kept Account
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := exec(ctx, tx, q(`INSERT INTO accounts (`+accountColumns+`) VALUES ($1, $2, $3, $4)
			ON CONFLICT (name) DO NOTHING`,
			account.ID, account.Name, toMS(account.Created), toMS(account.Disabled)))
		if err != nil {
			return err
		}
		kept, err = one(ctx, tx, scanAccount,
			q(`SELECT `+accountColumns+` FROM accounts WHERE name = $1`, account.Name))
		return err
	})
	return kept, wrap(err, "ensure account")
}

// GetAccount finds an account by id, or ErrNotFound.
func (s *Store) GetAccount(ctx context.Context, id string) (Account, error) {
	found, err := one(ctx, s.reader, scanAccount,
		q(`SELECT `+accountColumns+` FROM accounts WHERE id = $1`, id))
	return found, wrap(err, "get account")
}

// DisableAccount stops an account from logging in or acting from now on; a zero time lets it again.
func (s *Store) DisableAccount(ctx context.Context, id string, now time.Time) error {
	err := touch(ctx, s.writer, q(`UPDATE accounts SET disabled_ms = $1 WHERE id = $2`, toMS(now), id))
	return wrap(err, "disable account")
}
