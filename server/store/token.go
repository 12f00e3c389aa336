package store

import (
	"context"
	"time"
)

// AgentToken is one agent token, kept as its hash. Project is empty for the command line's local token.
type AgentToken struct {
	ID      string
	Account string
	Project string
	Name    string
	Role    string
	Hash    string
	Created time.Time
	Expires time.Time
	Revoked time.Time
}

// TokenHolder is an agent token with the account it acts for.
type TokenHolder struct {
	Token   AgentToken
	Account Account
}

// The columns' order is that of tokenFields.
//
//nolint:gosec // column names, not a credential
const tokenColumns = `t.id, t.account, t.project, t.name, t.role, t.hash, t.created_ms, t.expires_ms, t.revoked_ms`

// tokenFields are the places for tokenColumns; the three times are put into t by the returned function.
func tokenFields(t *AgentToken) ([]any, func()) {
	var created, expires, revoked int64
	fields := []any{&t.ID, &t.Account, &t.Project, &t.Name, &t.Role, &t.Hash, &created, &expires, &revoked}
	return fields, func() {
		t.Created, t.Expires, t.Revoked = fromMS(created), fromMS(expires), fromMS(revoked)
	}
}

func scanToken(row scanner) (AgentToken, error) {
	var t AgentToken
	fields, finish := tokenFields(&t)
	err := row.Scan(fields...)
	finish()
	return t, err
}

func scanHolder(row scanner) (TokenHolder, error) {
	var h TokenHolder
	fields, finish := tokenFields(&h.Token)
	var created, disabled int64
	err := row.Scan(append(fields, &h.Account.ID, &h.Account.Name, &created, &disabled)...)
	finish()
	h.Account.Created, h.Account.Disabled = fromMS(created), fromMS(disabled)
	return h, err
}

// SaveAgentToken adds an agent token.
func (s *Store) SaveAgentToken(ctx context.Context, t AgentToken) error {
	_, err := exec(ctx, s.writer, q(`INSERT INTO agent_tokens
		(id, account, project, name, role, hash, created_ms, expires_ms, revoked_ms)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		t.ID, t.Account, t.Project, t.Name, t.Role, t.Hash, toMS(t.Created), toMS(t.Expires), toMS(t.Revoked)))
	return wrap(err, "save agent token")
}

// AgentTokenAnyAccount finds an agent token by its hash, revoked and expired ones too, or ErrNotFound.
func (s *Store) AgentTokenAnyAccount(ctx context.Context, hash string) (TokenHolder, error) {
	found, err := one(ctx, s.reader, scanHolder, q(`SELECT `+tokenColumns+`, a.id, a.name, a.created_ms, a.disabled_ms
		FROM agent_tokens t JOIN accounts a ON a.id = t.account WHERE t.hash = $1`, hash))
	return found, wrap(err, "find agent token")
}

// GetAgentToken finds one agent token of the account by its id, or ErrNotFound.
func (s *Store) GetAgentToken(ctx context.Context, account, id string) (AgentToken, error) {
	found, err := one(ctx, s.reader, scanToken,
		q(`SELECT `+tokenColumns+` FROM agent_tokens t WHERE t.account = $1 AND t.id = $2`, account, id))
	return found, wrap(err, "get agent token")
}

// ListAgentTokens lists the account's agent tokens, newest first.
func (s *Store) ListAgentTokens(ctx context.Context, account string) ([]AgentToken, error) {
	list, err := many(ctx, s.reader, scanToken,
		q(`SELECT `+tokenColumns+` FROM agent_tokens t WHERE t.account = $1 ORDER BY t.id DESC`, account))
	return list, wrap(err, "list agent tokens")
}

// RevokeAgentToken ends an agent token at now; ErrNotFound when the account has no such unrevoked token.
func (s *Store) RevokeAgentToken(ctx context.Context, account, id string, now time.Time) error {
	err := touch(ctx, s.writer, q(`UPDATE agent_tokens SET revoked_ms = $1
		WHERE account = $2 AND id = $3 AND revoked_ms = 0`, toMS(now), account, id))
	return wrap(err, "revoke agent token")
}
