package chrome_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"chaperone/relay/program"
	"chaperone/server/chrome"
	"chaperone/server/fault"
)

// mustBe checks the code of a program's error.
func mustBe(t *testing.T, err error, code string) {
	t.Helper()
	var e *program.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("error is %v, want code %s", err, code)
	}
}

func TestSessionsOfOneAccountAndPolicyShareAProcess(t *testing.T) {
	w := newWorld(t)
	first := w.open(t, chrome.ReadOnly)
	pid := chromePID(t, w.runDir)
	second := w.open(t, chrome.ReadOnly)
	if got := browsers(w.runDir); len(got) != 1 {
		t.Errorf("processes for one policy: %v", got)
	}
	other := w.open(t, chrome.Interactive)
	if got := browsers(w.runDir); len(got) != 2 {
		t.Errorf("processes for two policies: %v", got)
	}
	for _, b := range []*chrome.Browser{first, other} {
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := browsers(w.runDir); len(got) != 1 || got[0] != pid {
		t.Errorf("left with one session: %v, want only %d", got, pid)
	}
	run(t, second, program.NewTab, settle())
	if err := second.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := processes(w.runDir); len(got) != 0 {
		t.Errorf("left after the last session: %v", got)
	}
	if err := second.Close(t.Context()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	_, err := second.Run(t.Context(), program.Program{Tab: program.NewTab, DeadlineMS: 1000})
	mustBe(t, err, "session_ended")
	if second.Err() != nil {
		t.Errorf("a session that was closed tells %v", second.Err())
	}
}

func TestADeadChromeEndsItsSessions(t *testing.T) {
	w := newWorld(t)
	b := w.open(t, chrome.ReadOnly)
	tab := run(t, b, program.NewTab, settle()).Tab
	failed := waits(b, tab)
	if err := syscall.Kill(chromePID(t, w.runDir), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-b.Done():
	case <-time.After(patience):
		t.Fatal("the session does not notice")
	}
	if b.Err() == nil {
		t.Error("no reason is told")
	}
	mustBe(t, <-failed, "session_ended")
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
	run(t, w.open(t, chrome.ReadOnly), program.NewTab, settle())
}

func TestADeadConfineProcessEndsChrome(t *testing.T) {
	for name, arrange := range map[string]func(*world){
		"in namespaces":      func(*world) {},
		"without namespaces": func(w *world) { w.WithoutNamespaces() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			arrange(w)
			b := w.open(t, chrome.ReadOnly)
			if err := syscall.Kill(parent(t, chromePID(t, w.runDir)), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			select {
			case <-b.Done():
			case <-time.After(patience):
				t.Fatal("the session does not notice")
			}
			if err := w.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestServerForKilling is not a test of its own: it is the server that the next one kills.
func TestServerForKilling(t *testing.T) {
	dir := os.Getenv("CHAPERONE_TEST_RUN_DIR")
	if dir == "" {
		return
	}
	pool, err := chrome.NewPool(t.Context(), chrome.Options{RunDir: dir, Egress: &exits{}, PageScript: script})
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("CHAPERONE_TEST_FLAGS_ONLY") != "" {
		pool.WithoutNamespaces()
	}
	b, err := pool.Open(t.Context(), chrome.OpenOptions{Account: "me", Session: "s_1", Policy: chrome.ReadOnly})
	if err != nil {
		t.Fatal(err)
	}
	run(t, b, program.NewTab, settle())
	_, _ = fmt.Fprintln(os.Stderr, "up")
	<-b.Done()
}

// startForKilling runs one of the tests that are servers, in another process, and returns once it is up.
func startForKilling(t *testing.T, test string, env ...string) *exec.Cmd {
	t.Helper()
	server := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$")
	server.Env = append(os.Environ(), env...)
	said, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(said).ReadString('\n'); line != "up\n" {
		t.Fatalf("server says %q, %v", line, err)
	}
	return server
}

func TestAKilledServerLeavesNothing(t *testing.T) {
	for name, env := range map[string]string{
		"in namespaces": "CHAPERONE_TEST_FLAGS_ONLY=", "without namespaces": "CHAPERONE_TEST_FLAGS_ONLY=1",
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{exits: &exits{}, runDir: shortDir(t)}
			server := startForKilling(t, "TestServerForKilling", "CHAPERONE_TEST_RUN_DIR="+w.runDir, env)
			if len(browsers(w.runDir)) != 1 {
				t.Fatal("no Chrome runs")
			}
			if err := server.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = server.Wait()
			within(t, time.Second, "Chrome dies with its server", func() bool { return len(processes(w.runDir)) == 0 })
			if left, _ := filepath.Glob(filepath.Join(w.runDir, "c-*")); len(left) != 1 {
				t.Fatalf("folders after the kill: %v", left)
			}
			pool, err := chrome.NewPool(t.Context(), chrome.Options{RunDir: w.runDir, Egress: w.exits, PageScript: script})
			if err != nil {
				t.Fatal(err)
			}
			if left, _ := filepath.Glob(filepath.Join(w.runDir, "c-*")); len(left) != 0 {
				t.Errorf("folders after the next start: %v", left)
			}
			if err := pool.Close(t.Context()); err != nil {
				t.Error(err)
			}
			mustLeaveNothing(t, w.runDir)
		})
	}
}

func TestOpeningSaysWhyNot(t *testing.T) {
	w := newWorld(t)
	for name, o := range map[string]chrome.OpenOptions{
		"no account":           {Session: "s_1", Policy: chrome.ReadOnly},
		"no session":           {Account: "me", Policy: chrome.ReadOnly},
		"an unknown policy":    {Account: "me", Session: "s_1", Policy: "all"},
		"a viewport too large": {Account: "me", Session: "s_1", Policy: chrome.ReadOnly, Width: 8193},
		"a negative viewport":  {Account: "me", Session: "s_1", Policy: chrome.ReadOnly, Height: -1},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := w.Open(t.Context(), o); !fault.Is(err, fault.BadRequest) {
				t.Errorf("error is %v", err)
			}
		})
	}
	w.WithoutBrowser()
	_, err := w.Open(t.Context(), chrome.OpenOptions{Account: "me", Session: "s_1", Policy: chrome.ReadOnly})
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("without a browser the error is %v", err)
	}
}

func TestAFailingEgressLeavesNothing(t *testing.T) {
	w := newWorld(t)
	w.exits.broken = true
	_, err := w.Open(t.Context(), chrome.OpenOptions{Account: "me", Session: "s_1", Policy: chrome.ReadOnly})
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("error is %v", err)
	}
	if left := processes(w.runDir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestARunFolderHasOnePool(t *testing.T) {
	w := newWorld(t)
	if _, err := chrome.NewPool(t.Context(), w.options()); err == nil {
		t.Error("a second pool got the same folder")
	}
}

func TestWhoGivesUpOpeningLeavesNoContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.open(t, chrome.ReadOnly)
	for i := range 40 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%8)*time.Millisecond)
		if other, err := w.Open(ctx, chrome.OpenOptions{Account: "me", Session: "s_2", Policy: chrome.ReadOnly}); err == nil {
			closeAll(t, other)
		}
		cancel()
	}
	within(t, patience, "its own context is all that is left", func() bool {
		n, err := chrome.Contexts(t.Context(), b)
		return err == nil && n == 1
	})
	run(t, b, program.NewTab, settle())
	if w.exits.open != 1 {
		t.Errorf("%d ways out are open for one session", w.exits.open)
	}
}
