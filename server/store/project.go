package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mattn/go-sqlite3"
)

// ErrExists is what a write answers when another row already has what must be unique.
var ErrExists = errors.New("there is one already")

// Project is one project's row; archived projects are not shown by any query.
type Project struct {
	ID           string
	Account      string
	Name         string
	Policy       string
	AllowDomains []string
	Backend      string
	Profile      bool
	Created      time.Time
}

const projectColumns = `id, account, name, policy, allow_domains, backend, profile, created_ms`

func scanProject(row scanner) (Project, error) {
	var p Project
	var domains string
	var created int64
	if err := row.Scan(&p.ID, &p.Account, &p.Name, &p.Policy, &domains, &p.Backend, &p.Profile, &created); err != nil {
		return p, err
	}
	p.Created = fromMS(created)
	if err := json.Unmarshal([]byte(domains), &p.AllowDomains); err != nil {
		return p, fmt.Errorf("decode allowed domains of %s: %w", p.ID, err)
	}
	return p, nil
}

func encodeDomains(domains []string) (string, error) {
	if domains == nil {
		domains = []string{}
	}
	text, err := json.Marshal(domains)
	return string(text), wrap(err, "encode allowed domains")
}

// AddProject adds a project; ErrExists when the account has one of that name.
func (s *Store) AddProject(ctx context.Context, p Project) error {
	domains, err := encodeDomains(p.AllowDomains)
	if err != nil {
		return err
	}
	_, err = exec(ctx, s.writer, q(`INSERT INTO projects (`+projectColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		p.ID, p.Account, p.Name, p.Policy, domains, p.Backend, p.Profile, toMS(p.Created)))
	return wrap(existing(err), "add project")
}

// UpdateProject writes all but id, account and time of making; ErrExists when the name is taken.
func (s *Store) UpdateProject(ctx context.Context, p Project) error {
	domains, err := encodeDomains(p.AllowDomains)
	if err != nil {
		return err
	}
	err = touch(ctx, s.writer, q(`UPDATE projects SET name = $1, policy = $2, allow_domains = $3, backend = $4, profile = $5
		WHERE account = $6 AND id = $7 AND archived_ms = 0`,
		p.Name, p.Policy, domains, p.Backend, p.Profile, p.Account, p.ID))
	return wrap(existing(err), "update project")
}

// GetProject finds one project of the account by its id, or ErrNotFound.
func (s *Store) GetProject(ctx context.Context, account, id string) (Project, error) {
	found, err := one(ctx, s.reader, scanProject, q(`SELECT `+projectColumns+` FROM projects
		WHERE account = $1 AND id = $2 AND archived_ms = 0`, account, id))
	return found, wrap(err, "get project")
}

// GetProjectByName finds one project of the account by its name, or ErrNotFound.
func (s *Store) GetProjectByName(ctx context.Context, account, name string) (Project, error) {
	found, err := one(ctx, s.reader, scanProject, q(`SELECT `+projectColumns+` FROM projects
		WHERE account = $1 AND name = $2 AND archived_ms = 0`, account, name))
	return found, wrap(err, "get project by name")
}

// ListProjects lists the account's projects by name.
func (s *Store) ListProjects(ctx context.Context, account string) ([]Project, error) {
	list, err := many(ctx, s.reader, scanProject, q(`SELECT `+projectColumns+` FROM projects
		WHERE account = $1 AND archived_ms = 0 ORDER BY name`, account))
	return list, wrap(err, "list projects")
}

// ArchiveProject hides a project at now, forgets its pairing and revokes its agent tokens, all or nothing.
func (s *Store) ArchiveProject(ctx context.Context, account, id string, now time.Time) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		err := touch(ctx, tx, q(`UPDATE projects SET archived_ms = $1
			WHERE account = $2 AND id = $3 AND archived_ms = 0`, toMS(now), account, id))
		if err != nil {
			return err
		}
		_, err = exec(ctx, tx, q(`DELETE FROM pairings WHERE account = $1 AND project = $2`, account, id))
		if err != nil {
			return err
		}
		_, err = exec(ctx, tx, q(`UPDATE agent_tokens SET revoked_ms = $1
			WHERE account = $2 AND project = $3 AND revoked_ms = 0`, toMS(now), account, id))
		return err
	})
	return wrap(err, "archive project")
}

// existing turns SQLite's answer to a taken unique value into ErrExists.
func existing(err error) error {
	var refused sqlite3.Error
	if errors.As(err, &refused) && refused.ExtendedCode == sqlite3.ErrConstraintUnique {
		return ErrExists
	}
	return err
}
