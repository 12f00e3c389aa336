package chrome

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
)

// warden is the server's end of one confine process and the Chrome in it.
type warden struct {
	cmd     *exec.Cmd
	words   []string
	leash   io.WriteCloser
	stderr  *tail
	toChild *os.File // Chrome's commands, written by us
	fromIt  *os.File // Chrome's replies and events

	mu      sync.Mutex
	nextID  int
	waiting map[int]chan report // each of capacity one
	ended   chan struct{}       // closed when Chrome or the confine process has ended
	reason  string              // set before ended is closed

	reading sync.WaitGroup
}

var errWardenEnded = errors.New("confine process ended")

// startWarden starts a confine process in the namespaces that words name; no Chrome yet. stop must be called. The confine
// process holds lock, where there is one, as long as it lives, even when the server does not.
func startWarden(ctx context.Context, words []string, lock *os.File) (*warden, error) {
	cmd, err := confineCommand(context.WithoutCancel(ctx), words)
	if err != nil {
		return nil, err
	}
	w := &warden{cmd: cmd, words: words, stderr: &tail{}, waiting: map[int]chan report{}, ended: make(chan struct{})}
	cmd.Stderr = w.stderr
	leash, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make leash: %w", err)
	}
	w.leash = leash
	reports, reportsChild, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make report pipe: %w", err)
	}
	cmd.Stdout = reportsChild
	child, err := w.protocolPipes()
	if err == nil {
		cmd.ExtraFiles = child
		if lock != nil {
			cmd.ExtraFiles = append(slices.Clip(child), lock)
		}
		err = cmd.Start()
	}
	closeAll(append(child, reportsChild))
	if err != nil {
		closeAll([]*os.File{reports, w.toChild, w.fromIt})
		return nil, fmt.Errorf("start confine process: %w", err)
	}
	w.reading.Go(func() { w.read(reports) })
	return w, nil
}

// protocolPipes makes the two pipes and returns the child's ends, in Chrome's order: commands, replies.
func (w *warden) protocolPipes() ([]*os.File, error) {
	commandsOut, commandsIn, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make command pipe: %w", err)
	}
	repliesOut, repliesIn, err := os.Pipe()
	if err != nil {
		closeAll([]*os.File{commandsOut, commandsIn})
		return nil, fmt.Errorf("make reply pipe: %w", err)
	}
	w.toChild, w.fromIt = commandsIn, repliesOut
	return []*os.File{commandsOut, repliesIn}, nil
}

func closeAll(files []*os.File) {
	for _, file := range files {
		if file != nil {
			_ = file.Close()
		}
	}
}

// read takes reports until the confine process ends.
func (w *warden) read(from *os.File) {
	defer func() { _ = from.Close() }()
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		var r report
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			break
		}
		w.deliver(r)
	}
	w.end("its confine process ended")
}

func (w *warden) deliver(r report) {
	if r.ID == 0 {
		w.end(r.Ended)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if reply, ok := w.waiting[r.ID]; ok {
		delete(w.waiting, r.ID)
		reply <- r
	}
}

func (w *warden) end(reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.ended:
	default:
		w.reason = reason
		close(w.ended)
	}
}

// ask gives one order and waits for its report.
func (w *warden) ask(ctx context.Context, o order) (report, error) {
	reply := make(chan report, 1)
	id, err := w.send(o, reply)
	if err != nil {
		return report{}, err
	}
	defer w.forget(id)
	select {
	case r := <-reply:
		if r.Error != "" {
			return report{}, errors.New(r.Error)
		}
		return r, nil
	case <-w.ended:
		return report{}, fmt.Errorf("%w: %s", errWardenEnded, w.stderr)
	case <-ctx.Done():
		return report{}, ctx.Err()
	}
}

// send writes under the lock, so that lines stay whole; the pipe holds far more than the orders under way.
func (w *warden) send(o order, reply chan report) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nextID++
	o.ID = w.nextID
	line, err := json.Marshal(o)
	if err != nil {
		return 0, fmt.Errorf("encode order: %w", err)
	}
	w.waiting[o.ID] = reply
	if _, err := w.leash.Write(append(line, '\n')); err != nil {
		delete(w.waiting, o.ID)
		return 0, fmt.Errorf("give order: %w", err)
	}
	return o.ID, nil
}

func (w *warden) forget(id int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.waiting, id)
}

func (w *warden) pid() int { return w.cmd.Process.Pid }

// stop ends the confine process and everything beneath it, and returns when all of it is gone.
func (w *warden) stop(ctx context.Context) error {
	closeAll([]*os.File{w.toChild, w.fromIt})
	_ = w.leash.Close()
	_ = syscall.Kill(-w.pid(), syscall.SIGKILL) // it leads a group that Chrome is in
	_ = w.cmd.Wait()                            // how it died does not matter
	w.reading.Wait()
	if slices.Contains(w.words, inProcesses) {
		return nil // the first process of a namespace is not gone before all others are
	}
	return killGroup(ctx, w.pid())
}

// tail keeps the last of what a process says on its standard error, for the operator's log.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 2048

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - tailBytes; over > 0 {
		t.text = slices.Delete(t.text, 0, over)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
