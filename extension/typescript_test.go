package extension_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"
)

// fileTimeout bounds one file's tests; a real browser on a busy machine needs most of it.
const fileTimeout = 2 * time.Minute

// TestTypeScript runs every *.test.ts of the extension and of the dashboard: each is bundled by itself and run by Node's own test runner,
// with this folder as its working directory. A file whose run fails, skips something or holds no test
// fails here.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	files := testFiles(t)
	bundles := t.TempDir()
	for _, file := range files {
		t.Run(filepath.ToSlash(file), func(t *testing.T) {
			t.Parallel()
			runNode(t, bundle(t, file, bundles))
		})
	}
}

func testFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, folder := range []string{"src", "../server/web/ui/src"} {
		had := len(files)
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if strings.HasSuffix(path, ".test.ts") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == had {
			t.Fatalf("no *.test.ts beneath %s", folder)
		}
	}
	return files
}

func bundle(t *testing.T, file, into string) string {
	t.Helper()
	out := filepath.Join(into, strings.ReplaceAll(strings.TrimSuffix(file, ".ts"), string(filepath.Separator), ".")+".mjs")
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{file},
		Outfile:     out,
		Write:       true,
		Bundle:      true,
		Platform:    api.PlatformNode,
		Format:      api.FormatESModule,
		Target:      api.ES2023,
		Sourcemap:   api.SourceMapInline,
	})
	for _, message := range api.FormatMessages(result.Errors, api.FormatMessagesOptions{}) {
		t.Error(message)
	}
	if t.Failed() {
		t.FailNow()
	}
	return out
}

func runNode(t *testing.T, file string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), fileTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, "node", "--enable-source-maps", "--test-reporter=tap", file)
	command.WaitDelay = time.Second
	command.Env = append(os.Environ(), "NODE_OPTIONS=")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, output)
	}
	for _, count := range []struct{ name, want string }{
		{"pass", `[1-9]\d*`}, {"fail", "0"}, {"cancelled", "0"}, {"skipped", "0"}, {"todo", "0"},
	} {
		if !regexp.MustCompile(`(?m)^# ` + count.name + ` ` + count.want + `$`).Match(output) {
			t.Fatalf("count of %s is not %s\n%s", count.name, count.want, output)
		}
	}
}
