package e2e_test

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheDemoTellsTheWholeStory runs what `make demo` runs.
func TestTheDemoTellsTheWholeStory(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), binary, "demo")
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the demo ended with %v\n%s", err, out)
	}
	for _, line := range []string{"paired", "shared one tab", "agent clicks", "write refused", "form refused", "managed browser", "ledger verified"} {
		wants(t, "the demo", string(out), line)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err == nil && len(left) > 0 {
		t.Logf("left in TMPDIR: %v", left)
	}
}

// TestTheCommandLineBrowses follows README from a server to a verified ledger.
func TestTheCommandLineBrowses(t *testing.T) {
	t.Parallel()
	s := openSite(t)
	r := serve(t, "--test-origin", s.URL)
	wants(t, "open", r.must("browse", "--backend", "managed", "open", s.URL+"/"), "Start")
	snapshot := r.must("browse", "snapshot")
	wants(t, "the snapshot", snapshot, `- link "Second page" [ref=`)
	_, rest, _ := strings.Cut(snapshot, `- link "Second page" [ref=`)
	ref, _, _ := strings.Cut(rest, "]")
	r.must("browse", "click", ref)
	wants(t, "the text", r.must("browse", "text"), "The second page's text.")
	r.must("browse", "back")
	r.must("browse", "forward")
	r.must("browse", "scroll", "down")
	r.must("browse", "wait", "10")
	picture := filepath.Join(t.TempDir(), "page.png")
	r.must("browse", "screenshot", picture)
	if raw, err := os.ReadFile(picture); err != nil || !bytes.HasPrefix(raw, []byte("\x89PNG")) {
		t.Errorf("the screenshot is no picture: %v", err)
	}
	wants(t, "tabs", r.must("browse", "tabs"), s.URL+"/second")
	wants(t, "status", r.must("browse", "status"), "managed")
	wants(t, "sessions", r.must("session", "list"), "managed")
	wants(t, "the ledger", r.must("ledger", "list"), "click")
	r.must("browse", "close")
	r.must("ledger", "verify")
	var verified struct {
		Rows int64
		Bad  any
	}
	decodeJSON(t, r.must("ledger", "verify", "--json"), &verified)
	if verified.Rows < 10 || verified.Bad != nil {
		t.Errorf("the ledger reads %+v", verified)
	}
}

func TestExitCodesTellWhatHappened(t *testing.T) {
	s := openSite(t)
	r := serve(t, "--test-origin", s.URL)
	r.must("browse", "open", s.URL+"/")
	for name, c := range map[string]struct {
		args []string
		code int
	}{
		"a failed action":   {[]string{"browse", "click", "e999"}, 1},
		"a usage error":     {[]string{"browse", "click"}, 2},
		"an unknown flag":   {[]string{"browse", "snapshot", "--nope"}, 2},
		"a refused write":   {[]string{"browse", "fill", "e1", "x"}, 3},
		"a refused address": {[]string{"browse", "open", "http://10.0.0.1/"}, 3},
		"no browser linked": {[]string{"session", "new", "--backend", "shared"}, 4},
	} {
		got := r.run(c.args...)
		if got.code != c.code || got.err == "" {
			t.Errorf("%s: chaperone %s ended with %d (%q), want %d and a reason", name, strings.Join(c.args, " "), got.code, got.err, c.code)
		}
	}
}

func TestTheExtensionComesOutOfTheBinaryAndTheServer(t *testing.T) {
	r := serve(t)
	dir := filepath.Join(t.TempDir(), "extension")
	r.must("extension", "unpack", dir)
	for _, name := range []string{"manifest.json", "worker.js", "popup.html"} {
		if !exists(filepath.Join(dir, name)) {
			t.Errorf("the unpacked extension lacks %s", name)
		}
	}
	raw := r.fetch("/api/downloads/chrome-extension.zip")
	archive, err := zip.NewReader(strings.NewReader(raw), int64(len(raw)))
	check(t, err)
	if len(archive.File) < 4 {
		t.Errorf("the ZIP has %d files", len(archive.File))
	}
}

func TestOneServerHasADataFolder(t *testing.T) {
	r := serve(t)
	second := r.run("serve", "--addr", "127.0.0.1:0", "--data", r.data)
	if second.code == 0 || !strings.Contains(second.err, "another server") {
		t.Errorf("a second server ended with %d: %s", second.code, second.err)
	}
}

func TestSecretsAreForTheOwnerOnly(t *testing.T) {
	r := serve(t)
	check(t, filepath.WalkDir(r.data, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	}))
}
