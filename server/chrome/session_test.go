package chrome_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chaperone/relay/program"
	"chaperone/server/chrome"
)

func TestPagesLoadThroughTheWayOutOnly(t *testing.T) {
	s := newSite(t, map[string]string{"/": "<title>Hello</title>"})
	w := newWorld(t, s)
	b := w.open(t, chrome.ReadOnly)
	if fresh := b.Tabs(); len(fresh) != 0 {
		t.Fatalf("a fresh session has tabs: %v", fresh)
	}
	result := run(t, b, program.NewTab, navigate(s.URL+"/"), settle())
	if result.Tab != "t1" {
		t.Errorf("the first tab is %q", result.Tab)
	}
	tabs := b.Tabs()
	if len(tabs) != 1 || tabs[0].Title != "Hello" || tabs[0].URL != s.URL+"/" || tabs[0].Level != program.LevelRead {
		t.Errorf("tabs are %+v", tabs)
	}
	if ok, _ := s.saw("GET /"); !ok {
		t.Error("the page did not come from the site")
	}
	if second := run(t, b, program.NewTab, settle()); second.Tab != "t2" {
		t.Errorf("the second tab is %q", second.Tab)
	}
}

func TestChromeIsStartedWithExactlyTheList(t *testing.T) {
	w := newWorld(t)
	w.open(t, chrome.ReadOnly)
	pid := chromePID(t, w.runDir)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		t.Fatal(err)
	}
	// Chrome writes its command line back with blanks between the words.
	line := strings.TrimRight(strings.ReplaceAll(string(text), "\x00", " "), " ")
	profiles, err := filepath.Glob(filepath.Join(w.runDir, "c-*", "profile"))
	if err != nil || len(profiles) != 1 {
		t.Fatalf("profiles: %v, %v", profiles, err)
	}
	want := strings.Join(append([]string{w.Binary().Path}, chrome.CommandLine(w.Binary(), profiles[0], chrome.Nobody)...), " ")
	if w.Binary().Kind == chrome.FullBrowser {
		// What headless mode adds to its own command line.
		want += " --noerrdialogs --ozone-platform=headless --ozone-override-screen-size=800,600 --use-angle=swiftshader-webgl"
	}
	if line != want {
		t.Errorf("command line\n got %q\nwant %q", line, want)
	}
	if sandboxOff := strings.Contains(line, "--no-sandbox"); sandboxOff != (os.Geteuid() == 0) {
		t.Errorf("sandbox off: %v, root: %v", sandboxOff, os.Geteuid() == 0)
	}
	if strings.Contains(line, "--remote-debugging-port") {
		t.Error("a debugging port is open")
	}
}
