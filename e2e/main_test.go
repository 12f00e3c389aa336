package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// binary is the chaperone that the tests run: built here from this tree, with the race detector, except for full soaks: what
// the detector itself remembers grows with each session.
var binary string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "chaperone-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "chaperone")
	args := []string{"build", "-o", binary, "chaperone/cmd/chaperone"}
	if !isFullSoak() {
		args = slices.Insert(args, 1, "-race")
	}
	build := exec.CommandContext(context.Background(), "go", args...)
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the binary under test:", err)
		return 1
	}
	return m.Run()
}
