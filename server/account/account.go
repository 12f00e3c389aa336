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

// DefaultName is the name of the account that EnsureDefault makes.
const DefaultName = "me"

// Config is what Open needs. Dir is the private data folder that holds the signing key; Now may be nil.
type Config struct {
	Store  *store.Store
	Ledger *ledger.Ledger
	Dir    string
	Now    func() time.Time
}

// Accounts answers who is asking. It is safe for concurrent use.
type Accounts struct {
	store  *store.Store
	ledger *ledger.Ledger
	signer signer
	now    func() time.Time
}

// Account is one person's account.
type Account struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
}

// Owner is the actor that the account's person is.
func (a Account) Owner() Actor {
	return Actor{Account: a.ID, AccountName: a.Name, Kind: Person, Role: Control}
}

// Open loads the signing key from config.Dir, making it (0600) when there is none; it refuses a key of
// the wrong length or one that others may read.
func Open(config Config) (*Accounts, error) {
	key, err := loadKey(config.Dir, signingKeyFile)
	if err != nil {
		return nil, fmt.Errorf("open accounts: %w", err)
	}
	now := inMilliseconds(config.Now)
	return &Accounts{store: config.Store, ledger: config.Ledger, signer: newSigner(key, now), now: now}, nil
}

// EnsureDefault makes the account `me` when it does not exist.
func (a *Accounts) EnsureDefault(ctx context.Context) (Account, error) {
	now := a.now()
	id, err := store.NewID("u", now)
	if err != nil {
		return Account{}, fmt.Errorf("ensure default account: %w", err)
	}
	row, err := a.store.EnsureAccount(ctx, store.Account{ID: id, Name: DefaultName, Created: now})
	if err != nil {
		return Account{}, fmt.Errorf("ensure default account: %w", err)
	}
	return fromRow(row), nil
}

// enabled finds an account that may act; unauthorised otherwise.
func (a *Accounts) enabled(ctx context.Context, id string) (Account, error) {
	row, err := a.store.GetAccount(ctx, id)
	if errors.Is(err, store.ErrNotFound) || (err == nil && !row.Disabled.IsZero()) {
		return Account{}, refused()
	}
	return fromRow(row), err
}

func fromRow(row store.Account) Account {
	return Account{ID: row.ID, Name: row.Name, Created: row.Created}
}

// refused is the one answer to every bearer, code or refresh token that does not hold.
func refused() error {
	return fault.New(fault.Unauthorised, "this token or login is not known, or it has expired or was revoked",
		"For the dashboard run: chaperone dashboard. For an agent: chaperone token create.")
}

// access is the ledger's entry for one access change.
func access(actor Actor, method string) ledger.Entry {
	return ledger.Entry{
		Account: actor.Account,
		Actor:   ledger.Actor{Kind: string(actor.Kind), ID: actor.ID()},
		Project: actor.Project,
		Kind:    ledger.Access,
		Method:  method,
	}
}

// inMilliseconds is a clock as exact as a row's times are, so that what was just made equals what is read
// back; nil means the system's.
func inMilliseconds(clock func() time.Time) func() time.Time {
	if clock == nil {
		clock = time.Now
	}
	return func() time.Time { return clock().UTC().Truncate(time.Millisecond) }
}
