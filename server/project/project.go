package project

import (
	"context"
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

// Project is one project of an account. AllowDomains is empty when every domain is allowed.
type Project struct {
	ID           string    `json:"id"`
	Account      string    `json:"account"`
	Name         string    `json:"name"`
	Policy       Policy    `json:"policy"`
	AllowDomains []string  `json:"allow_domains"`
	Backend      Backend   `json:"backend"`
	CreatedAt    time.Time `json:"created_at"`
}

// Spec asks for a project; zero Policy and Backend mean read_only and managed.
type Spec struct {
	Name         string   `json:"name"`
	Policy       Policy   `json:"policy"`
	AllowDomains []string `json:"allow_domains"`
	Backend      Backend  `json:"backend"`
}

// Change is what Update writes; a nil field stays as it is.
type Change struct {
	Name         *string   `json:"name"`
	Policy       *Policy   `json:"policy"`
	AllowDomains *[]string `json:"allow_domains"`
	Backend      *Backend  `json:"backend"`
}

// Config is what New needs; Now may be nil.
type Config struct {
	Store   *store.Store
	Ledger  *ledger.Ledger
	Secrets *account.Secrets
	Now     func() time.Time
}

// Projects answers for every account's projects. It is safe for concurrent use.
type Projects struct{ config Config }

var errUnbuilt = fault.New(fault.Unavailable, "not here yet", "")

// New makes the room over its store.
func New(config Config) *Projects { return &Projects{config} }

// EnsureDefault makes the account's project `default` (read_only, managed) when it does not exist.
func (p *Projects) EnsureDefault(ctx context.Context, actor account.Actor) (Project, error) {
	return Project{}, errUnbuilt
}

// Create makes a project; its name must be new in the account.
func (p *Projects) Create(ctx context.Context, actor account.Actor, spec Spec) (Project, error) {
	return Project{}, errUnbuilt
}

// Get finds a project by id or name. What is not the actor's answers exactly as what does not exist.
func (p *Projects) Get(ctx context.Context, actor account.Actor, idOrName string) (Project, error) {
	return Project{}, errUnbuilt
}

// List lists the projects that the actor may see, by name.
func (p *Projects) List(ctx context.Context, actor account.Actor) ([]Project, error) {
	return nil, errUnbuilt
}

// Update changes a project.
func (p *Projects) Update(ctx context.Context, actor account.Actor, idOrName string, change Change) (Project, error) {
	return Project{}, errUnbuilt
}

// Delete archives a project: its name is free again, its pairing and agent tokens end, its ledger stays.
func (p *Projects) Delete(ctx context.Context, actor account.Actor, idOrName string) error {
	return errUnbuilt
}
