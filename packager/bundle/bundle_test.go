package bundle_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"chaperone/packager/bundle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tree is a source tree as small as can be, with a quote and a line break that the worker must hold as text.
func tree() map[string]string {
	return map[string]string{
		"extension/manifest.json":        `{"manifest_version":3}`,
		"extension/icons/icon-16.png":    "picture",
		"extension/src/page/main.ts":     "import { word } from './word';\n(globalThis as any).page = word;",
		"extension/src/page/word.ts":     "export const word: string = 'say \"ü\"\\n';",
		"extension/src/worker/main.ts":   "declare const PAGE_SCRIPT: string;\n(globalThis as any).source = PAGE_SCRIPT;",
		"extension/src/popup/popup.ts":   "document.title = 'popup';",
		"extension/src/popup/popup.css":  "body { margin: 0 }",
		"extension/src/popup/popup.html": "<!doctype html>",
	}
}

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func build(t *testing.T, files map[string]string) bundle.Files {
	t.Helper()
	built, err := bundle.Build(write(t, files))
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func names(files bundle.Files) []string {
	all := make([]string, 0, len(files))
	for name := range files {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func TestBuildHasEveryPart(t *testing.T) {
	t.Parallel()
	want := []string{
		"chrome-extension.zip", "extension/icons/icon-16.png", "extension/manifest.json", "extension/popup.css",
		"extension/popup.html", "extension/popup.js", "extension/worker.js", "page.js",
	}
	if got := names(build(t, tree())); !slices.Equal(got, want) {
		t.Errorf("files are %v, want %v", got, want)
	}
}

func TestBuildHasTheDashboardWhereTheTreeHasOne(t *testing.T) {
	t.Parallel()
	files := tree()
	files["server/web/ui/index.html"] = "<!doctype html>"
	files["server/web/ui/public/icon.svg"] = "<svg/>"
	files["server/web/ui/src/main.tsx"] = "import './look.css'; document.title = 'dashboard';"
	files["server/web/ui/src/look.css"] = "body { margin: 0 }"
	built := build(t, files)
	for _, name := range []string{"ui/index.html", "ui/icon.svg", "ui/main.js", "ui/main.css"} {
		if _, ok := built[name]; !ok {
			t.Errorf("%s is missing from %v", name, names(built))
		}
	}
}

func TestTheWorkerHoldsThePageScriptAsText(t *testing.T) {
	t.Parallel()
	files := build(t, tree())
	if !bytes.Contains(files["page.js"], []byte("(()=>{")) {
		t.Errorf("page script does not stand alone: %s", files["page.js"])
	}
	if !bytes.Contains(files["extension/worker.js"], []byte("globalThis.page=")) {
		t.Errorf("worker does not hold the page script: %s", files["extension/worker.js"])
	}
}

func TestTwoTreesOfEqualSourcesMakeEqualBytes(t *testing.T) {
	t.Parallel()
	first, second := build(t, tree()), build(t, tree())
	for name, content := range first {
		if !bytes.Equal(content, second[name]) {
			t.Errorf("%s differs between two runs", name)
		}
	}
}

func TestTheArchiveIsSortedAndOfOneTime(t *testing.T) {
	t.Parallel()
	content := build(t, tree())["chrome-extension.zip"]
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]string, 0, len(archive.File))
	for _, entry := range archive.File {
		got = append(got, entry.Name)
		if year := entry.Modified.UTC().Year(); year != 1980 {
			t.Errorf("%s is of the year %d, want 1980", entry.Name, year)
		}
	}
	if !slices.IsSorted(got) || !slices.Contains(got, "manifest.json") {
		t.Errorf("archive holds %v, want sorted names with manifest.json at the root", got)
	}
}

func TestASourceThatDoesNotCompileIsNamed(t *testing.T) {
	t.Parallel()
	files := tree()
	files["extension/src/popup/popup.ts"] = "const = 1;"
	_, err := bundle.Build(write(t, files))
	if err == nil || !strings.Contains(err.Error(), "popup.ts:1:6") {
		t.Errorf("error is %v, want one that names popup.ts:1:6", err)
	}
}

func TestWriteReplacesAnEarlierBundleAndKeepsHiddenNames(t *testing.T) {
	t.Parallel()
	folder := write(t, map[string]string{".keep": "", "ui/old.js": "", "page.js": "old"})
	if err := (bundle.Files{"page.js": []byte("new"), "extension/worker.js": nil}).Write(folder); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{".keep": true, "ui/old.js": false, "extension/worker.js": true} {
		if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", name, err == nil, want)
		}
	}
	if content, _ := os.ReadFile(filepath.Join(folder, "page.js")); string(content) != "new" {
		t.Errorf("page.js holds %q, want the new bundle", content)
	}
}
