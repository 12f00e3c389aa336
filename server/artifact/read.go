package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"chaperone/server/account"
	"chaperone/server/store"
)

// Read opens an artifact for an actor who may see its project. The caller closes the reader.
func (a *Artifacts) Read(ctx context.Context, actor account.Actor, id string) (Artifact, io.ReadSeekCloser, error) {
	row, err := a.config.Store.GetArtifact(ctx, actor.Account, id)
	if err == nil && !actor.CanSee(row.Project) {
		err = store.ErrNotFound
	}
	return a.open(row, err)
}

// ReadSigned opens an artifact for whoever holds a link that Sign made. The caller closes the reader.
func (a *Artifacts) ReadSigned(ctx context.Context, id string, link Link) (Artifact, io.ReadSeekCloser, error) {
	if err := a.CheckSignature(id, link); err != nil {
		return Artifact{}, nil, err
	}
	return a.open(a.config.Store.ArtifactAnyAccount(ctx, id))
}

// List lists a session's artifacts, oldest first, as far as the actor may see their project.
func (a *Artifacts) List(ctx context.Context, actor account.Actor, session string) ([]Artifact, error) {
	rows, err := a.config.Store.ListArtifacts(ctx, actor.Account, session)
	if err != nil {
		return nil, err
	}
	list := make([]Artifact, 0, len(rows))
	for _, row := range rows {
		if actor.CanSee(row.Project) {
			list = append(list, fromRow(row))
		}
	}
	return list, nil
}

func (a *Artifacts) open(row store.Artifact, err error) (Artifact, io.ReadSeekCloser, error) {
	if errors.Is(err, store.ErrNotFound) {
		return Artifact{}, nil, notFound()
	}
	if err != nil {
		return Artifact{}, nil, fmt.Errorf("read artifact: %w", err)
	}
	in, err := a.root.Open(file(row))
	if errors.Is(err, fs.ErrNotExist) {
		return Artifact{}, nil, notFound()
	}
	if err != nil {
		return Artifact{}, nil, fmt.Errorf("read artifact: %w", err)
	}
	return fromRow(row), in, nil
}
