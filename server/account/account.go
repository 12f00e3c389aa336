package account

import (
	"context"
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
type Accounts struct{ config Config }

// Account is one person's account.
type Account struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
}

// Credentials are what a login gives: a short access token and the refresh token that renews both once.
type Credentials struct {
	Access         string    `json:"access_token"`
	AccessExpires  time.Time `json:"access_expires"`
	Refresh        string    `json:"-"`
	RefreshExpires time.Time `json:"-"`
	Actor          Actor     `json:"actor"`
}

// AgentToken is one agent token as it may be shown again; the token itself is not kept.
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

var errUnbuilt = fault.New(fault.Unavailable, "not here yet", "")

// Open loads the signing key from config.Dir, making it (0600) when there is none; it refuses a key of
// the wrong length or one that others may read.
func Open(config Config) (*Accounts, error) { return &Accounts{config}, nil }

// EnsureDefault makes the account `me` when it does not exist.
func (a *Accounts) EnsureDefault(ctx context.Context) (Account, error) { return Account{}, errUnbuilt }

// LoginCode makes a code that Login takes once within ten minutes.
func (a *Accounts) LoginCode(ctx context.Context, account string) (string, error) {
	return "", errUnbuilt
}

// Login turns a login code into credentials; peer is the caller's address, for the ledger.
func (a *Accounts) Login(ctx context.Context, code, peer string) (Credentials, error) {
	return Credentials{}, errUnbuilt
}

// Refresh turns a refresh token into new credentials. A refresh token works once: shown again, it ends
// every credential that came of the same login.
func (a *Accounts) Refresh(ctx context.Context, refresh, peer string) (Credentials, error) {
	return Credentials{}, errUnbuilt
}

// Logout ends every credential that came of the same login as this refresh token.
func (a *Accounts) Logout(ctx context.Context, refresh, peer string) error { return errUnbuilt }

// Authenticate says who a bearer is: an access token or an agent token. Whatever is wrong with it, the
// answer is the same unauthorised fault.
func (a *Accounts) Authenticate(ctx context.Context, bearer string) (Actor, error) {
	return Actor{}, errUnbuilt
}

// CreateToken makes an agent token; the string is shown this once.
func (a *Accounts) CreateToken(ctx context.Context, actor Actor, spec TokenSpec) (AgentToken, string, error) {
	return AgentToken{}, "", errUnbuilt
}

// ListTokens lists the account's agent tokens, newest first, revoked and expired ones too.
func (a *Accounts) ListTokens(ctx context.Context, actor Actor) ([]AgentToken, error) {
	return nil, errUnbuilt
}

// RevokeToken ends an agent token at once.
func (a *Accounts) RevokeToken(ctx context.Context, actor Actor, id string) error { return errUnbuilt }

// EnsureLocalToken keeps the file `token` (0600) in dir holding a valid control token of the default
// account bound to no project, for the command line on this machine, and returns it.
func (a *Accounts) EnsureLocalToken(ctx context.Context, dir string) (string, error) {
	return "", errUnbuilt
}
