package artifact

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"chaperone/server/store"
)

const (
	sweepBatch = 200
	// settled is how old a file without a row, or an empty folder, must be: younger ones may be a Save
	// that is under way.
	settled = time.Hour
)

// Sweep removes what is older than the retention, and files and folders that a crash left, and says how
// many files went.
func (a *Artifacts) Sweep(ctx context.Context) (int, error) {
	old, err := a.sweepOld(ctx)
	if err != nil {
		return old, fmt.Errorf("sweep artifacts: %w", err)
	}
	stray, err := a.sweepStray(ctx)
	if err != nil {
		return old + stray, fmt.Errorf("sweep artifacts: %w", err)
	}
	return old + stray, nil
}

func (a *Artifacts) sweepOld(ctx context.Context) (int, error) {
	gone := 0
	for {
		rows, err := a.config.Store.ArtifactsBeforeAnyAccount(ctx, a.config.Now().Add(-a.config.Retention), sweepBatch)
		if err != nil || len(rows) == 0 {
			return gone, err
		}
		for _, row := range rows {
			if err := a.remove(ctx, row); err != nil {
				return gone, err
			}
			gone++
		}
	}
}

// sweepStray removes settled files that have no row, then folders that are empty, the deepest first.
func (a *Artifacts) sweepStray(ctx context.Context) (int, error) {
	gone := 0
	var folders []string
	err := fs.WalkDir(a.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if a.isFresh(entry) || name == "." {
			return nil
		}
		if entry.IsDir() {
			folders = append(folders, name)
			return nil
		}
		_, err = a.config.Store.ArtifactAnyAccount(ctx, strings.TrimSuffix(path.Base(name), path.Ext(name)))
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		gone++
		return a.root.Remove(name)
	})
	slices.Reverse(folders)
	for _, name := range folders {
		_ = a.root.Remove(name) // fails, as it should, when the folder is not empty
	}
	return gone, err
}

// isFresh also holds for what went away while the folder was walked.
func (a *Artifacts) isFresh(entry fs.DirEntry) bool {
	info, err := entry.Info()
	return err != nil || a.config.Now().Sub(info.ModTime()) < settled
}
