package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"chaperone/server/store"
)

const (
	// tokenPrefix marks an agent token, so that a leaked one is found by scanners.
	tokenPrefix = "chp_"
	// mostBearerBytes is well above any token of ours.
	mostBearerBytes = 4096
	randomBytes     = 32
)

// Authenticate says who a bearer is: an access token or an agent token, without the word Bearer. Whatever
// is wrong with it, the answer is the same unauthorised fault; any other error means that the store could
// not be asked.
func (a *Accounts) Authenticate(ctx context.Context, bearer string) (Actor, error) {
	return a.authenticate(ctx, bearer, a.signer.read)
}

// Recheck says who a bearer is that was authenticated before. Unlike Authenticate it overlooks that an access token has
// expired since, which a person's page replaces every quarter of an hour: what counts is whether its login has ended.
func (a *Accounts) Recheck(ctx context.Context, bearer string) (Actor, error) {
	return a.authenticate(ctx, bearer, a.signer.readLate)
}

func (a *Accounts) authenticate(ctx context.Context, bearer string, read func(string) (claims, error)) (Actor, error) {
	var actor Actor
	var err error
	switch {
	case len(bearer) > mostBearerBytes:
		return Actor{}, refused()
	case strings.HasPrefix(bearer, tokenPrefix):
		actor, err = a.holderOf(ctx, bearer)
	default:
		actor, err = a.personOf(ctx, bearer, read)
	}
	if errors.Is(err, store.ErrNotFound) {
		return Actor{}, refused()
	}
	if err != nil {
		return Actor{}, fmt.Errorf("authenticate: %w", err)
	}
	return actor, nil
}

// personOf reads an access token, whose login must not have ended since.
func (a *Accounts) personOf(ctx context.Context, token string, read func(string) (claims, error)) (Actor, error) {
	said, err := read(token)
	if err != nil {
		return Actor{}, refused()
	}
	row, err := a.store.AccountOfFamily(ctx, said.Subject, said.Family)
	if err != nil {
		return Actor{}, err
	}
	return fromRow(row).Owner(), nil
}

// holderOf finds an agent token that is neither revoked nor expired, of an account that may act.
func (a *Accounts) holderOf(ctx context.Context, token string) (Actor, error) {
	found, err := a.store.AgentTokenAnyAccount(ctx, hashText(token))
	if err != nil {
		return Actor{}, err
	}
	t := found.Token
	if !t.Revoked.IsZero() || !a.now().Before(t.Expires) || !found.Account.Disabled.IsZero() {
		return Actor{}, refused()
	}
	return Actor{
		Account: t.Account, AccountName: found.Account.Name,
		Kind: Token, TokenID: t.ID, Project: t.Project, Role: Role(t.Role),
	}, nil
}

// randomText is 256 random bits in base64url.
func randomText() (string, error) {
	raw := make([]byte, randomBytes)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(raw), nil
}

// hashText is how a secret of 256 random bits is kept: nothing is gained by a slow hash.
func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
