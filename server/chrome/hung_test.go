package chrome_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"chaperone/relay/program"
	"chaperone/server/chrome"
)

// mustSay checks that a session's end is told with its reason.
func mustSay(t *testing.T, err error, why string) {
	t.Helper()
	mustBe(t, err, "session_ended")
	if err != nil && !strings.Contains(err.Error(), why) {
		t.Errorf("%v does not say %q", err, why)
	}
}

func freeze(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

func TestAHungChromeIsGivenUp(t *testing.T) {
	w := newWorld(t)
	w.WithPatience(2 * time.Second)
	b := w.open(t, chrome.ReadOnly)
	tab := run(t, b, program.NewTab, settle()).Tab
	hung := chromePID(t, w.runDir)
	other := w.open(t, chrome.Interactive)
	freeze(t, hung)

	for _, name := range []string{tab, program.NewTab} {
		start := time.Now()
		result, err := b.Run(t.Context(), program.Program{Tab: name, DeadlineMS: 1000, Steps: []program.Step{{Run: "@state"}}})
		if took := time.Since(start); err != nil || result.Error == nil || result.Error.Code != "timeout" || took > 2*time.Second {
			t.Errorf("tab %s: %+v, %v after %v", name, result.Error, err, took)
		}
	}
	start := time.Now()
	fresh := w.open(t, chrome.ReadOnly)
	if took := time.Since(start); took > patience {
		t.Errorf("a session beside a hung Chrome opened after %v", took)
	}
	run(t, fresh, program.NewTab, settle())
	run(t, other, program.NewTab, settle())
	select {
	case <-b.Done():
	case <-time.After(patience):
		t.Fatal("the session in the hung Chrome goes on")
	}
	_, err := b.Run(t.Context(), program.Program{Tab: tab, DeadlineMS: 1000})
	mustSay(t, err, "the browser does not answer")
}

func TestANewTabInAHungChromeEndsTheSession(t *testing.T) {
	w := newWorld(t)
	w.WithPatience(500 * time.Millisecond)
	b := w.open(t, chrome.ReadOnly)
	freeze(t, chromePID(t, w.runDir))
	_, err := b.Run(t.Context(), program.Program{Tab: program.NewTab, DeadlineMS: 5000})
	mustSay(t, err, "the browser does not answer")
}

func TestOneWhoGivesUpWaitingEndsNoChrome(t *testing.T) {
	w := newWorld(t)
	b := w.open(t, chrome.ReadOnly)
	pid := chromePID(t, w.runDir)
	freeze(t, pid)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := w.Open(ctx, chrome.OpenOptions{Account: "me", Session: "s_2", Policy: chrome.ReadOnly})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("opening answered %v", err)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	run(t, b, program.NewTab, settle())
}

// killZygotes kills the processes that a Chrome starts its renderers from.
func killZygotes(t *testing.T, browser int) {
	t.Helper()
	killed := 0
	for _, pid := range processes("--type=zygote") {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if bytes.Contains(text, []byte("--type=zygote")) && parent(t, pid) == browser && syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	if killed == 0 {
		t.Fatal("this Chrome has no zygotes to kill")
	}
}

func TestAChromeWithoutRenderersIsGivenUp(t *testing.T) {
	s := newSite(t, nil)
	elsewhere := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	for name, tab := range map[string]string{"in an open tab": "t1", "in a new tab": program.NewTab} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, s)
			w.exits.origins = append(w.exits.origins, strings.TrimPrefix(elsewhere, "http://"))
			b := w.open(t, chrome.Interactive)
			run(t, b, program.NewTab, navigate(s.URL+"/"), settle())
			killZygotes(t, chromePID(t, w.runDir))
			// Chrome may have a renderer in store, which serves one more page.
			var err error
			for _, address := range []string{elsewhere, s.URL, elsewhere, s.URL, elsewhere} {
				steps := []program.Step{navigate(address + "/"), settle()}
				if _, err = b.Run(t.Context(), program.Program{Tab: tab, DeadlineMS: 5000, Steps: steps}); err != nil {
					break
				}
			}
			mustSay(t, err, "the browser cannot start pages any more")
			run(t, w.open(t, chrome.Interactive), program.NewTab, navigate(elsewhere+"/"), settle())
		})
	}
}

