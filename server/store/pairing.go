package store

import (
	"context"
	"database/sql"
	"time"
)

// PairingToken is an account's pairing token, sealed, with the id that a browser names it by.
type PairingToken struct {
	Account string
	TokenID string
	Sealed  string
	Created time.Time
}

// Pairing is what a project's registration joins: the account's token and both names.
type Pairing struct {
	Account     string
	AccountName string
	Project     string
	ProjectName string
	Policy      string
	Sealed      string
}

const pairingTokenColumns = `account, token_id, sealed, created_ms`

func scanPairingToken(row scanner) (PairingToken, error) {
	var t PairingToken
	var created int64
	err := row.Scan(&t.Account, &t.TokenID, &t.Sealed, &created)
	t.Created = fromMS(created)
	return t, err
}

func scanPairing(row scanner) (Pairing, error) {
	var p Pairing
	err := row.Scan(&p.Account, &p.AccountName, &p.Project, &p.ProjectName, &p.Policy, &p.Sealed)
	return p, err
}

// GetPairingToken finds the account's pairing token, or ErrNotFound.
func (s *Store) GetPairingToken(ctx context.Context, account string) (PairingToken, error) {
	found, err := one(ctx, s.reader, scanPairingToken,
		q(`SELECT `+pairingTokenColumns+` FROM pairing_tokens WHERE account = $1`, account))
	return found, wrap(err, "get pairing token")
}

// EnsurePairingToken adds the token unless the account has one, and returns the one it has now.
func (s *Store) EnsurePairingToken(ctx context.Context, token PairingToken) (PairingToken, error) {
	var kept PairingToken
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := exec(ctx, tx, q(`INSERT INTO pairing_tokens (`+pairingTokenColumns+`) VALUES ($1, $2, $3, $4)
			ON CONFLICT (account) DO NOTHING`,
			token.Account, token.TokenID, token.Sealed, toMS(token.Created)))
		if err != nil {
			return err
		}
		kept, err = one(ctx, tx, scanPairingToken,
			q(`SELECT `+pairingTokenColumns+` FROM pairing_tokens WHERE account = $1`, token.Account))
		return err
	})
	return kept, wrap(err, "ensure pairing token")
}

// ReplacePairingToken gives the account a new pairing token and forgets all its pairings.
func (s *Store) ReplacePairingToken(ctx context.Context, token PairingToken) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := exec(ctx, tx, q(`DELETE FROM pairings WHERE account = $1`, token.Account))
		if err != nil {
			return err
		}
		_, err = exec(ctx, tx, q(`INSERT INTO pairing_tokens (`+pairingTokenColumns+`) VALUES ($1, $2, $3, $4)
			ON CONFLICT (account) DO UPDATE
			SET token_id = excluded.token_id, sealed = excluded.sealed, created_ms = excluded.created_ms`,
			token.Account, token.TokenID, token.Sealed, toMS(token.Created)))
		return err
	})
	return wrap(err, "replace pairing token")
}

// SavePairing registers a project for pairing; a project that is registered stays so.
func (s *Store) SavePairing(ctx context.Context, account, project string, now time.Time) error {
	_, err := exec(ctx, s.writer, q(`INSERT INTO pairings (account, project, created_ms) VALUES ($1, $2, $3)
		ON CONFLICT (account, project) DO NOTHING`, account, project, toMS(now)))
	return wrap(err, "save pairing")
}

// DeletePairing forgets a project's registration, if there is one.
func (s *Store) DeletePairing(ctx context.Context, account, project string) error {
	_, err := exec(ctx, s.writer, q(`DELETE FROM pairings WHERE account = $1 AND project = $2`, account, project))
	return wrap(err, "delete pairing")
}

// CountPairings says how many registrations the project has: none or one.
func (s *Store) CountPairings(ctx context.Context, account, project string) (int64, error) {
	n, err := one(ctx, s.reader, scanInt,
		q(`SELECT COUNT(*) FROM pairings WHERE account = $1 AND project = $2`, account, project))
	return n, wrap(err, "count pairings")
}

// PairingAnyAccount finds the registration of a project under a token id; ErrNotFound when token,
// registration or project is gone or the account disabled.
func (s *Store) PairingAnyAccount(ctx context.Context, tokenID, project string) (Pairing, error) {
	found, err := one(ctx, s.reader, scanPairing, q(`SELECT a.id, a.name, p.id, p.name, p.policy, t.sealed
		FROM pairing_tokens t
		JOIN accounts a ON a.id = t.account AND a.disabled_ms = 0
		JOIN pairings r ON r.account = t.account
		JOIN projects p ON p.account = t.account AND p.id = r.project AND p.archived_ms = 0
		WHERE t.token_id = $1 AND p.id = $2`, tokenID, project))
	return found, wrap(err, "find pairing")
}

// PairingHolderAnyAccount finds whose token id it is, as a Pairing without a project; ErrNotFound when it
// is nobody's or the account is disabled.
func (s *Store) PairingHolderAnyAccount(ctx context.Context, tokenID string) (Pairing, error) {
	found, err := one(ctx, s.reader, scanPairing, q(`SELECT a.id, a.name, '', '', '', t.sealed
		FROM pairing_tokens t JOIN accounts a ON a.id = t.account AND a.disabled_ms = 0
		WHERE t.token_id = $1`, tokenID))
	return found, wrap(err, "find pairing token")
}
