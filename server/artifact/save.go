package artifact

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"chaperone/server/fault"
	"chaperone/server/store"
)

// Save keeps a file of at most 32 MiB durably; so that a session has no more than PerSession, its oldest
// go first.
func (a *Artifacts) Save(ctx context.Context, meta Meta, content []byte) (Artifact, error) {
	if len(content) > mostBytes {
		return Artifact{}, fault.New(fault.TooLarge, "the picture is larger than 32 MiB", "Take it of the visible part.")
	}
	row, err := a.plan(meta, int64(len(content)))
	if err != nil {
		return Artifact{}, fmt.Errorf("save artifact: %w", err)
	}
	if err := a.makeRoom(ctx, row.Account, row.Session); err != nil {
		return Artifact{}, fmt.Errorf("save artifact: %w", err)
	}
	if err := a.write(file(row), content); err != nil {
		return Artifact{}, fmt.Errorf("save artifact: %w", err)
	}
	if err := a.config.Store.SaveArtifact(ctx, row); err != nil {
		return Artifact{}, errors.Join(fmt.Errorf("save artifact: %w", err), a.root.Remove(file(row)))
	}
	return fromRow(row), nil
}

func (a *Artifacts) plan(meta Meta, bytes int64) (store.Artifact, error) {
	if err := meta.check(); err != nil {
		return store.Artifact{}, err
	}
	if meta.Kind == "" {
		meta.Kind = "screenshot"
	}
	now := a.config.Now()
	id, err := store.NewID("a", now)
	return store.Artifact{
		ID: id, Account: meta.Account, Project: meta.Project, Session: meta.Session, Kind: meta.Kind,
		MIME: meta.MIME, Bytes: bytes, Width: meta.Width, Height: meta.Height, Deliver: meta.Deliver, Created: now,
	}, err
}

// makeRoom removes a session's oldest artifacts until one more fits.
func (a *Artifacts) makeRoom(ctx context.Context, account, session string) error {
	rows, err := a.config.Store.ListArtifacts(ctx, account, session)
	if err != nil {
		return err
	}
	for len(rows) >= a.config.PerSession {
		if err := a.remove(ctx, rows[0]); err != nil {
			return err
		}
		rows = rows[1:]
	}
	return nil
}

// write makes a 0600 file whole under its name, or not at all.
func (a *Artifacts) write(name string, content []byte) error {
	if err := a.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	part := name + ".part"
	out, err := a.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	err = errors.Join(err, out.Sync(), out.Close())
	if err == nil {
		err = a.root.Rename(part, name)
	}
	if err != nil {
		return errors.Join(err, a.root.Remove(part))
	}
	return nil
}

// remove takes the file away and then the row, so that what is left of a crash is found by its row.
func (a *Artifacts) remove(ctx context.Context, row store.Artifact) error {
	if err := a.root.Remove(file(row)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove artifact: %w", err)
	}
	return a.config.Store.DeleteArtifact(ctx, row.Account, row.ID)
}
