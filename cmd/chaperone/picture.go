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

// picture takes a screenshot and writes it to a file, or says how to fetch it where none is named.
func (b *browser) picture(ctx context.Context, action browse.Action, file string) error {
	undo, err := reserve(file)
	if err != nil {
		return err
	}
	c, raw, err := b.do(ctx, action)
	if err != nil {
		return errors.Join(err, undo())
	}
	taken, err := pictureIn(raw)
	if err != nil {
		return errors.Join(err, undo())
	}
	path := "/api/v1/artifacts/" + url.PathEscape(taken.Artifact)
	if file == "" {
		b.app.note("the server keeps the picture; fetch it with: curl -o picture.png -H %q %s%s", "Authorization: Bearer "+c.secret, c.address, path)
		return b.print(raw)
	}
	if err := c.save(ctx, path, file); err != nil {
		return errors.Join(err, undo())
	}
	b.noteSaved(file, taken)
	return b.print(raw)
}

func (b *browser) noteSaved(file string, taken browse.Screenshot) {
	if info, err := os.Stat(file); err == nil {
		b.app.note("wrote %s: %d by %d pixels, %d bytes", file, taken.Width, taken.Height, info.Size())
	}
}

// reserve proves that a file can be written, before anything is done for it; undo removes what was not there.
func reserve(file string) (undo func() error, err error) {
	keep := func() error { return nil }
	if file == "" {
		return keep, nil
	}
	_, before := os.Stat(file)
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o600) //nolint:gosec // the person named it
	if err != nil {
		return keep, fmt.Errorf("the picture cannot be written: %w", err)
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
