package store

import (
	"context"
	"database/sql"
	"time"
)

// LoginCode is a one-time code, kept as its hash.
type LoginCode struct {
	Hash    string
	Account string
	Expires time.Time
}

// RefreshToken is one refresh token, kept as its hash. Family is the login that it came of; Used is zero
// until it has been taken.
type RefreshToken struct {
	Hash    string
	Account string
	Family  string
	Expires time.Time
	Used    time.Time
}

const refreshColumns = `hash, account, family, expires_ms, used_ms`

func scanRefresh(row scanner) (RefreshToken, error) {
	var t RefreshToken
	var expires, used int64
	err := row.Scan(&t.Hash, &t.Account, &t.Family, &expires, &used)
	t.Expires, t.Used = fromMS(expires), fromMS(used)
	return t, err
}

func scanString(row scanner) (string, error) {
	var text string
	err := row.Scan(&text)
	return text, err
}

// SaveLoginCode adds a code and drops the account's codes that have expired by now.
func (s *Store) SaveLoginCode(ctx context.Context, code LoginCode, now time.Time) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := exec(ctx, tx, q(`DELETE FROM login_codes WHERE account = $1 AND expires_ms <= $2`,
			code.Account, toMS(now)))
		if err != nil {
			return err
		}
		_, err = exec(ctx, tx, q(`INSERT INTO login_codes (hash, account, expires_ms) VALUES ($1, $2, $3)`,
			code.Hash, code.Account, toMS(code.Expires)))
		return err
	})
	return wrap(err, "save login code")
}

// TakeLoginCodeAnyAccount uses up a code that is unused and unexpired at now, and returns its account;
// ErrNotFound otherwise. Of several callers at once one succeeds.
func (s *Store) TakeLoginCodeAnyAccount(ctx context.Context, hash string, now time.Time) (string, error) {
	account, err := one(ctx, s.writer, scanString, q(`UPDATE login_codes SET used_ms = $1
		WHERE hash = $2 AND used_ms = 0 AND expires_ms > $1 RETURNING account`, toMS(now), hash))
	return account, wrap(err, "take login code")
}

// StartFamily adds a login with its first refresh token, and drops what of the account has expired.
func (s *Store) StartFamily(ctx context.Context, first RefreshToken, now time.Time) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := exec(ctx, tx, q(`DELETE FROM refresh_tokens WHERE account = $1 AND expires_ms <= $2`,
			first.Account, toMS(now)))
		if err != nil {
			return err
		}
		_, err = exec(ctx, tx, q(`INSERT INTO login_families (id, account, created_ms) VALUES ($1, $2, $3)`,
			first.Family, first.Account, toMS(now)))
		if err != nil {
			return err
		}
		return saveRefresh(ctx, tx, first)
	})
	return wrap(err, "start login")
}

// SaveRefresh adds the next refresh token of a login.
func (s *Store) SaveRefresh(ctx context.Context, token RefreshToken) error {
	return wrap(saveRefresh(ctx, s.writer, token), "save refresh token")
}

func saveRefresh(ctx context.Context, db querier, token RefreshToken) error {
	_, err := exec(ctx, db, q(`INSERT INTO refresh_tokens (`+refreshColumns+`) VALUES ($1, $2, $3, $4, $5)`,
		token.Hash, token.Account, token.Family, toMS(token.Expires), toMS(token.Used)))
	return err
}

// TakeRefreshAnyAccount marks a refresh token as used at now and returns it as it was before: of several
// callers at once, one sees it unused.
func (s *Store) TakeRefreshAnyAccount(ctx context.Context, hash string, now time.Time) (RefreshToken, error) {
	var before RefreshToken
	err := s.write(ctx, func(tx *sql.Tx) error {
		var err error
		before, err = one(ctx, tx, scanRefresh,
			q(`SELECT `+refreshColumns+` FROM refresh_tokens WHERE hash = $1`, hash))
		if err != nil || !before.Used.IsZero() {
			return err
		}
		return touch(ctx, tx, q(`UPDATE refresh_tokens SET used_ms = $1 WHERE account = $2 AND hash = $3`,
			toMS(now), before.Account, hash))
	})
	return before, wrap(err, "take refresh token")
}

// RevokeFamily ends a login with all that came of it; ErrNotFound when it has ended before.
func (s *Store) RevokeFamily(ctx context.Context, account, family string, now time.Time) error {
	err := touch(ctx, s.writer, q(`UPDATE login_families SET revoked_ms = $1
		WHERE account = $2 AND id = $3 AND revoked_ms = 0`, toMS(now), account, family))
	return wrap(err, "revoke login")
}

// AccountOfFamily finds the account of a login; ErrNotFound when the login was revoked or the account
// disabled.
func (s *Store) AccountOfFamily(ctx context.Context, account, family string) (Account, error) {
	found, err := one(ctx, s.reader, scanAccount, q(`SELECT a.id, a.name, a.created_ms, a.disabled_ms
		FROM accounts a JOIN login_families f ON f.account = a.id
		WHERE a.id = $1 AND f.id = $2 AND a.disabled_ms = 0 AND f.revoked_ms = 0`, account, family))
	return found, wrap(err, "find login")
}
