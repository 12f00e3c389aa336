package chrome_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"chaperone/relay/program"
	"chaperone/server/chrome"
)

const (
	openings = 15
	// warmBudget is how long it may take until the first program has run in a session that was ready.
	warmBudget = 50 * time.Millisecond
	// coldBudget is how many times longer a session that was not ready may take than the same calls to Chrome alone.
	coldBudget = 1.3
	// Ten sessions may cost so much of ten Chromes, and of ten full ones.
	sameBudget, fullBudget = 0.4, 0.2
)

// BenchmarkOpening times a session from its opening until a program has run in its first tab: one that was ready, one in a
// Chrome that runs, and the calls to Chrome alone that the latter cannot do without.
func BenchmarkOpening(b *testing.B) {
	ready, running := newBenchWorld(b, long), newBenchWorld(b, -1)
	ready.openIn(b)
	keeper := running.openIn(b)
	isReady := func() bool { return ready.IsReady("me", chrome.ReadOnly) }
	for b.Loop() {
		var warm, cold, bare [openings]time.Duration
		for i := range openings {
			within(b, 4*patience, "a session is ready", isReady)
			warm[i] = ready.usable(b)
			within(b, 4*patience, "the next one is, and makes no work for the others", isReady)
			cold[i] = running.usable(b)
			bare[i] = timed(func() {
				if err := chrome.OpenBare(b.Context(), keeper, script); err != nil {
					b.Fatal(err)
				}
			})
		}
		w, c, raw := median(warm[:]), median(cold[:]), median(bare[:])
		b.ReportMetric(ms(w), "ms/ready")
		b.ReportMetric(ms(c), "ms/not-ready")
		b.ReportMetric(ms(raw), "ms/bare-calls")
		b.ReportMetric(float64(c)/float64(raw), "ratio")
		if w > warmBudget {
			b.Errorf("a session that was ready took %v, at most %v", w, warmBudget)
		}
		if got := float64(c) / float64(raw); got > coldBudget {
			b.Errorf("a session took %.2f times the calls to Chrome, at most %.1f", got, coldBudget)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkMemory compares the memory of ten sessions, each with a page, with that of ten Chromes.
func BenchmarkMemory(b *testing.B) {
	const sessions = 10
	full := chrome.Binary{Path: "/usr/lib/chromium/chromium", Kind: chrome.FullBrowser}
	for b.Loop() {
		together := newBenchWorld(b, -1).cost(b, sessions, func(int) string { return "me" })
		apart := newBenchWorld(b, -1).cost(b, sessions, account)
		world := newBenchWorld(b, -1)
		world.WithBinary(full)
		fullApart := world.cost(b, sessions, account)
		b.ReportMetric(together, "MB/ten-sessions")
		b.ReportMetric(apart, "MB/ten-processes")
		b.ReportMetric(fullApart, "MB/ten-full-chromiums")
		b.ReportMetric(together/apart, "of-ten-processes")
		b.ReportMetric(together/fullApart, "of-ten-full")
		if together > sameBudget*apart || together > fullBudget*fullApart {
			b.Errorf("ten sessions cost %.2f of ten processes and %.2f of ten full Chromiums, at most %.1f and %.1f",
				together/apart, together/fullApart, sameBudget, fullBudget)
		}
	}
	b.ReportMetric(0, "ns/op")
}

func account(i int) string { return fmt.Sprint("account", i) }

func newBenchWorld(b *testing.B, warm time.Duration) *world {
	b.Helper()
	return newWorldKeeping(b, warm)
}

func (w *world) openIn(tb testing.TB) *chrome.Browser {
	tb.Helper()
	opened, err := w.Open(tb.Context(), chrome.OpenOptions{Account: "me", Session: "s_1", Policy: chrome.ReadOnly})
	if err != nil {
		tb.Fatal(err)
	}
	return opened
}

// usable opens a session, uses it, closes it, and answers how long it took until it had been used.
func (w *world) usable(b *testing.B) time.Duration {
	b.Helper()
	var opened *chrome.Browser
	took := timed(func() {
		opened = w.openIn(b)
		result, err := opened.Run(b.Context(), program.Program{Tab: program.NewTab, DeadlineMS: 20_000, Steps: []program.Step{{Run: "@state"}}})
		if err != nil || result.Error != nil {
			b.Fatal(err, result.Error)
		}
	})
	if err := opened.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	return took
}

// cost opens sessions with a page each, and answers what the machine gives for them, in megabytes of their own.
func (w *world) cost(b *testing.B, sessions int, account func(int) string) float64 {
	b.Helper()
	for i := range sessions {
		opened, err := w.Open(b.Context(), chrome.OpenOptions{Account: account(i), Session: "s_" + strconv.Itoa(i), Policy: chrome.ReadOnly})
		if err != nil {
			b.Fatal(err)
		}
		result, err := opened.Run(b.Context(), program.Program{Tab: program.NewTab, DeadlineMS: 60_000, Steps: []program.Step{{Run: "@state"}}})
		if err != nil || result.Error != nil {
			b.Fatal(err, result.Error)
		}
	}
	mb := proportional(b, tree(b, w.runDir))
	if err := w.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	return mb
}

// tree lists the processes that were started for a folder, helpers and confine processes included.
func tree(tb testing.TB, dir string) []int {
	tb.Helper()
	children := map[int][]int{}
	entries, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range entries {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if up, err := parentOf(pid); err == nil {
			children[up] = append(children[up], pid)
		}
	}
	var all []int
	for _, browser := range browsers(dir) {
		warden, err := parentOf(browser)
		if err != nil {
			tb.Fatal(err)
		}
		next := []int{warden}
		for len(next) > 0 {
			pid := next[0]
			all, next = append(all, pid), append(next[1:], children[pid]...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// proportional sums the memory of processes, what they share counted in parts, in megabytes.
func proportional(tb testing.TB, pids []int) float64 {
	tb.Helper()
	kb := 0
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue // it has just ended
		}
		for line := range strings.Lines(string(text)) {
			var n int
			if _, err := fmt.Sscanf(line, "Pss: %d kB", &n); err == nil {
				kb += n
			}
		}
	}
	if kb == 0 {
		tb.Fatal("no memory is told")
	}
	return float64(kb) / 1024
}

func timed(do func()) time.Duration {
	start := time.Now()
	do()
	return time.Since(start)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
