package chrome_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"chaperone/relay/program"
	"chaperone/server/chrome"
)

// long is longer than any test: what is kept warm stays so.
const long = time.Hour

func (w *world) openAs(t *testing.T, account string, policy chrome.Policy) *chrome.Browser {
	t.Helper()
	b, err := w.Open(t.Context(), chrome.OpenOptions{Account: account, Session: "s_" + account, Policy: policy})
	if err != nil {
		t.Fatalf("open session: %v\n%s", err, w.log)
	}
	return b
}

func (w *world) awaitNext(t *testing.T) {
	t.Helper()
	within(t, 2*patience, "a browser is ready for the next session", func() bool { return w.IsReady("me", chrome.ReadOnly) })
}

func closeAll(t *testing.T, all ...*chrome.Browser) {
	t.Helper()
	for _, b := range all {
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestASessionThatWasReadyIsAsAnyOther(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{"/": `<title>Hello</title><script>document.title = document.cookie || 'none'; document.cookie = 'who=first'</script>`})
	w := newWorldKeeping(t, long, s)
	first := w.open(t, chrome.ReadOnly)
	run(t, first, program.NewTab, navigate(s.URL+"/"), settle())
	w.awaitNext(t)
	if w.exits.open != 1 {
		t.Errorf("%d ways out are open for one session", w.exits.open)
	}
	second := w.open(t, chrome.ReadOnly)
	if fresh := second.Tabs(); len(fresh) != 0 {
		t.Errorf("a fresh session has tabs: %+v", fresh)
	}
	if tab := run(t, second, program.NewTab, navigate(s.URL+"/"), settle()).Tab; tab != "t1" {
		t.Errorf("the first tab is %q", tab)
	}
	tabs := second.Tabs()
	if len(tabs) != 1 || tabs[0].Title != "none" || !strings.HasPrefix(tabs[0].Session, "s_") || tabs[0].Level != program.LevelRead {
		t.Errorf("tabs are %+v", tabs)
	}
	if tab := run(t, second, program.NewTab, settle()).Tab; tab != "t2" {
		t.Errorf("the second tab is %q", tab)
	}
	if w.exits.open != 2 {
		t.Errorf("%d ways out are open for two sessions", w.exits.open)
	}
}

func TestATabThatWasMadeAheadIsNobodysUntilItIsOpened(t *testing.T) {
	t.Parallel()
	w := newWorldKeeping(t, long)
	w.open(t, chrome.ReadOnly)
	w.awaitNext(t)
	b := w.open(t, chrome.ReadOnly)
	result, err := b.Run(t.Context(), program.Program{Tab: "t1", DeadlineMS: 5000})
	if err != nil || result.Error == nil || result.Error.Code != "tab_closed" {
		t.Errorf("it answers %+v, %v", result, err)
	}
}

func TestASessionThatWasReadyIsGuardedToo(t *testing.T) {
	t.Parallel()
	s := postingSite(t)
	w := newWorldKeeping(t, long, s)
	w.open(t, chrome.ReadOnly)
	w.awaitNext(t)
	b := w.open(t, chrome.ReadOnly)
	press(t, b, s, "form in the same tab")
	run(t, b, program.NewTab, navigate(s.URL+"/last"), settle())
	if slices.Contains(s.lines(), arrival("form in the same tab")) {
		t.Error("it posted")
	}
}

func TestAPageThatCrashesAheadIsMadeAnew(t *testing.T) {
	t.Parallel()
	w := newWorldKeeping(t, long)
	w.open(t, chrome.ReadOnly)
	w.awaitNext(t)
	within(t, patience, "the page is gone", w.CrashNext("me", chrome.ReadOnly))
	b := w.open(t, chrome.ReadOnly)
	run(t, b, program.NewTab, settle())
}

func TestAChromeThatHungWithASessionReadyIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorldKeeping(t, long)
	w.WithPatience(2 * time.Second)
	w.open(t, chrome.ReadOnly)
	w.awaitNext(t)
	within(t, 2*patience, "a process is spare", w.HasSpare)
	before := browsers(w.runDir)
	for _, pid := range before {
		freeze(t, pid)
	}
	b := w.open(t, chrome.ReadOnly)
	run(t, b, program.NewTab, settle())
}

