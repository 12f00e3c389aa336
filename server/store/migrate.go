package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"time"
)

//go:embed migrations/*.sql
var migrations embed.FS

// ErrNewerSchema is why a database that a newer program wrote is refused.
var ErrNewerSchema = errors.New("the database was written by a newer chaperone: use that one, or another data folder")

// migrate brings the schema up to the newest embedded migration, each in a transaction of its own.
func (s *Store) migrate(ctx context.Context) error {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return fmt.Errorf("list migrations: %w", err)
	}
	have, err := s.schemaVersion(ctx)
	if err != nil {
		return err
	}
	if have > len(files) {
		return ErrNewerSchema
	}
	for i := have; i < len(files); i++ {
		text, err := migrations.ReadFile("migrations/" + files[i].Name())
		if err != nil {
			return fmt.Errorf("read migration %s: %w", files[i].Name(), err)
		}
		if err := s.apply(ctx, i+1, string(text)); err != nil {
			return fmt.Errorf("apply migration %s: %w", files[i].Name(), err)
		}
	}
	return nil
}

func (s *Store) schemaVersion(ctx context.Context) (int, error) {
	const table = `CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY, applied_ms BIGINT NOT NULL)`
	if _, err := s.writer.ExecContext(ctx, table); err != nil {
		return 0, fmt.Errorf("make migrations table: %w", err)
	}
	var version int
	err := s.writer.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM migrations`).Scan(&version)
	if err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	return version, nil
}

func (s *Store) apply(ctx context.Context, version int, text string) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO migrations (version, applied_ms) VALUES ($1, $2)`,
			version, toMS(time.Now()))
		return err
	})
}
