package project

import (
	"time"

	"chaperone/server/account"
	"chaperone/server/fault"
	"chaperone/server/ledger"
	"chaperone/server/store"
)

// Policy is how far any action in a project may go.
type Policy string

// The policies.
const (
	ReadOnly    Policy = "read_only"
	Interactive Policy = "interactive"
)

// Backend is where a project's sessions keep their tabs when a session does not say.
type Backend string

// The backends.
const (
	Managed  Backend = "managed"
	Shared   Backend = "shared"
	Attached Backend = "attached"
)

// DefaultName is the name of the project that EnsureDefault makes.
const DefaultName = "default"

// Project is one project of an account. AllowDomains is empty when every domain is allowed. With Profile, its managed
// sessions keep sign-ins and tabs from one to the next, and there is one at a time.
type Project struct {
	ID           string    `json:"id"`
	Account      string    `json:"account"`
	Name         string    `json:"name"`
	Policy       Policy    `json:"policy"`
	AllowDomains []string  `json:"allow_domains"`
	Backend      Backend   `json:"backend"`
	Profile      bool      `json:"profile"`
	CreatedAt    time.Time `json:"created_at"`
}

// Config is what New needs; Now may be nil.
type Config struct {
	Store   *store.Store
	Ledger  *ledger.Ledger
	Secrets *account.Secrets
	Now     func() time.Time
}

// Projects answers for every account's projects. It is safe for concurrent use.
type Projects struct {
	store   *store.Store
	ledger  *ledger.Ledger
	secrets *account.Secrets
	now     func() time.Time
}

// New makes the room over its store.
func New(config Config) *Projects {
	now := inMilliseconds(config.Now)
	return &Projects{store: config.Store, ledger: config.Ledger, secrets: config.Secrets, now: now}
}

func fromRow(row store.Project) Project {
	return Project{
		ID: row.ID, Account: row.Account, Name: row.Name, Policy: Policy(row.Policy),
		AllowDomains: row.AllowDomains, Backend: Backend(row.Backend), Profile: row.Profile, CreatedAt: row.Created,
	}
}

func (p Project) row() store.Project {
	return store.Project{
		ID: p.ID, Account: p.Account, Name: p.Name, Policy: string(p.Policy),
		AllowDomains: p.AllowDomains, Backend: string(p.Backend), Profile: p.Profile, Created: p.CreatedAt,
	}
}

// access is the ledger's entry for one access change of a project.
func access(actor account.Actor, projectID, method string) ledger.Entry {
	return ledger.Entry{
		Account: actor.Account,
		Actor:   ledger.Actor{Kind: string(actor.Kind), ID: actor.ID()},
		Project: projectID,
		Kind:    ledger.Access,
		Method:  method,
	}
}

func notFound() error {
	return fault.New(fault.NotFound, "no such project", "`chaperone project list` shows them.")
}

func mayManage(actor account.Actor) error {
	if actor.CanManage() {
		return nil
	}
	return fault.New(fault.Forbidden, "an agent token may not change projects or pairing",
		"Do it as the person, on the command line without CHAPERONE_TOKEN.")
}

// inMilliseconds is a clock as exact as a row's times are, so that what was just made equals what is read
// back; nil means the system's.
func inMilliseconds(clock func() time.Time) func() time.Time {
	if clock == nil {
		clock = time.Now
	}
	return func() time.Time { return clock().UTC().Truncate(time.Millisecond) }
}
