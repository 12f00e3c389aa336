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
	"strings"
	"syscall"
	"testing"

	"github.com/mattn/go-sqlite3"

	"chaperone/server/ledger"
	"chaperone/server/store"
)

// beginThenHang names the data folder in which a child process begins an action that it never finishes.
const beginThenHang = "CHAPERONE_TEST_BEGIN_THEN_HANG"

func beginAndHang(dir string) {
	ctx := context.Background()
	s, err := store.Open(ctx, dir)
	if err != nil {
		panic(err)
	}
	me, err := s.EnsureAccount(ctx, store.Account{Name: "me"})
	if err != nil {
		panic(err)
	}
	if _, err := ledger.New(s, nil).Begin(ctx, click(me.ID)); err != nil {
		panic(err)
	}
	_, _ = fmt.Fprintln(os.Stdout, "begun")
	select {}
}

func TestAKilledProcessLeavesALostRow(t *testing.T) {
	w := newWorld(t)
	w.act(t, w.me)
	w.close(t, w.store)
	beginAndDie(t, w.dir)

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

// beginAndDie runs a process that begins an action, and kills it once the action is in the journal.
func beginAndDie(t *testing.T, dir string) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), beginThenHang+"="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err := errors.Join(err, child.Start()); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err := errors.Join(err, child.Process.Kill()); err != nil || line != "begun\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	_ = child.Wait() // it was killed
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
