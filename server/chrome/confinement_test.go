package chrome_test

import (
	"os"
	"strings"
	"testing"

	"chaperone/server/chrome"
)

func TestABinaryThatDoesNotKnowTheConfineProcessDoesNotStartItselfWithoutEnd(t *testing.T) {
	args := os.Args
	t.Cleanup(func() { os.Args = args })
	os.Args = []string{args[0], chrome.ConfineCommand, "probe", "network"}
	found := chrome.CheckConfinement(t.Context())
	if found.Mode != chrome.ByFlags || !strings.Contains(found.Reason, "does not route confine") {
		t.Errorf("a confine process that tries to confine found %+v", found)
	}
}