func TestAFailedNavigationEndsNoChrome(t *testing.T) {
	s := newSite(t, nil)
	w := newWorld(t, s)
	b := w.open(t, chrome.Interactive)
	tab := run(t, b, program.NewTab, navigate(s.URL+"/"), settle()).Tab
	result, err := b.Run(t.Context(), program.Program{Tab: tab, DeadlineMS: 5000, Steps: []program.Step{navigate("http://127.0.0.1:9/")}})
	if err != nil || result.Error == nil || result.Error.Code != "navigation_failed" {
		t.Fatalf("%+v, %v", result.Error, err)
	}
	run(t, b, tab, navigate(s.URL+"/"), settle())
	if tabs := b.Tabs(); len(tabs) != 1 {
		t.Errorf("tabs: %v", tabs)
	}
}

func TestAProgramThatTheConfineProcessesDeathCutsShortSaysThatTheSessionEnded(t *testing.T) {
	w := newWorld(t)
	b := w.open(t, chrome.ReadOnly)
	tab := run(t, b, program.NewTab, settle()).Tab
	failed := waits(b, tab)
	if err := syscall.Kill(parent(t, chromePID(t, w.runDir)), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	mustSay(t, <-failed, "its browser ended unexpectedly")
	_, err := b.Run(t.Context(), program.Program{Tab: program.NewTab, DeadlineMS: 1000})
	mustSay(t, err, "its browser ended unexpectedly")
}

func TestATabThatHangsCanBeClosed(t *testing.T) {
	s := newSite(t, map[string]string{"/loop": `<script>for (;;);</script>`})
	w := newWorld(t, s)
	b := w.open(t, chrome.Interactive)
	tab := run(t, b, program.NewTab, navigate(s.URL+"/loop"), settle()).Tab
	result, err := b.Run(t.Context(), program.Program{Tab: tab, DeadlineMS: 500, Steps: []program.Step{{Run: "@state"}}})
	if err != nil || result.Error == nil || result.Error.Code != "timeout" {
		t.Fatalf("the page does not hang: %+v, %v", result.Error, err)
	}
	if err := b.CloseTab(t.Context(), tab); err != nil {
		t.Error(err)
	}
	mustMention(t, b.CloseTab(t.Context(), "t99"), "there is no tab t99")
	if tabs := b.Tabs(); len(tabs) != 0 {
		t.Errorf("still listed: %v", tabs)
	}
	run(t, b, program.NewTab, navigate(s.URL+"/"), settle())
}

func TestATabsTitleAndAddressAreBounded(t *testing.T) {
	s := newSite(t, map[string]string{"/": `<script>document.title = '\u{1F600}'.repeat(1e5); history.pushState(null, '', '?' + 'q'.repeat(1e5))</script>`})
	w := newWorld(t, s)
	b := w.open(t, chrome.Interactive)
	run(t, b, program.NewTab, navigate(s.URL+"/"), settle())
	tab := b.Tabs()[0]
	if n := utf8.RuneCountInString(tab.Title); n != 300 || !strings.HasSuffix(tab.Title, "😀…") {
		t.Errorf("a title of %d characters", n)
	}
	if n := utf8.RuneCountInString(tab.URL); n != 4000 || !strings.HasSuffix(tab.URL, "…") {
		t.Errorf("an address of %d characters", n)
	}
}

func TestATabThatNeverAnsweredLeavesTimeForAnother(t *testing.T) {
	s := newSite(t, map[string]string{"/": `<body onload="open('/loop')">`, "/loop": `<script>for (;;);</script>`})
	w := newWorld(t, s)
	b := w.open(t, chrome.Interactive)
	run(t, b, program.NewTab, navigate(s.URL+"/"), settle())
	within(t, patience, "the popup is listed", func() bool { return len(b.Tabs()) == 2 })
	start := time.Now()
	result, err := b.Run(t.Context(), program.Program{Tab: "t2", DeadlineMS: 3000, Steps: []program.Step{{Run: "@state"}}})
	if took := time.Since(start); err != nil || result.Error == nil || result.Error.Code != "timeout" || took > 2500*time.Millisecond {
		t.Errorf("%+v, %v after %v", result.Error, err, took)
	}
}
