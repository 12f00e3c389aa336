package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chaperone/server/fault"
	"chaperone/server/ledger"
	"chaperone/server/store"
)

const (
	codeLifetime    = 10 * time.Minute
	refreshLifetime = 30 * 24 * time.Hour
)

// Credentials are what a login gives: a short access token and the refresh token that renews both once.
type Credentials struct {
	Access         string    `json:"access_token"`
	AccessExpires  time.Time `json:"access_expires"`
	Refresh        string    `json:"-"`
	RefreshExpires time.Time `json:"-"`
	Actor          Actor     `json:"actor"`
}

// LoginLink makes a login code for the actor's own account and says in the ledger who asked for it; peer is the
// caller's address. Only who may manage the account can.
func (a *Accounts) LoginLink(ctx context.Context, actor Actor, peer string) (code string, expires time.Time, err error) {
	if !actor.CanManage() {
		return "", time.Time{}, fault.New(fault.Forbidden, "an agent token may not open the dashboard",
			"Run chaperone dashboard on the server's machine, as the user who runs the server.")
	}
	entry := access(actor, "login.link")
	entry.Peer = peer
	err = a.ledger.Around(ctx, entry, func(ctx context.Context) error {
		expires = a.now().Add(codeLifetime)
		code, err = a.LoginCode(ctx, actor.Account)
		return err
	})
	return code, expires, err
}

// LoginCode makes a code that Login takes once within ten minutes.
func (a *Accounts) LoginCode(ctx context.Context, account string) (string, error) {
	if _, err := a.enabled(ctx, account); err != nil {
		return "", fmt.Errorf("make login code: %w", err)
	}
	code, err := randomText()
	if err != nil {
		return "", fmt.Errorf("make login code: %w", err)
	}
	now := a.now()
	kept := store.LoginCode{Hash: hashText(code), Account: account, Expires: now.Add(codeLifetime)}
	if err := a.store.SaveLoginCode(ctx, kept, now); err != nil {
		return "", fmt.Errorf("make login code: %w", err)
	}
	return code, nil
}

// Login turns a login code into credentials; peer is the caller's address, for the ledger.
func (a *Accounts) Login(ctx context.Context, code, peer string) (Credentials, error) {
	id, err := a.store.TakeLoginCodeAnyAccount(ctx, hashText(code), a.now())
	if errors.Is(err, store.ErrNotFound) {
		return Credentials{}, fault.New(fault.Unauthorised, "this link was already used or has expired", "Run: chaperone dashboard")
	}
	if err != nil {
		return Credentials{}, fmt.Errorf("log in: %w", err)
	}
	account, err := a.enabled(ctx, id)
	if err != nil {
		return Credentials{}, fmt.Errorf("log in: %w", err)
	}
	var given Credentials
	entry := access(account.Owner(), "login")
	entry.Peer = peer
	err = a.ledger.Around(ctx, entry, func(ctx context.Context) error {
		given, err = a.startFamily(ctx, account)
		return err
	})
	if err != nil {
		return Credentials{}, fmt.Errorf("log in: %w", err)
	}
	return given, nil
}

// Refresh turns a refresh token into new credentials. A refresh token works once: shown again, it ends
// every credential that came of the same login.
func (a *Accounts) Refresh(ctx context.Context, refresh, peer string) (Credentials, error) {
	now := a.now()
	taken, err := a.store.TakeRefreshAnyAccount(ctx, hashText(refresh), now)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return Credentials{}, refused()
	case err != nil:
		return Credentials{}, fmt.Errorf("refresh login: %w", err)
	case !taken.Used.IsZero():
		return Credentials{}, errors.Join(refused(), a.endFamily(ctx, taken, "login.reuse", peer))
	case !now.Before(taken.Expires):
		return Credentials{}, refused()
	}
	row, err := a.store.AccountOfFamily(ctx, taken.Account, taken.Family)
	if errors.Is(err, store.ErrNotFound) {
		return Credentials{}, refused()
	}
	if err != nil {
		return Credentials{}, fmt.Errorf("refresh login: %w", err)
	}
	given, kept, err := a.issue(fromRow(row), taken.Family)
	if err != nil {
		return Credentials{}, fmt.Errorf("refresh login: %w", err)
	}
	if err := a.store.SaveRefresh(ctx, kept); err != nil {
		return Credentials{}, fmt.Errorf("refresh login: %w", err)
	}
	return given, nil
}

// Logout ends every credential that came of the same login as this refresh token. One that is not known
// is no error: it is out already.
func (a *Accounts) Logout(ctx context.Context, refresh, peer string) error {
	taken, err := a.store.TakeRefreshAnyAccount(ctx, hashText(refresh), a.now())
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("log out: %w", err)
	}
	return a.endFamily(ctx, taken, "logout", peer)
}

// endFamily revokes a login and, the first time, says so in the ledger. It outlives ctx's cancellation:
// whoever stole a token must not be able to keep it by hanging up.
func (a *Accounts) endFamily(ctx context.Context, of store.RefreshToken, method, peer string) error {
	ctx = context.WithoutCancel(ctx)
	err := a.store.RevokeFamily(ctx, of.Account, of.Family, a.now())
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("end login: %w", err)
	}
	entry := access(Account{ID: of.Account}.Owner(), method)
	entry.Peer = peer
	if _, err := a.ledger.Append(ctx, entry, ledger.Outcome{Outcome: ledger.Done}); err != nil {
		return fmt.Errorf("end login: %w", err)
	}
	return nil
}

func (a *Accounts) startFamily(ctx context.Context, account Account) (Credentials, error) {
	now := a.now()
	family, err := store.NewID("l", now)
	if err != nil {
		return Credentials{}, err
	}
	given, kept, err := a.issue(account, family)
	if err != nil {
		return Credentials{}, err
	}
	return given, a.store.StartFamily(ctx, kept, now)
}

// issue makes a login's next credentials, and the refresh token as it is to be kept.
func (a *Accounts) issue(account Account, family string) (Credentials, store.RefreshToken, error) {
	token, expires, err := a.signer.sign(account.ID, family)
	if err != nil {
		return Credentials{}, store.RefreshToken{}, err
	}
	refresh, err := randomText()
	if err != nil {
		return Credentials{}, store.RefreshToken{}, err
	}
	until := a.now().Add(refreshLifetime)
	given := Credentials{
		Access: token, AccessExpires: expires, Refresh: refresh, RefreshExpires: until, Actor: account.Owner(),
	}
	kept := store.RefreshToken{Hash: hashText(refresh), Account: account.ID, Family: family, Expires: until}
	return given, kept, nil
}
