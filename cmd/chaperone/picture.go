package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

// kept is an artifact that an action made: what it is, a name for a copy of it, and where the copy is wanted, if anywhere.
type kept struct {
	what, name, file string
	// find reads an answer: the artifact's id, and what is said of the copy once it is written.
	find func(raw []byte) (artifact string, wrote func(), err error)
}

// keep runs an action and writes what it made to a file, or says how to fetch it where none is named.
func (b *browser) keep(ctx context.Context, action browse.Action, k kept) error {
	undo, err := reserve(k.what, k.file)
	if err != nil {
		return err
	}
	c, raw, err := b.do(ctx, action)
	if err != nil {
		return errors.Join(err, undo())
	}
	artifact, wrote, err := k.find(raw)
	if err != nil {
		return errors.Join(err, undo())
	}
	path := "/api/v1/artifacts/" + url.PathEscape(artifact)
	if k.file == "" {
		b.app.note("the server keeps the %s; fetch it with: curl -o %s -H %q %s%s", k.what, k.name, "Authorization: Bearer "+c.secret, c.address, path)
		return b.print(raw)
	}
	if err := c.save(ctx, path, k.file); err != nil {
		return errors.Join(err, undo())
	}
	wrote()
	return b.print(raw)
}

// picture takes a screenshot and keeps it.
func (b *browser) picture(ctx context.Context, action browse.Action, file string) error {
	return b.keep(ctx, action, kept{what: "picture", name: "picture.png", file: file, find: func(raw []byte) (string, func(), error) {
		taken, err := pictureIn(raw)
		return taken.Artifact, func() { b.noteSaved(file, taken) }, err
	}})
}

func (b *browser) noteSaved(file string, taken browse.Screenshot) {
	if info, err := os.Stat(file); err == nil {
		b.app.note("wrote %s: %d by %d pixels, %d bytes", file, taken.Width, taken.Height, info.Size())
	}
}

// reserve proves that a file can be written, before anything is done for it; undo removes what was not there.
func reserve(what, file string) (undo func() error, err error) {
	keep := func() error { return nil }
	if file == "" {
		return keep, nil
	}
	_, before := os.Stat(file)
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o600) //nolint:gosec // the person named it
	if err != nil {
		return keep, fmt.Errorf("the %s cannot be written: %w", what, err)
	}
	if errors.Is(before, fs.ErrNotExist) {
		return func() error { return os.Remove(file) }, out.Close()
	}
	return keep, out.Close()
}

func pictureIn(raw []byte) (browse.Screenshot, error) {
	var result browse.Result
	if err := json.Unmarshal(raw, &result); err != nil {
		return browse.Screenshot{}, fmt.Errorf("decode answer: %w", err)
	}
	if result.Screenshot == nil {
		return browse.Screenshot{}, fault.New(fault.Internal, "the answer holds no picture", "")
	}
	return *result.Screenshot, nil
}

// save writes an answer to a file.
func (c *client) save(ctx context.Context, path, file string) error {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the person named it
	if err != nil {
		return fmt.Errorf("write picture: %w", err)
	}
	err = c.download(ctx, path, out)
	return errors.Join(err, out.Close())
}
