//go:build unix

package ledger_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mattn/go-sqlite3"

	"chaperone/server/ledger"
	"chaperone/server/store"
)

// What the tests tell the process that they will kill.
const (
	victimDir  = "CHAPERONE_TEST_VICTIM_DIR"
	victimTask = "CHAPERONE_TEST_VICTIM_TASK"

	beginOnce  = "begin once"
	actForever = "act forever"
)

// beVictim works on the ledger in dir until it is killed, and prints a line after each step.
func beVictim(dir, task string) {
	ctx := context.Background()
	s, err := store.Open(ctx, dir)
	must(err)
	me, err := s.EnsureAccount(ctx, store.Account{Name: "me"})
	must(err)
	l := ledger.New(s, nil)
	for {
		pending, err := l.Begin(ctx, click(me.ID))
		must(err)
		if task == beginOnce {
			_, _ = fmt.Fprintln(os.Stdout, "begun")
			select {}
		}
		row, err := l.Finish(ctx, pending, ledger.Outcome{Outcome: ledger.Done})
		must(err)
		_, _ = fmt.Fprintln(os.Stdout, row.Seq)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// kill runs a victim, kills it after so many lines, and returns the last that it had printed by then.
func kill(t *testing.T, dir, task string, lines int) string {
	t.Helper()
	victim := exec.CommandContext(t.Context(), os.Args[0])
	victim.Env = append(os.Environ(), victimDir+"="+dir, victimTask+"="+task)
	victim.Stderr = os.Stderr
	out, err := victim.StdoutPipe()
	if err := errors.Join(err, victim.Start()); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	last := ""
	for range lines {
		if !said.Scan() {
			t.Errorf("the victim ended after %q", last)
			break
		}
		last = said.Text()
	}
	if err := victim.Process.Kill(); err != nil {
		t.Error(err)
	}
	for said.Scan() {
		last = said.Text()
	}
	_ = victim.Wait() // it was killed
	return last
}

func TestAKilledProcessLeavesALostRow(t *testing.T) {
	w := newWorld(t)
	w.act(t, w.me)
	w.close(t, w.store)
	kill(t, w.dir, beginOnce, 1)

	w.open(t)
	w.mustHold(t, w.me, 1)
	if n, err := w.ledger.Recover(t.Context()); n != 1 || err != nil {
		t.Fatalf("recover answers %d, %v", n, err)
	}
	lost := w.rows(t, w.me)[0]
	if lost.Outcome != ledger.Lost || lost.Method != "click" || lost.RequestDigest == "" || lost.ResponseDigest != "" ||
		!strings.Contains(lost.Detail, `"begun":"20`) {
		t.Errorf("the lost row is %+v", lost)
	}
	w.mustHold(t, w.me, 2)
	if n, err := w.ledger.Recover(t.Context()); n != 0 || err != nil {
		t.Errorf("a second recover answers %d, %v", n, err)
	}
}

func TestWhatWasAnsweredIsThereWheneverTheProcessIsKilled(t *testing.T) {
	w := newWorld(t)
	w.close(t, w.store)
	for lines := range 8 {
		answered := kill(t, w.dir, actForever, lines)
		w.open(t)
		if _, err := w.ledger.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		report, err := w.ledger.Verify(t.Context(), w.me)
		if seq, _ := strconv.ParseInt(answered, 10, 64); err != nil || report.Bad != nil || report.Rows < seq {
			t.Errorf("row %s was answered; verify says %+v (bad: %+v), %v", answered, report, report.Bad, err)
		}
		w.close(t, w.store)
	}
}

// A file size limit of nothing is a disk that takes no byte more.
func TestWhatCannotBeJournalledDoesNotRun(t *testing.T) {
	w := newWorld(t)
	w.act(t, w.me)
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 0, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	ran := false
	err := w.ledger.Around(t.Context(), click(w.me), func(context.Context) error {
		ran = true
		return nil
	})
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	var full sqlite3.Error
	if !errors.As(err, &full) || ran {
		t.Errorf("around answers %v, ran: %v", err, ran)
	}
	w.act(t, w.me)
	w.mustHold(t, w.me, 2)
}

func TestAJournalThatTakesNothingRefusesToBegin(t *testing.T) {
	w := newWorld(t)
	w.act(t, w.me)
	change(t, w.dir, []string{`CREATE TRIGGER sealed BEFORE INSERT ON ledger_journal BEGIN SELECT RAISE(ABORT, 'sealed'); END`})
	if _, err := w.ledger.Begin(t.Context(), click(w.me)); err == nil || !strings.Contains(err.Error(), "sealed") {
		t.Errorf("begin answers %v", err)
	}
}
