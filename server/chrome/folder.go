package chrome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	folderPrefix = "c-"
	// maxRunDir leaves room for "/c-4294967295/999999.sock" within the 103 bytes that every system's socket
	// addresses hold.
	maxRunDir = 77
	// killWait bounds the wait for killed processes to be gone; the kernel needs milliseconds.
	killWait = 5 * time.Second
	// killPoll is how often that is looked at.
	killPoll = 5 * time.Millisecond
)

// runFolder is the pool's folder, locked so that no second pool sweeps what this one uses.
type runFolder struct {
	path string
	lock *os.File
}

func openRunFolder(path string) (*runFolder, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("resolve run folder: %w", err)
	}
	if len(path) > maxRunDir {
		return nil, fmt.Errorf("open run folder: path is longer than %d bytes, too long for sockets in it", maxRunDir)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make run folder: %w", err)
	}
	if err := os.Chmod(path, 0o700); err != nil { // #nosec G302 -- a folder needs its x
		return nil, fmt.Errorf("protect run folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600) // #nosec G304 -- the operator's folder
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil { // #nosec G115 -- a descriptor
		_ = lock.Close()
		return nil, fmt.Errorf("lock run folder: in use by another server: %w", err)
	}
	return &runFolder{path: path, lock: lock}, nil
}

func (f *runFolder) close() error {
	if err := errors.Join(os.Remove(f.lock.Name()), f.lock.Close()); err != nil {
		return fmt.Errorf("unlock run folder: %w", err)
	}
	return nil
}

// sweep ends the processes that an earlier server's folders record and removes the folders.
func (f *runFolder) sweep(ctx context.Context) error {
	left, err := filepath.Glob(filepath.Join(f.path, folderPrefix+"*"))
	if err != nil {
		return fmt.Errorf("list run folder: %w", err)
	}
	for _, path := range left {
		folder := processFolder{path: path}
		if err := folder.endOwner(ctx); err != nil {
			return err
		}
		if err := folder.remove(ctx); err != nil {
			return err
		}
	}
	return nil
}

// processFolder is one Chrome process's folder: profile, temporary files, sockets of its sessions, and
// the record of who is to be killed should the server not live to do it.
type processFolder struct{ path string }

func (f *runFolder) newProcessFolder() (processFolder, error) {
	path, err := os.MkdirTemp(f.path, folderPrefix)
	if err != nil {
		return processFolder{}, fmt.Errorf("make process folder: %w", err)
	}
	folder := processFolder{path: path}
	for _, sub := range []string{folder.profile(), folder.tmp()} {
		if err := os.Mkdir(sub, 0o700); err != nil {
			return processFolder{}, fmt.Errorf("make process folder: %w", err)
		}
	}
	return folder, nil
}

func (f processFolder) profile() string { return filepath.Join(f.path, "profile") }
func (f processFolder) tmp() string     { return filepath.Join(f.path, "tmp") }

// tmpInside is how Chrome, which runs in the folder, names tmp where it can: a full one makes a socket well beneath it,
// and does not start when the whole path is too long for that.
func (f processFolder) tmpInside() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/cwd/" + filepath.Base(f.tmp())
	}
	return f.tmp()
}

func (f processFolder) owner() string { return filepath.Join(f.path, "owner.json") }

func (f processFolder) socket(number int) string {
	return filepath.Join(f.path, fmt.Sprintf("%d.sock", number))
}

// owner identifies a confine process; Started tells it from a later process with the same number.
type owner struct {
	PID     int    `json:"pid"`
	Started string `json:"started"`
}

func (f processFolder) record(pid int) error {
	text, err := json.Marshal(owner{PID: pid, Started: processStarted(pid)})
	if err != nil {
		return fmt.Errorf("encode owner: %w", err)
	}
	if err := os.WriteFile(f.owner(), text, 0o600); err != nil {
		return fmt.Errorf("record owner: %w", err)
	}
	return nil
}

// endOwner kills the recorded confine process with its group, if it is still the same one, and waits
// until it is gone. A folder without a readable record has no process: it is written before Chrome starts.
func (f processFolder) endOwner(ctx context.Context) error {
	o := f.readOwner()
	if o.PID <= 1 || o.Started == "" || processStarted(o.PID) != o.Started {
		return nil
	}
	return killGroup(ctx, o.PID)
}

// readOwner returns the zero owner where there is no readable record.
func (f processFolder) readOwner() owner {
	var o owner
	text, err := os.ReadFile(f.owner())
	if err != nil || json.Unmarshal(text, &o) != nil {
		return owner{}
	}
	return o
}

// remove deletes the folder. A process that is just dying may write once more, so it tries again for a while.
func (f processFolder) remove(ctx context.Context) error {
	var err error
	waited := await(ctx, func() bool {
		err = os.RemoveAll(f.path)
		return err == nil
	})
	if waited != nil {
		return fmt.Errorf("remove process folder: %w", err)
	}
	return nil
}

// killGroup kills a process group and waits until none of it is left.
func killGroup(ctx context.Context, leader int) error {
	err := await(ctx, func() bool {
		return errors.Is(syscall.Kill(-leader, syscall.SIGKILL), syscall.ESRCH)
	})
	if err != nil {
		return fmt.Errorf("end process group %d: %w", leader, err)
	}
	return nil
}

// await polls until holds answers true, at most killWait.
func await(ctx context.Context, holds func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, killWait)
	defer cancel()
	tick := time.NewTicker(killPoll)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// processStarted is the kernel's start time of a process in ticks since boot; empty where there is no such
// process or no such file system. A zombie does not count: it holds nothing any more.
func processStarted(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name in brackets may hold anything; what follows the last bracket is numbers.
	_, after, ok := cutLast(string(text), ") ")
	fields := strings.Fields(after)
	if !ok || len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return fields[19]
}

func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}
