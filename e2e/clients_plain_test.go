package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chaperone/server/chrome"
)

// TestClientsDriveAPlainChromium is the control: what fails here is not ours.
func TestClientsDriveAPlainChromium(t *testing.T) { //nolint:tparallel // its parts have one browser, and go one after the other
	t.Parallel()
	site := newWorkshop()
	t.Cleanup(site.Close)
	profile := folder(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	browser, err := chrome.StartPlain(ctx, chrome.PlainOptions{
		// Playwright waits in vain for a page that comes back from the back-forward cache.
		Profile: profile, Flags: []string{"--remote-debugging-port=0", "--disable-features=BackForwardCache", "about:blank"},
	})
	check(t, err)
	t.Cleanup(func() { check(t, browser.Close()) })
	var port string
	await(t, func() bool {
		raw, err := os.ReadFile(filepath.Join(profile, "DevToolsActivePort"))
		port = string(raw)
		return err == nil && strings.Contains(port, "\n")
	}, "the debugging port")
	port, path, _ := strings.Cut(port, "\n")
	b := &backend{site: site, visit: func(t *testing.T, road *clientRoad) func() {
		t.Helper()
		leaveOneTab(t, browser)
		road.HTTP = "http://127.0.0.1:" + port
		road.WS = "ws://127.0.0.1:" + port + path
		return func() {}
	}}
	b.drive(t)
}

// leaveOneTab closes what an earlier client left, all but one fresh tab.
func leaveOneTab(t *testing.T, browser *chrome.Plain) {
	t.Helper()
	raw, err := browser.Call(t.Context(), "", "Target.getTargets", map[string]any{})
	check(t, err)
	var before struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	decodeJSON(t, string(raw), &before)
	_, err = browser.Call(t.Context(), "", "Target.createTarget", map[string]any{"url": "about:blank"})
	check(t, err)
	for _, target := range before.TargetInfos {
		if target.Type == "page" {
			_, err = browser.Call(t.Context(), "", "Target.closeTarget", map[string]any{"targetId": target.TargetID})
			check(t, err)
		}
	}
}
