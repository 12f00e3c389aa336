package endpoint_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"chaperone/server/chrome"
)

// TestMain is also the confine process: the pool of managed browsers starts its own binary again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == chrome.ConfineCommand {
		os.Exit(chrome.ConfineMain(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}
