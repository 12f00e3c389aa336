package project

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"chaperone/server/account"
	"chaperone/server/fault"
	"chaperone/server/ledger"
	"chaperone/server/store"
)

// Spec asks for a project; zero Policy and Backend mean read_only and managed.
type Spec struct {
	Name         string   `json:"name"`
	Policy       Policy   `json:"policy"`
	AllowDomains []string `json:"allow_domains"`
	Backend      Backend  `json:"backend"`
	Profile      bool     `json:"profile"`
}

// Change is what Update writes; a nil field stays as it is.
type Change struct {
	Name         *string   `json:"name"`
	Policy       *Policy   `json:"policy"`
	AllowDomains *[]string `json:"allow_domains"`
	Backend      *Backend  `json:"backend"`
	Profile      *bool     `json:"profile"`
}

// EnsureDefault makes the account's project `default` (read_only, managed) when it does not exist.
func (p *Projects) EnsureDefault(ctx context.Context, actor account.Actor) (Project, error) {
	found, err := p.Get(ctx, actor, DefaultName)
	if !fault.Is(err, fault.NotFound) {
		return found, err
	}
	return p.Create(ctx, actor, Spec{Name: DefaultName})
}

// Create makes a project; its name must be new in the account.
func (p *Projects) Create(ctx context.Context, actor account.Actor, spec Spec) (Project, error) {
	if err := mayManage(actor); err != nil {
		return Project{}, err
	}
	now := p.now()
	id, err := store.NewID("p", now)
	if err != nil {
		return Project{}, fmt.Errorf("create project: %w", err)
	}
	made, err := checked(Project{
		ID: id, Account: actor.Account, CreatedAt: now,
		Name: spec.Name, Policy: spec.Policy, AllowDomains: spec.AllowDomains, Backend: spec.Backend, Profile: spec.Profile,
	})
	if err != nil {
		return Project{}, err
	}
	err = p.ledger.Around(ctx, describe(access(actor, id, "project.create"), made), func(ctx context.Context) error {
		return named(p.store.AddProject(ctx, made.row()))
	})
	if err != nil {
		return Project{}, err
	}
	return made, nil
}

// Get finds a project by id or name. What is not the actor's answers exactly as what does not exist.
func (p *Projects) Get(ctx context.Context, actor account.Actor, idOrName string) (Project, error) {
	find := p.store.GetProjectByName
	if store.IsID("p", idOrName) {
		find = p.store.GetProject
	}
	row, err := find(ctx, actor.Account, idOrName)
	if errors.Is(err, store.ErrNotFound) || (err == nil && !actor.CanSee(row.ID)) {
		return Project{}, notFound()
	}
	if err != nil {
		return Project{}, fmt.Errorf("get project: %w", err)
	}
	return fromRow(row), nil
}

// List lists the projects that the actor may see, by name.
func (p *Projects) List(ctx context.Context, actor account.Actor) ([]Project, error) {
	rows, err := p.store.ListProjects(ctx, actor.Account)
	if err != nil {
		return nil, fmt.Errorf("list projects: %w", err)
	}
	list := make([]Project, 0, len(rows))
	for _, row := range rows {
		if actor.CanSee(row.ID) {
			list = append(list, fromRow(row))
		}
	}
	return list, nil
}

// Update changes a project.
func (p *Projects) Update(ctx context.Context, actor account.Actor, idOrName string, change Change) (Project, error) {
	found, err := p.manage(ctx, actor, idOrName)
	if err != nil {
		return Project{}, err
	}
	changed, err := checked(change.apply(found))
	if err != nil {
		return Project{}, err
	}
	entry := describe(access(actor, found.ID, "project.update"), changed)
	err = p.ledger.Around(ctx, entry, func(ctx context.Context) error {
		return named(p.store.UpdateProject(ctx, changed.row()))
	})
	if err != nil {
		return Project{}, err
	}
	return changed, nil
}

// Delete archives a project: its name is free again, its pairing and agent tokens end, its ledger stays.
func (p *Projects) Delete(ctx context.Context, actor account.Actor, idOrName string) error {
	found, err := p.manage(ctx, actor, idOrName)
	if err != nil {
		return err
	}
	return p.ledger.Around(ctx, access(actor, found.ID, "project.delete"), func(ctx context.Context) error {
		return p.store.ArchiveProject(ctx, actor.Account, found.ID, p.now())
	})
}

// manage finds a project for an actor who is about to change it.
func (p *Projects) manage(ctx context.Context, actor account.Actor, idOrName string) (Project, error) {
	found, err := p.Get(ctx, actor, idOrName)
	if err != nil {
		return Project{}, err
	}
	return found, mayManage(actor)
}

func (c Change) apply(p Project) Project {
	if c.Name != nil {
		p.Name = *c.Name
	}
	if c.Policy != nil {
		p.Policy = *c.Policy
	}
	if c.AllowDomains != nil {
		p.AllowDomains = *c.AllowDomains
	}
	if c.Backend != nil {
		p.Backend = *c.Backend
	}
	if c.Profile != nil {
		p.Profile = *c.Profile
	}
	return p
}

// describe tells the ledger what a project is from now on; names and domains may be private, so these go
// in as a digest.
func describe(entry ledger.Entry, p Project) ledger.Entry {
	entry.Detail = map[string]string{
		"policy": string(p.Policy), "backend": string(p.Backend), "domains": strconv.Itoa(len(p.AllowDomains)),
		"profile": strconv.FormatBool(p.Profile),
	}
	entry.Request = fmt.Appendf(nil, "%q %q", p.Name, p.AllowDomains)
	return entry
}

// named answers a taken name in the contract's words.
func named(err error) error {
	if errors.Is(err, store.ErrExists) {
		return fault.New(fault.BadRequest, "there is a project of that name", "Choose another name.")
	}
	return err
}
