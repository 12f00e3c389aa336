package account

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"chaperone/server/fault"
	"chaperone/server/store"
)

const (
	usualTokenLifetime = 90 * 24 * time.Hour
	mostTokenLifetime  = 365 * 24 * time.Hour
	mostNameRunes      = 64
)

// AgentToken is one agent token as it may be shown again; the token itself is not kept. Project is empty
// for the command line's local token.
type AgentToken struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Project string    `json:"project"`
	Role    Role      `json:"role"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	Revoked bool      `json:"revoked"`
}

// TokenSpec asks for an agent token. Project is a project id and required; Lifetime 0 means 90 days, and
// a year is the most.
type TokenSpec struct {
	Name     string
	Project  string
	Role     Role
	Lifetime time.Duration
}

// CreateToken makes an agent token; the string is shown this once. Only who may manage the account can.
func (a *Accounts) CreateToken(ctx context.Context, actor Actor, spec TokenSpec) (AgentToken, string, error) {
	if err := mayManage(actor); err != nil {
		return AgentToken{}, "", err
	}
	if err := spec.check(); err != nil {
		return AgentToken{}, "", err
	}
	_, err := a.store.GetProject(ctx, actor.Account, spec.Project)
	if errors.Is(err, store.ErrNotFound) {
		return AgentToken{}, "", fault.New(fault.NotFound, "no such project", "`chaperone project list` shows them.")
	}
	if err != nil {
		return AgentToken{}, "", fmt.Errorf("create token: %w", err)
	}
	if spec.Lifetime == 0 {
		spec.Lifetime = usualTokenLifetime
	}
	return a.mint(ctx, actor, spec)
}

// ListTokens lists the account's agent tokens, newest first, revoked and expired ones too.
func (a *Accounts) ListTokens(ctx context.Context, actor Actor) ([]AgentToken, error) {
	if err := mayManage(actor); err != nil {
		return nil, err
	}
	rows, err := a.store.ListAgentTokens(ctx, actor.Account)
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	list := make([]AgentToken, 0, len(rows))
	for _, row := range rows {
		list = append(list, shown(row))
	}
	return list, nil
}

// RevokeToken ends an agent token at once.
func (a *Accounts) RevokeToken(ctx context.Context, actor Actor, id string) error {
	if err := mayManage(actor); err != nil {
		return err
	}
	row, err := a.store.GetAgentToken(ctx, actor.Account, id)
	if errors.Is(err, store.ErrNotFound) || (err == nil && !row.Revoked.IsZero()) {
		return fault.New(fault.NotFound, "no such token", "`chaperone token list` shows them.")
	}
	if err != nil {
		return fmt.Errorf("revoke token: %w", err)
	}
	entry := access(actor, "token.revoke")
	entry.Project, entry.Detail = row.Project, map[string]string{"token": id}
	return a.ledger.Around(ctx, entry, func(ctx context.Context) error {
		return a.store.RevokeAgentToken(ctx, actor.Account, id, a.now())
	})
}

// mint makes a token, with its row in the ledger before it is given out.
func (a *Accounts) mint(ctx context.Context, actor Actor, spec TokenSpec) (AgentToken, string, error) {
	text, err := randomText()
	if err != nil {
		return AgentToken{}, "", fmt.Errorf("create token: %w", err)
	}
	text = tokenPrefix + text
	now := a.now()
	id, err := store.NewID("k", now)
	if err != nil {
		return AgentToken{}, "", fmt.Errorf("create token: %w", err)
	}
	row := store.AgentToken{
		ID: id, Account: actor.Account, Project: spec.Project, Name: spec.Name, Role: string(spec.Role),
		Hash: hashText(text), Created: now, Expires: now.Add(spec.Lifetime),
	}
	entry := access(actor, "token.create")
	entry.Project, entry.Detail = spec.Project, map[string]string{"token": id, "role": string(spec.Role)}
	err = a.ledger.Around(ctx, entry, func(ctx context.Context) error {
		return a.store.SaveAgentToken(ctx, row)
	})
	if err != nil {
		return AgentToken{}, "", fmt.Errorf("create token: %w", err)
	}
	return shown(row), text, nil
}

func (s TokenSpec) check() error {
	switch {
	case !isName(s.Name):
		return fault.New(fault.BadRequest, "a token needs a name of 1 to 64 visible characters", "Say what it is for.")
	case s.Role != Observe && s.Role != Control:
		return fault.New(fault.BadRequest, "a token's role is observe or control", "")
	case s.Lifetime < 0 || s.Lifetime > mostTokenLifetime:
		return fault.New(fault.BadRequest, "a token lives a year at most", "Leave the expiry out for 90 days.")
	}
	return nil
}

func isName(name string) bool {
	return name != "" && utf8.ValidString(name) && utf8.RuneCountInString(name) <= mostNameRunes &&
		strings.TrimSpace(name) == name && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

func mayManage(actor Actor) error {
	if actor.CanManage() {
		return nil
	}
	return fault.New(fault.Forbidden, "an agent token may not manage tokens", "Do it as the person: chaperone token, without CHAPERONE_TOKEN.")
}

func shown(row store.AgentToken) AgentToken {
	return AgentToken{
		ID: row.ID, Name: row.Name, Project: row.Project, Role: Role(row.Role),
		Created: row.Created, Expires: row.Expires, Revoked: !row.Revoked.IsZero(),
	}
}