func TestAChromeIsKeptWithoutSessionsForAWhile(t *testing.T) {
	t.Parallel()
	w := newWorldKeeping(t, 1500*time.Millisecond)
	b := w.open(t, chrome.ReadOnly)
	pid := chromePID(t, w.runDir)
	closeAll(t, b)
	if got := browsers(w.runDir); !slices.Contains(got, pid) {
		t.Errorf("after the last session: %v, want %d", got, pid)
	}
	again := w.open(t, chrome.ReadOnly)
	run(t, again, program.NewTab, settle())
	if got := browsers(w.runDir); !slices.Contains(got, pid) {
		t.Errorf("with a session again: %v, want %d", got, pid)
	}
	closeAll(t, again)
	within(t, 4*patience, "nothing is kept", func() bool { return len(processes(w.runDir)) == 0 })
}

func TestTheChromesThatAreIdleTheLongestEnd(t *testing.T) {
	t.Parallel()
	w := newWorldKeeping(t, long)
	accounts := []string{"first", "second", "third"}
	all := make([]*chrome.Browser, 0, len(accounts))
	for _, account := range accounts {
		all = append(all, w.openAs(t, account, chrome.ReadOnly))
	}
	for _, account := range accounts {
		within(t, 2*patience, "a session is ready", func() bool { return w.IsReady(account, chrome.ReadOnly) })
	}
	closeAll(t, all...)
	for i, account := range accounts {
		if got := w.IsReady(account, chrome.ReadOnly); got != (i > 0) {
			t.Errorf("the Chrome of %s is kept: %t", account, got)
		}
	}
}

func TestAProcessIsReadyForWhoeverComes(t *testing.T) {
	t.Parallel()
	w := newWorldKeeping(t, long)
	first := w.open(t, chrome.ReadOnly)
	within(t, 2*patience, "a process is spare", w.HasSpare)
	before := browsers(w.runDir)
	if len(before) != 2 {
		t.Fatalf("processes: %v", before)
	}
	other := w.openAs(t, "other", chrome.Interactive)
	if got := browsers(w.runDir); !slices.Equal(got, before) {
		t.Errorf("processes %v, want none but %v", got, before)
	}
	for _, b := range []*chrome.Browser{first, other} {
		run(t, b, program.NewTab, settle())
	}
	within(t, 2*patience, "another is spare", w.HasSpare)
}

func TestASpareProcessThatDiedServesNobody(t *testing.T) {
	t.Parallel()
	w := newWorldKeeping(t, long)
	first := w.open(t, chrome.ReadOnly)
	used := chromePID(t, w.runDir)
	within(t, 2*patience, "a process is spare", w.HasSpare)
	for _, pid := range browsers(w.runDir) {
		if pid != used && syscall.Kill(pid, syscall.SIGKILL) != nil {
			t.Fatal("it lives")
		}
	}
	run(t, w.open(t, chrome.Interactive), program.NewTab, settle())
	run(t, first, program.NewTab, settle())
}

func TestAChromeThatIsKilledIsReplacedFromWhatIsReady(t *testing.T) {
	t.Parallel()
	w := newWorldKeeping(t, long)
	b, other := w.open(t, chrome.ReadOnly), w.open(t, chrome.Interactive)
	within(t, 2*patience, "a process is spare", w.HasSpare)
	spare := browsers(w.runDir)
	tab := run(t, b, program.NewTab, settle()).Tab
	failed := waits(b, tab)
	w.KillOf(b)
	mustBe(t, <-failed, "session_ended")
	run(t, other, program.NewTab, settle())
	run(t, w.open(t, chrome.ReadOnly), program.NewTab, settle())
	if got := browsers(w.runDir); !isSubset(got, spare) {
		t.Errorf("processes %v, want some of %v: the spare one has taken the place", got, spare)
	}
}

func isSubset(some, of []int) bool {
	return !slices.ContainsFunc(some, func(one int) bool { return !slices.Contains(of, one) })
}
