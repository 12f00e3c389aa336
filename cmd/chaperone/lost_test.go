package main_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	main "chaperone/cmd/chaperone"
)

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAResultThatIsLostIsNoSuccess(t *testing.T) {
	t.Setenv("CHAPERONE_DATA", filepath.Join(t.TempDir(), "data")) // not that of a server which this machine may run
	for _, args := range [][]string{{"version"}, {"version", "--json"}, {"doctor"}} {
		var told bytes.Buffer
		if code := main.Run(t.Context(), args, full{}, &told); code != 1 || !strings.Contains(told.String(), "no space left") {
			t.Errorf("chaperone %s ended with %d and said %q", strings.Join(args, " "), code, told.String())
		}
	}
}
