package chrome

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"chaperone/server/fault"
)

// profile is one project's persistent folder while a Chrome is on it:
//
//	lock       locked by whoever has a Chrome there (flock), also against other servers
//	tabs.json  the tabs that come back (memory.go)
//	chrome/    Chrome's user data folder
type profile struct {
	path string
	lock *os.File
}

// isFileName keeps an id from being a path.
func isFileName(id string) bool { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(id) }

func profilePath(root, account, id string) string { return filepath.Join(root, account, id) }

// holdProfile makes the folder where it is missing and locks it; release must be called. Errors are faults where a
// person can do something about it.
func holdProfile(root, account, id string) (*profile, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("make the profile root: %w", err)
	}
	path := profilePath(root, account, id)
	for _, folder := range []string{filepath.Dir(path), path} {
		if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("make a profile: %w", err)
		}
		if err := checkPrivate(folder); err != nil {
			return nil, err
		}
	}
	lock, err := lockProfile(path)
	if err != nil {
		return nil, err
	}
	return &profile{path: path, lock: lock}, nil
}

// checkPrivate refuses a folder that others may look into: sign-ins are in it.
func checkPrivate(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return fmt.Errorf("look at a profile: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return fault.New(fault.Unavailable, "the project's profile is not in a folder that only the server's user can enter",
			"On the server's machine, make the folders of the profile root the server's own again, with chmod -R go-rwx.")
	}
	return nil
}

func lockProfile(path string) (*os.File, error) {
	name := filepath.Join(path, "lock")
	lock, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600) // #nosec G304 -- in a folder of ours
	if err != nil {
		return nil, fmt.Errorf("open a profile's lock: %w", err)
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) // #nosec G115 -- a descriptor
	if err == nil && isStill(lock, name) {
		return lock, nil
	}
	return nil, errors.Join(fault.New(fault.Busy, "the project's profile is in use by another server",
		"End its session there, or stop that server, and try again."), lock.Close())
}

// isStill is false for a lock whose folder was removed while it was being opened.
func isStill(lock *os.File, name string) bool {
	held, err := lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(held, there)
}

// lockFile is nil where there is no profile.
func (p *profile) lockFile() *os.File {
	if p == nil {
		return nil
	}
	return p.lock
}

func (p *profile) release() error { return p.lock.Close() }

func (p *profile) userData() string { return filepath.Join(p.path, "chrome") }

// ready makes Chrome's folder fit for a start under a policy: what a killed Chrome locked is unlocked, since the lock that
// counts is ours, and a read-only one finds no service worker, which could pass forms on as requests of its own.
func (p *profile) ready(policy Policy) error {
	folder := p.userData()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make Chrome's folder: %w", err)
	}
	stale := []string{"SingletonLock", "SingletonSocket", "SingletonCookie"}
	if policy == ReadOnly {
		workers := filepath.Join("Default", "Service Worker")
		stale = append(stale, filepath.Join(workers, "Database"), filepath.Join(workers, "ScriptCache"))
	}
	for _, name := range stale {
		if err := os.RemoveAll(filepath.Join(folder, name)); err != nil {
			return fmt.Errorf("ready a profile: %w", err)
		}
	}
	return nil
}

// userData is Chrome's user data folder.
func (p *process) userData() string {
	if p.profile != nil {
		return p.profile.userData()
	}
	return p.folder.profile()
}

// prepareProfile opens the forwarder that a profile's command line names.
func (p *process) prepareProfile(ctx context.Context) error {
	if p.profile == nil {
		return nil
	}
	socket := p.nextSocket()
	forwarded, err := p.warden.ask(ctx, order{Forward: socket})
	if err != nil {
		return fmt.Errorf("open forwarder: %w", err)
	}
	p.wayOut = wayOut{socket: socket, port: forwarded.Port}
	return nil
}

// enterDefault makes the browser that of the context which a profile's Chrome begins with.
func (b *Browser) enterDefault(ctx context.Context) error {
	told, err := call(ctx, b.proc.conn, "", target.GetBrowserContexts, cdp.Empty{})
	if err != nil {
		return fmt.Errorf("ask for contexts: %w", err)
	}
	if told.DefaultBrowserContextID == "" {
		return errors.New("ask for contexts: Chrome does not tell its own")
	}
	b.contextID = told.DefaultBrowserContextID
	return b.restrict(ctx)
}

// keepProfile lets a Chrome whose end is wished write down what it holds. One that ended otherwise cannot, and its last
// tabs are those that were remembered while it lived.
func (p *process) keepProfile(ctx context.Context, reason error) {
	if p.profile == nil {
		return
	}
	isWished := errors.Is(reason, errStopped)
	for _, b := range p.owners() {
		if b.memory.stop(); isWished {
			b.memory.finish(ctx)
		}
	}
	if isWished && p.policy != "" { // or no session has been there
		p.closePolitely(ctx)
	}
}

// closePolitely asks Chrome to end and waits for that, within bounds.
func (p *process) closePolitely(ctx context.Context) {
	late := time.NewTimer(partTimeout)
	defer late.Stop()
	post(p.conn, "", browser.Close, cdp.Empty{})
	select {
	case <-p.warden.ended:
	case <-late.C:
		p.log.LogAttrs(ctx, slog.LevelWarn, "chrome did not close its profile in time")
	}
}

// fullBeside is the full browser to use where the pool uses another for what leaves nothing behind.
func fullBeside(b Binary) Binary {
	if b.Kind == FullBrowser {
		return b
	}
	full, _ := findFull("") // none is what openOnProfile tells
	return full
}

// removeAll deletes the profile's content, the lock last: until then nobody else can begin one there.
func (p *profile) removeAll() error {
	entries, err := os.ReadDir(p.path)
	if err != nil {
		return fmt.Errorf("list a profile: %w", err)
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == filepath.Base(p.lock.Name()) })
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(p.path, entry.Name())); err != nil {
			return fmt.Errorf("remove a profile: %w", err)
		}
	}
	return os.RemoveAll(p.path)
}
