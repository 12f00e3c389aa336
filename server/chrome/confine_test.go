package chrome_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"chaperone/server/chrome"
)

func TestChromeLivesInNamespacesOfItsOwn(t *testing.T) {
	w := newWorld(t)
	w.open(t, chrome.ReadOnly)
	pid := chromePID(t, w.runDir)
	for _, space := range []string{"net", "pid", "mnt"} {
		ours, err := os.Readlink("/proc/self/ns/" + space)
		if err != nil {
			t.Fatal(err)
		}
		if its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, space)); err != nil || its == ours {
			t.Errorf("%s namespace is %q, %v; ours is %q", space, its, err, ours)
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"CapPrm", "CapEff", "CapAmb"} {
		if !strings.Contains(string(status), set+":\t0000000000000000\n") {
			t.Errorf("Chrome has capabilities: %s is not empty", set)
		}
	}
}

// TestAsAnOrdinaryUser runs other tests of this package once more as a user who may do nothing: there Chrome's own
// sandbox is on, and the namespaces need one of users.
func TestAsAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return // then every test here is run as an ordinary user already
	}
	const nobody = 65534
	home := shortDir(t)
	binary := filepath.Join(home, "chrome.test")
	copyFile(t, os.Args[0], binary)
	if err := os.Chown(home, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	again := exec.CommandContext(t.Context(), binary)
	again.Dir = home
	again.Env = []string{"TMPDIR=" + home, "HOME=" + home, "PATH=" + os.Getenv("PATH"), testChrome + "=" + os.Getenv(testChrome)}
	again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	mustPassAgain(t, again,
		"TestPagesLoadThroughTheWayOutOnly", "TestChromeIsStartedWithExactlyTheList",
		"TestNothingReachesTheMachineButByTheWayOut", "TestNothingPassesTheWayOutByFlagsAlone",
		"TestChromeLivesInNamespacesOfItsOwn", "TestAKilledServerLeavesNothing")
}

// TestWithAFullBrowser runs what differs between the headless shell and a full browser with the latter.
func TestWithAFullBrowser(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"chromium", "google-chrome", "chromium-browser", "microsoft-edge"} {
		full, err := chrome.Find(name)
		if err != nil {
			continue
		}
		again := exec.CommandContext(t.Context(), os.Args[0])
		again.Env = append(os.Environ(), testChrome+"="+full.Path)
		mustPassAgain(t, again,
			"TestPagesLoadThroughTheWayOutOnly", "TestChromeIsStartedWithExactlyTheList",
			"TestNothingReachesTheMachineButByTheWayOut", "TestNothingPassesTheWayOutByFlagsAlone", "TestNoPromptHoldsAPageUp", "TestReadOnlyLetsNothingBePosted", "TestAPopupBecomesTheSessions",
			"TestACastShowsTheNewest")
		return
	}
	t.Fatal("this machine has no full browser")
}

// mustPassAgain runs tests of this package in another process.
func mustPassAgain(t *testing.T, again *exec.Cmd, tests ...string) {
	t.Helper()
	again.Args = append(again.Args, "-test.v", "-test.run=^("+strings.Join(tests, "|")+")$")
	said, err := again.CombinedOutput()
	if passed := strings.Count("\n"+string(said), "\n--- PASS: "); err != nil || passed != len(tests) {
		t.Errorf("%d of %d passed: %v\n%s", passed, len(tests), err, said)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
