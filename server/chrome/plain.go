package chrome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
)

// PlainOptions say which browser StartPlain starts. Profile is required.
type PlainOptions struct {
	Binary  string   // empty: the first full Chromium, Chrome or Edge that is found
	Profile string   // user data folder
	Flags   []string // besides the quiet ones
	Display string   // an X display such as ":99", to be headed there; empty: headless
}

// Plain is a browser as a person has one: not confined, under no policy, with extensions. Demo and tests
// drive it; sessions never do. Its methods are safe for concurrent use.
type Plain struct {
	cmd     *exec.Cmd
	conn    *conn
	version string
	close   func() error
}

// plainEnd is how long a browser may take to end by itself once its pipe is closed.
const plainEnd = 5 * time.Second

// StartPlain starts a browser of a person's own, headless where no display is named, and waits until it answers. ctx bounds only the
// start; the caller closes.
func StartPlain(ctx context.Context, o PlainOptions) (*Plain, error) {
	binary, err := findFull(o.Binary)
	if err != nil {
		return nil, err
	}
	p := &Plain{}
	p.close = sync.OnceValue(p.end)
	if err := p.start(binary, o); err != nil {
		return nil, err
	}
	p.conn.start(func(event) {}) // nobody listens: who drives it looks instead
	version, err := call(ctx, p.conn, "", browser.GetVersion, cdp.Empty{})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("wait for %s: %w", binary.Path, err), p.Close())
	}
	p.version = version.Product
	return p, nil
}

// findFull is Find without the headless shell, which has no extensions.
func findFull(explicit string) (Binary, error) {
	names := browserNames()
	if explicit != "" {
		names = []string{explicit}
	}
	for _, name := range names {
		if b, err := Find(name); err == nil && b.Kind == FullBrowser {
			return b, nil
		}
	}
	return Binary{}, ErrNoBrowser
}

func (p *Plain) start(b Binary, o PlainOptions) error {
	commandsOut, commandsIn, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make command pipe: %w", err)
	}
	repliesOut, repliesIn, err := os.Pipe()
	if err != nil {
		return errors.Join(fmt.Errorf("make reply pipe: %w", err), commandsOut.Close(), commandsIn.Close())
	}
	p.cmd = exec.Command(b.Path, plainLine(o)...) //nolint:gosec,noctx // the operator's browser, which outlives the context of its start
	p.cmd.ExtraFiles = []*os.File{commandsOut, repliesIn}
	if o.Display != "" {
		p.cmd.Env = append(os.Environ(), "DISPLAY="+o.Display)
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = p.cmd.Start()
	err = errors.Join(err, commandsOut.Close(), repliesIn.Close())
	if err != nil {
		return errors.Join(fmt.Errorf("start %s: %w", b.Path, err), commandsIn.Close(), repliesOut.Close())
	}
	p.conn = newConn(repliesOut, commandsIn)
	return nil
}

func plainLine(o PlainOptions) []string {
	line := []string{
		"--remote-debugging-pipe", "--user-data-dir=" + o.Profile, "--window-size=1280,800",
		"--disable-gpu", "--disable-quic", "--no-first-run", "--no-default-browser-check",
		"--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-domain-reliability", "--disable-default-apps", "--password-store=basic", "--use-mock-keychain",
	}
	if o.Display == "" {
		line = append(line, "--headless=new")
	}
	if isRoot() {
		line = append(line, "--no-sandbox")
	}
	return append(line, o.Flags...)
}

// Version is what the browser calls itself, such as "Chrome/156.0.8078.114".
func (p *Plain) Version() string { return p.version }

// PID is the browser's process, which leads a process group of its own.
func (p *Plain) PID() int { return p.cmd.Process.Pid }

// Call sends one command, to the browser or to a target's session. A refusal is a *program.CallError.
func (p *Plain) Call(ctx context.Context, targetSession, method string, params any) (json.RawMessage, error) {
	return p.conn.call(ctx, target.SessionID(targetSession), method, params)
}

// Close ends the browser and every process of it. Closing twice is closing once.
func (p *Plain) Close() error { return p.close() }

func (p *Plain) end() error {
	_, _ = p.conn.send("", browser.Close.Method, nil, nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.cmd.Wait() // how it ended does not matter
	}()
	timer := time.NewTimer(plainEnd)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
	err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		err = nil
	}
	<-ended
	p.conn.close()
	return err
}
