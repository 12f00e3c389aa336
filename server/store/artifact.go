package store

import (
	"context"
	"time"
)

// Artifact is one kept file's row.
type Artifact struct {
	ID      string
	Account string
	Project string
	Session string
	Kind    string
	MIME    string
	Bytes   int64
	Width   int
	Height  int
	Deliver bool
	Created time.Time
}

const artifactColumns = `id, account, project, session, kind, mime, bytes, width, height, deliver, created_ms`

func scanArtifact(row scanner) (Artifact, error) {
	var a Artifact
	var created int64
	err := row.Scan(&a.ID, &a.Account, &a.Project, &a.Session, &a.Kind, &a.MIME, &a.Bytes,
		&a.Width, &a.Height, &a.Deliver, &created)
	a.Created = fromMS(created)
	return a, err
}

// SaveArtifact adds an artifact's row.
func (s *Store) SaveArtifact(ctx context.Context, a Artifact) error {
	_, err := exec(ctx, s.writer, q(`INSERT INTO artifacts (`+artifactColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		a.ID, a.Account, a.Project, a.Session, a.Kind, a.MIME, a.Bytes, a.Width, a.Height, a.Deliver, toMS(a.Created)))
	return wrap(err, "save artifact")
}

// GetArtifact finds one artifact of the account, or ErrNotFound.
func (s *Store) GetArtifact(ctx context.Context, account, id string) (Artifact, error) {
	found, err := one(ctx, s.reader, scanArtifact,
		q(`SELECT `+artifactColumns+` FROM artifacts WHERE account = $1 AND id = $2`, account, id))
	return found, wrap(err, "get artifact")
}

// ArtifactAnyAccount finds an artifact for the holder of a signed link, or ErrNotFound.
func (s *Store) ArtifactAnyAccount(ctx context.Context, id string) (Artifact, error) {
	found, err := one(ctx, s.reader, scanArtifact,
		q(`SELECT `+artifactColumns+` FROM artifacts WHERE id = $1`, id))
	return found, wrap(err, "find artifact")
}

// ListArtifacts lists a session's artifacts, oldest first.
func (s *Store) ListArtifacts(ctx context.Context, account, session string) ([]Artifact, error) {
	list, err := many(ctx, s.reader, scanArtifact, q(`SELECT `+artifactColumns+` FROM artifacts
		WHERE account = $1 AND session = $2 ORDER BY created_ms, id`, account, session))
	return list, wrap(err, "list artifacts")
}

// ArtifactsBeforeAnyAccount lists up to limit artifacts made before then, oldest first.
func (s *Store) ArtifactsBeforeAnyAccount(ctx context.Context, then time.Time, limit int) ([]Artifact, error) {
	list, err := many(ctx, s.reader, scanArtifact, q(`SELECT `+artifactColumns+` FROM artifacts
		WHERE created_ms < $1 ORDER BY created_ms LIMIT $2`, toMS(then), limit))
	return list, wrap(err, "list old artifacts")
}

// DeleteArtifact removes an artifact's row, if there is one.
func (s *Store) DeleteArtifact(ctx context.Context, account, id string) error {
	_, err := exec(ctx, s.writer, q(`DELETE FROM artifacts WHERE account = $1 AND id = $2`, account, id))
	return wrap(err, "delete artifact")
}
