package chrome

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
)

// ConfineCommand is the name of the hidden subcommand that runs ConfineMain.
const ConfineCommand = "confine"

// Words after ConfineCommand: which namespaces the process was started in, and whether it is only a try.
const (
	inNetwork   = "network"
	inProcesses = "processes"
	onlyProbe   = "probe"
)

// lockFD is where the lock of a profile is, if there is one: held here, and not by Chrome, since some of its processes
// may be slow to go.
const lockFD = 5

// ConfineMain is the body of the hidden subcommand: args are those after its name. It returns the exit
// code, and in namespaces of its own its end is the end of every process in them.
func ConfineMain(args []string) int {
	// Capabilities belong to a thread: the one that gives them up must be the one that starts Chrome.
	runtime.LockOSThread()
	if err := settle(args); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if slices.Contains(args, onlyProbe) {
		return 0
	}
	syscall.CloseOnExec(lockFD)
	k := &keeper{out: json.NewEncoder(os.Stdout), forwarders: map[int]*forwarder{}}
	err := k.serve(context.Background(), os.Stdin)
	if !slices.Contains(args, inProcesses) {
		_ = syscall.Kill(0, syscall.SIGKILL) // our whole group: Chrome's processes and this one
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// settle makes the fresh namespaces fit to live in and gives up what only that needed.
func settle(args []string) error {
	if slices.Contains(args, inNetwork) {
		if err := raiseLoopback(); err != nil {
			return fmt.Errorf("raise loopback: %w", err)
		}
	}
	if slices.Contains(args, inProcesses) {
		if err := mountProc(); err != nil {
			return fmt.Errorf("mount proc: %w", err)
		}
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// keeper is the confine process at work: it keeps one Chrome and the forwarders around it.
type keeper struct {
	outMu sync.Mutex
	out   *json.Encoder

	forwarders map[int]*forwarder
}

// serve obeys orders until the leash ends: the server closed it or died.
func (k *keeper) serve(ctx context.Context, leash io.Reader) error {
	lines := bufio.NewScanner(leash)
	for lines.Scan() {
		o, err := decodeOrder(lines.Bytes())
		if err != nil {
			return fmt.Errorf("decode order: %w", err)
		}
		if err := k.report(k.obey(ctx, o)); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read orders: %w", err)
	}
	return nil
}

func (k *keeper) obey(ctx context.Context, o order) report {
	answer := report{ID: o.ID}
	var err error
	switch {
	case o.Start != nil:
		err = k.start(*o.Start)
	case o.Forward != "":
		answer.Port, err = k.forward(ctx, o.Forward)
	case o.Close != 0:
		k.closeForwarder(o.Close)
	default:
		err = errors.New("unknown order")
	}
	if err != nil {
		answer.Error = err.Error()
	}
	return answer
}

func (k *keeper) report(r report) error {
	k.outMu.Lock()
	defer k.outMu.Unlock()
	if err := k.out.Encode(r); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func (k *keeper) forward(ctx context.Context, socket string) (int, error) {
	f, err := newForwarder(ctx, socket)
	if err != nil {
		return 0, err
	}
	k.forwarders[f.port()] = f
	return f.port(), nil
}

func (k *keeper) closeForwarder(port int) {
	if f, ok := k.forwarders[port]; ok {
		delete(k.forwarders, port)
		f.close()
	}
}

// start runs Chrome on the protocol pipes, which this process then lets go of, and watches for its end.
func (k *keeper) start(s startOrder) error {
	fromServer, toServer := os.NewFile(3, "commands"), os.NewFile(4, "events")
	defer func() { _ = fromServer.Close(); _ = toServer.Close() }()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return fmt.Errorf("open null device: %w", err)
	}
	defer func() { _ = null.Close() }()
	child, err := syscall.ForkExec(s.Path, append([]string{s.Path}, s.Args...), &syscall.ProcAttr{ // #nosec G204 -- the server's own order
		Dir: s.Dir, Env: s.Env,
		Files: []uintptr{null.Fd(), os.Stderr.Fd(), os.Stderr.Fd(), fromServer.Fd(), toServer.Fd()},
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", s.Path, err)
	}
	go k.reap(child)
	return nil
}

// reap takes in every child, also the orphans that the first process of a namespace inherits, until Chrome
// itself has ended. The process ends soon after, so nobody waits for this goroutine.
func (k *keeper) reap(chrome int) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid == chrome {
			_ = k.report(report{Ended: describeEnd(status)}) // a server that is gone shows on the leash
			return
		}
	}
}

func describeEnd(status syscall.WaitStatus) string {
	if status.Signaled() {
		return "ended by signal " + status.Signal().String()
	}
	return fmt.Sprintf("exited with code %d", status.ExitStatus())
}
