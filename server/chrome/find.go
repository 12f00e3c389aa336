package chrome

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// BinaryKind tells one browser build from another.
type BinaryKind string

// What Find can find.
const (
	HeadlessShell BinaryKind = "headless_shell"
	FullBrowser   BinaryKind = "browser"
)

// Binary is a browser on this machine.
type Binary struct {
	Path string     `json:"path"` // of the program itself, never of a wrapper script where that is known
	Kind BinaryKind `json:"kind"`
}

// ErrNoBrowser is returned by Find on a machine without a browser.
var ErrNoBrowser = errors.New("no headless shell, Chromium, Chrome or Edge found")

// Find returns the browser at path explicit, or, when that is empty, the first of the headless shell,
// Chromium, Chrome and Edge that this machine has. A wrapper script is followed to the program that it
// starts, so that the flags are exactly ours.
func Find(explicit string) (Binary, error) {
	if explicit != "" {
		path, err := exec.LookPath(explicit)
		if err != nil {
			return Binary{}, fmt.Errorf("find browser: %w", err)
		}
		return describe(behindWrapper(path)), nil
	}
	for _, name := range browserNames() {
		if path, err := exec.LookPath(name); err == nil {
			return describe(behindWrapper(path)), nil
		}
	}
	return Binary{}, ErrNoBrowser
}

// browserNames are tried in order: the shell first, because it starts in a fifth of the time.
func browserNames() []string {
	return []string{
		"chromium-headless-shell", "chrome-headless-shell", "headless-shell", "/headless-shell/headless-shell",
		"/usr/lib/chromium/chromium", "chromium", "chromium-browser",
		"/opt/google/chrome/chrome", "google-chrome-stable", "google-chrome",
		"/opt/microsoft/msedge/msedge", "microsoft-edge-stable", "microsoft-edge",
		"/Applications/Chromium.app/Contents/MacOS/Chromium",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
		"/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
	}
}

func describe(path string) Binary {
	base := strings.ReplaceAll(filepath.Base(path), "_", "-")
	if strings.Contains(base, "headless-shell") {
		return Binary{Path: path, Kind: HeadlessShell}
	}
	return Binary{Path: path, Kind: FullBrowser}
}

// behindWrapper follows the distributions' start scripts, which add flags of their own.
func behindWrapper(path string) string {
	target, err := filepath.EvalSymlinks(path)
	if err != nil || !isScript(target) {
		return path
	}
	base, dir := filepath.Base(path), filepath.Dir(target)
	for _, candidate := range []string{
		"/usr/lib/chromium/" + base, "/usr/lib/chromium-browser/" + base, "/usr/lib64/chromium-browser/" + base,
		dir + "/chrome", dir + "/msedge",
	} {
		if _, err := exec.LookPath(candidate); err == nil && !isScript(candidate) {
			return candidate
		}
	}
	return path
}

func isScript(path string) bool {
	file, err := os.Open(path) // #nosec G304 -- a browser's path, from the operator or a fixed list
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	head := make([]byte, 2)
	_, err = io.ReadFull(file, head)
	return err == nil && bytes.Equal(head, []byte("#!"))
}
