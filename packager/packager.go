package packager

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// ErrNotBundled is returned for what was not in dist when this binary was built.
var ErrNotBundled = errors.New("not bundled: run make bundle and build again")

// Extension returns the unpacked extension, with manifest.json at its root.
func Extension() (fs.FS, error) {
	return folder("extension", "manifest.json")
}

// ExtensionZip returns the extension as a ZIP whose bytes depend on the sources alone.
func ExtensionZip() ([]byte, error) {
	return file("chrome-extension.zip")
}

// PageScript returns the page script's source: one expression statement that defines globalThis.chaperone in
// the world it is evaluated in.
func PageScript() (string, error) {
	source, err := file("page.js")
	return string(source), err
}

// Dashboard returns the dashboard's files, with index.html at their root.
func Dashboard() (fs.FS, error) {
	return folder("ui", "index.html")
}

func file(name string) ([]byte, error) {
	content, err := fs.ReadFile(dist, "dist/"+name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, ErrNotBundled)
	}
	return content, nil
}

// folder returns dist/name when it holds the file that makes it whole.
func folder(name, witness string) (fs.FS, error) {
	if _, err := file(name + "/" + witness); err != nil {
		return nil, err
	}
	return fs.Sub(dist, "dist/"+name)
}
