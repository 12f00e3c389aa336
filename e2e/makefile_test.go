package e2e_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// A run that names no test passes like one that passed them all.
func TestEveryRunThatTheMakefileNamesHasTests(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../Makefile")
	check(t, err)
	runs := regexp.MustCompile(`\$\(GO\) test .*-run (\w+) .*(\./\S+)`).FindAllStringSubmatch(string(makefile), -1)
	if len(runs) == 0 {
		t.Fatal("the Makefile names no run")
	}
	for _, run := range runs {
		list := exec.CommandContext(t.Context(), "go", "test", "-list", run[1], run[2])
		list.Dir = ".."
		out, err := list.Output()
		check(t, err)
		if !strings.HasPrefix(string(out), "Test") {
			t.Errorf("%s: no test of %s fits %s", strings.TrimSpace(run[0]), run[2], run[1])
		}
	}
}
