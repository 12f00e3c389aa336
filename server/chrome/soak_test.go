package chrome_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"chaperone/relay/program"
	"chaperone/server/chrome"
)

// counts is how much a soak does: all of it with CHAPERONE_SOAK=full, little enough for every day otherwise.
func counts(full, daily int) int {
	if os.Getenv("CHAPERONE_SOAK") == "full" {
		return full
	}
	return daily
}

// TestBusyServerForKilling is not a test of its own: it is the server that the next one kills, at work without a pause.
func TestBusyServerForKilling(t *testing.T) {
	dir := os.Getenv("CHAPERONE_TEST_BUSY_DIR")
	if dir == "" {
		return
	}
	pool, err := chrome.NewPool(t.Context(), chrome.Options{RunDir: dir, Egress: &exits{}, PageScript: script})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprintln(os.Stderr, "up")
	var group sync.WaitGroup
	for i, policy := range []chrome.Policy{chrome.ReadOnly, chrome.Interactive} {
		group.Go(func() {
			for n := 0; ; n++ {
				b, err := pool.Open(t.Context(), chrome.OpenOptions{Account: fmt.Sprint("account", n%3), Session: fmt.Sprint("s_", i, n), Policy: policy})
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = b.Run(t.Context(), program.Program{Tab: program.NewTab, DeadlineMS: 5000, Steps: []program.Step{{Run: "@state"}}})
				_ = b.Close(t.Context())
			}
		})
	}
	group.Wait()
}

// TestSoakAServerThatIsKilledAnywhereLeavesNothing kills a server that opens and closes sessions, after a time that
// nobody chose.
func TestSoakAServerThatIsKilledAnywhereLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	for range counts(50, 3) {
		after := time.Duration(rand.Int64N(int64(2500 * time.Millisecond)))
		server := startForKilling(t, "TestBusyServerForKilling", "CHAPERONE_TEST_BUSY_DIR="+dir)
		<-time.After(after) // the moment is the test's subject
		if err := server.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = server.Wait()
		within(t, patience, fmt.Sprintf("killed after %v, its Chromes die with it", after), func() bool { return len(processes(dir)) == 0 })
		pool, err := chrome.NewPool(t.Context(), chrome.Options{RunDir: dir, Egress: &exits{}, PageScript: script})
		if err != nil {
			t.Fatal(err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "c-*")); len(left) != 0 {
			t.Errorf("killed after %v, the next start leaves %v", after, left)
		}
		if err := pool.Close(t.Context()); err != nil {
			t.Error(err)
		}
		mustLeaveNothing(t, dir)
	}
}

// TestSoakSessionsLeaveNothing opens, uses and closes sessions in one Chrome, and wants everything to be as it was.
func TestSoakSessionsLeaveNothing(t *testing.T) {
	s := newSite(t, map[string]string{"/": `<title>Hello</title><script>const kept = new Array(1e6).fill(1)</script>`})
	w := newWorldKeeping(t, long, s)
	use := func(times int) {
		for i := range times {
			b, err := w.Open(t.Context(), chrome.OpenOptions{Account: "me", Session: fmt.Sprint("s_", i), Policy: chrome.Interactive})
			if err != nil {
				t.Fatal(err)
			}
			run(t, b, program.NewTab, navigate(s.URL+"/"))
			closeAll(t, b)
		}
		within(t, 4*patience, "the next session is ready", func() bool { return w.IsReady("me", chrome.Interactive) })
	}
	total := counts(500, 20)
	use(max(total/10, 10)) // what is made once is made by now
	within(t, 4*patience, "a process is spare", w.HasSpare)
	before := w.levels(t)
	use(total)
	// A Chrome starts helpers of its own, and a renderer in store, when it likes; a session that left one would leave as many
	// as there were sessions.
	const helpers = 4
	within(t, 2*patience, "the processes of the last session's pages end", func() bool { return len(tree(t, w.runDir)) <= before.processes+helpers })
	after := w.levels(t)
	t.Logf("before %+v, after %+v", before, after)
	if after.files > before.files+4 {
		t.Errorf("the server had %d files open and has %d", before.files, after.files)
	}
	if after.mb > before.mb*1.3+50 {
		t.Errorf("the Chromes held %.0f MB and hold %.0f", before.mb, after.mb)
	}
}

// levels is what must be flat.
type levels struct {
	files, processes int
	mb               float64
}

func (w *world) levels(t *testing.T) levels {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	all := tree(t, w.runDir)
	return levels{files: len(files), processes: len(all), mb: proportional(t, all)}
}
