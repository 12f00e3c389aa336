package project

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"

	"chaperone/server/account"
	"chaperone/server/fault"
	"chaperone/server/store"
)

const (
	tokenBytes   = 32
	tokenIDChars = 16
)

// Pairing is what a browser's link is admitted with. Token is a secret: it keys the handshake and must
// never be logged or sent.
type Pairing struct {
	Account     string
	AccountName string
	Project     string
	ProjectName string
	Token       string
	Policy      Policy
}

// TokenID is how a pairing token is named in a hello: the first 16 hex digits of SHA-256 over
// `chaperone-token-id:` and the token.
func TokenID(token string) string {
	sum := sha256.Sum256([]byte("chaperone-token-id:" + token))
	return hex.EncodeToString(sum[:])[:tokenIDChars]
}

// Code makes the project's connection code and registers the project for pairing. It never rotates the
// account's token. serverURL is this server's origin as a browser reaches it.
func (p *Projects) Code(ctx context.Context, actor account.Actor, project, serverURL string) (string, error) {
	found, err := p.manage(ctx, actor, project)
	if err != nil {
		return "", err
	}
	server, err := url.Parse(serverURL)
	if err != nil || !isOrigin(server) {
		return "", fmt.Errorf("make connection code: %q is not a server's origin", serverURL)
	}
	token, err := p.ensureToken(ctx, actor.Account)
	if err != nil {
		return "", fmt.Errorf("make connection code: %w", err)
	}
	if err := p.register(ctx, actor, found, "pairing.code"); err != nil {
		return "", fmt.Errorf("make connection code: %w", err)
	}
	return Code{Server: originOf(server), Token: token, Project: found.ID, Name: found.Name}.String(), nil
}

// Connect registers the project for pairing without a code, for a browser that is already paired with
// another project of the account.
func (p *Projects) Connect(ctx context.Context, actor account.Actor, project string) error {
	found, err := p.manage(ctx, actor, project)
	if err != nil {
		return err
	}
	return p.register(ctx, actor, found, "pairing.connect")
}

// IsPaired reports whether the project is registered for pairing.
func (p *Projects) IsPaired(ctx context.Context, actor account.Actor, project string) (bool, error) {
	found, err := p.Get(ctx, actor, project)
	if err != nil {
		return false, err
	}
	n, err := p.store.CountPairings(ctx, actor.Account, found.ID)
	return n > 0, err
}

// Revoke forgets this project's pairing until its code is copied or Connect is called again. A project
// that is not registered is no error.
func (p *Projects) Revoke(ctx context.Context, actor account.Actor, project string) error {
	found, err := p.manage(ctx, actor, project)
	if err != nil {
		return err
	}
	return p.ledger.Around(ctx, access(actor, found.ID, "pairing.revoke"), func(ctx context.Context) error {
		return p.store.DeletePairing(ctx, actor.Account, found.ID)
	})
}

// Reset replaces the account's pairing token and forgets every project's pairing.
func (p *Projects) Reset(ctx context.Context, actor account.Actor) error {
	if err := mayManage(actor); err != nil {
		return err
	}
	kept, err := p.newToken(actor.Account)
	if err != nil {
		return fmt.Errorf("reset pairing: %w", err)
	}
	return p.ledger.Around(ctx, access(actor, "", "pairing.reset"), func(ctx context.Context) error {
		return p.store.ReplacePairingToken(ctx, kept)
	})
}

// Find answers a hello: the pairing for a token id and a project. When the token is known but the project
// is not paired under it, the not_found fault comes with a Pairing that has account and token but no
// project: whoever then proves the token may be told. Otherwise the Pairing is empty.
func (p *Projects) Find(ctx context.Context, tokenID, project string) (Pairing, error) {
	row, err := p.store.PairingAnyAccount(ctx, tokenID, project)
	if !errors.Is(err, store.ErrNotFound) {
		return p.open(row, err)
	}
	row, err = p.store.PairingHolderAnyAccount(ctx, tokenID)
	if errors.Is(err, store.ErrNotFound) {
		return Pairing{}, notPaired()
	}
	known, err := p.open(row, err)
	if err != nil {
		return Pairing{}, err
	}
	return known, notPaired()
}

// open reads a pairing's row, with its token unsealed.
func (p *Projects) open(row store.Pairing, err error) (Pairing, error) {
	if err != nil {
		return Pairing{}, fmt.Errorf("find pairing: %w", err)
	}
	token, err := p.secrets.Open(place(row.Account), row.Sealed)
	if err != nil {
		return Pairing{}, fmt.Errorf("find pairing: %w", err)
	}
	return Pairing{
		Account: row.Account, AccountName: row.AccountName,
		Project: row.Project, ProjectName: row.ProjectName,
		Token: token, Policy: Policy(row.Policy),
	}, nil
}

func notPaired() error {
	return fault.New(fault.NotFound, "this browser is not paired with that project",
		"Copy the project's connection code again.")
}

// Check answers a heartbeat of a link that found was the pairing of: the pairing as it is now, or
// not_found once account, project, registration or token is gone.
func (p *Projects) Check(ctx context.Context, found Pairing) (Pairing, error) {
	return p.Find(ctx, TokenID(found.Token), found.Project)
}

func (p *Projects) register(ctx context.Context, actor account.Actor, of Project, method string) error {
	return p.ledger.Around(ctx, access(actor, of.ID, method), func(ctx context.Context) error {
		return p.store.SavePairing(ctx, actor.Account, of.ID, p.now())
	})
}

// ensureToken is the account's pairing token, made at its first use.
func (p *Projects) ensureToken(ctx context.Context, accountID string) (string, error) {
	kept, err := p.store.GetPairingToken(ctx, accountID)
	if errors.Is(err, store.ErrNotFound) {
		fresh, failure := p.newToken(accountID)
		if failure != nil {
			return "", failure
		}
		kept, err = p.store.EnsurePairingToken(ctx, fresh)
	}
	if err != nil {
		return "", err
	}
	return p.secrets.Open(place(accountID), kept.Sealed)
}

func (p *Projects) newToken(accountID string) (store.PairingToken, error) {
	raw := make([]byte, tokenBytes)
	if _, err := rand.Read(raw); err != nil {
		return store.PairingToken{}, fmt.Errorf("make pairing token: %w", err)
	}
	token := base64.RawURLEncoding.EncodeToString(raw)
	return store.PairingToken{
		Account: accountID, TokenID: TokenID(token),
		Sealed: p.secrets.Seal(place(accountID), token), Created: p.now(),
	}, nil
}

// place binds a sealed pairing token to its account: moved to another's row it does not open.
func place(accountID string) string { return "pairing token of " + accountID }
