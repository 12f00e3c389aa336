package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"chaperone/packager"
	"chaperone/server/fault"
)

func (a *app) extensionCommand() *cobra.Command {
	return group("extension", "Get the browser extension", a.extensionUnpack(), a.extensionZip())
}

func (a *app) extensionUnpack() *cobra.Command {
	return &cobra.Command{
		Use: "unpack DIR", Short: "Write the extension into a folder, to be loaded unpacked",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := packager.Extension()
			if err != nil {
				return err
			}
			if err := mayUnpack(files, args[0]); err != nil {
				return err
			}
			if err := unpack(files, args[0]); err != nil {
				return fmt.Errorf("unpack extension: %w", err)
			}
			line(a.out, "%s", args[0])
			line(a.err, "Open chrome://extensions, turn on Developer mode, choose Load unpacked, and pick this folder.")
			return nil
		},
	}
}

// mayUnpack refuses a folder that holds something else: what is not there yet, is empty or holds this very
// extension may be written.
func mayUnpack(files fs.FS, dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && len(entries) == 0) {
		return nil
	}
	if err != nil {
		return fault.New(fault.BadRequest, dir+" cannot be read as a folder", "Name another folder.")
	}
	if own := manifestKey(files); own != "" && manifestKey(os.DirFS(dir)) == own {
		return nil
	}
	return fault.New(fault.BadRequest, "the folder "+dir+" is not empty and does not hold this extension", "Name a new folder, such as "+filepath.Join(dir, "chaperone-extension"))
}

// manifestKey is what pins an extension's id; empty where there is no manifest.
func manifestKey(files fs.FS) string {
	var manifest struct {
		Key string `json:"key"`
	}
	raw, err := fs.ReadFile(files, "manifest.json")
	if err != nil || json.Unmarshal(raw, &manifest) != nil {
		return ""
	}
	return manifest.Key
}

// unpack writes files beneath dir, over what an earlier version left there; it removes nothing.
func unpack(files fs.FS, dir string) error {
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, filepath.FromSlash(name))
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755) //nolint:gosec // the browser, maybe another user's, reads it
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o644) //nolint:gosec // the browser, maybe another user's, reads it
	})
}

func (a *app) extensionZip() *cobra.Command {
	return &cobra.Command{Use: "zip FILE", Short: "Write the extension as a ZIP", Args: cobra.ExactArgs(1), RunE: func(_ *cobra.Command, args []string) error {
		content, err := packager.ExtensionZip()
		if err != nil {
			return err
		}
		file, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644) //nolint:gosec // it holds no secret, and the person named it
		if err != nil {
			return fmt.Errorf("write extension: %w", err)
		}
		_, err = file.Write(content)
		if err = errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("write extension: %w", err)
		}
		line(a.out, "%s", args[0])
		return nil
	}}
}
