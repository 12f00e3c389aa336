package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// Files is a bundle in memory: slash-separated names below its folder, and contents.
type Files map[string][]byte

// Build bundles the source tree at root: page.js, extension/…, chrome-extension.zip and, where the tree has a
// dashboard, ui/…. Its error names the source line that does not compile.
func Build(root string) (Files, error) {
	page, err := compilePage(root)
	if err != nil {
		return nil, err
	}
	extension, err := buildExtension(root, page)
	if err != nil {
		return nil, err
	}
	archive, err := zipped(extension)
	if err != nil {
		return nil, err
	}
	dashboard, err := buildDashboard(root)
	if err != nil {
		return nil, err
	}
	files := Files{"page.js": page, "chrome-extension.zip": archive}
	files.put("extension", extension)
	files.put("ui", dashboard)
	return files, nil
}

// Extension bundles the extension alone, as a folder to be loaded unpacked.
func Extension(root string) (Files, error) {
	page, err := compilePage(root)
	if err != nil {
		return nil, err
	}
	return buildExtension(root, page)
}

// Write makes folder hold exactly these files, besides names that begin with a dot.
func (files Files) Write(folder string) error {
	if err := empty(folder); err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return fmt.Errorf("make folder of %s: %w", name, err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

func (files Files) put(folder string, others Files) {
	for name, content := range others {
		files[folder+"/"+name] = content
	}
}

func empty(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read folder: %w", err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if err := os.RemoveAll(filepath.Join(folder, entry.Name())); err != nil {
			return fmt.Errorf("remove earlier bundle: %w", err)
		}
	}
	return nil
}

func compilePage(root string) ([]byte, error) {
	files, err := compile(root, "page", script("extension/src/page/main.ts"))
	if err != nil {
		return nil, err
	}
	return files["page.js"], nil
}

func buildExtension(root string, page []byte) (Files, error) {
	source, err := json.Marshal(string(page))
	if err != nil {
		return nil, fmt.Errorf("quote page script: %w", err)
	}
	worker := module("extension/src/worker/main.ts")
	worker.Define = map[string]string{"PAGE_SCRIPT": string(source)}
	files, err := compile(root, "worker", worker)
	if err != nil {
		return nil, err
	}
	popup, err := compile(root, "popup", script("extension/src/popup/popup.ts"))
	if err != nil {
		return nil, err
	}
	maps.Copy(files, popup)
	static, err := read(filepath.Join(root, "extension"), "manifest.json", "icons/*.png", "src/popup/*.html", "src/popup/*.css")
	if err != nil {
		return nil, err
	}
	for name, content := range static {
		files[strings.TrimPrefix(name, "src/popup/")] = content
	}
	return files, nil
}

// buildDashboard returns nothing where the tree has no dashboard.
func buildDashboard(root string) (Files, error) {
	folder := filepath.Join(root, "server", "web", "ui")
	if _, err := os.Stat(filepath.Join(folder, "src", "main.tsx")); errors.Is(err, fs.ErrNotExist) {
		return Files{}, nil
	}
	files, err := compile(root, "main", module("server/web/ui/src/main.tsx"))
	if err != nil {
		return nil, err
	}
	static, err := read(folder, "index.html", "public/*")
	if err != nil {
		return nil, err
	}
	for name, content := range static {
		files[strings.TrimPrefix(name, "public/")] = content
	}
	return files, nil
}

// read returns the files of folder that match the patterns; a pattern without a star must match.
func read(folder string, patterns ...string) (Files, error) {
	tree := os.DirFS(folder)
	files := Files{}
	for _, pattern := range patterns {
		names, err := fs.Glob(tree, pattern)
		if err != nil {
			return nil, fmt.Errorf("match %s: %w", pattern, err)
		}
		if len(names) == 0 && !strings.Contains(pattern, "*") {
			return nil, fmt.Errorf("read %s: %w", filepath.Join(folder, pattern), fs.ErrNotExist)
		}
		for _, name := range names {
			if files[name], err = fs.ReadFile(tree, name); err != nil {
				return nil, fmt.Errorf("read %s: %w", name, err)
			}
		}
	}
	return files, nil
}
