package chrome

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"chaperone/relay/program"
)

// Browser is one session's browser: a context of its own in a managed Chrome. Its methods are safe for
// concurrent use; programs of one session run one after the other.
type Browser struct {
	proc      *process
	options   OpenOptions
	contextID cdp.BrowserContextID
	port      int
	closeWay  func() error
	release   func()

	turn chan struct{} // of capacity one: holds whoever runs a program
	over chan struct{} // closed first: nothing new begins
	done chan struct{} // closed last: nothing is left

	mu      sync.Mutex
	lastTab int
	tabs    []*tab        // in order of opening
	places  places        // of tabs that are being made
	changed chan struct{} // closed and replaced with every change of tabs
	dialogs []program.Dialog
	crashed []string // tabs whose pages did, the newest last
	err     error
}

// openBrowser makes a session's way out and the context that knows no other.
func openBrowser(ctx context.Context, p *process, o OpenOptions) (*Browser, error) {
	b := &Browser{
		proc: p, options: o,
		turn: make(chan struct{}, 1), over: make(chan struct{}), done: make(chan struct{}), changed: make(chan struct{}),
	}
	socket := p.nextSocket()
	closeWay, err := p.options.Egress.OpenWay(ctx, Way{Account: o.Account, Session: o.Session, Policy: o.Policy, Socket: socket})
	if err != nil {
		return nil, fmt.Errorf("open way out: %w", err)
	}
	b.closeWay = closeWay
	if err := p.within(ctx, func(ctx context.Context) error { return b.enter(ctx, socket) }); err != nil {
		return nil, errors.Join(err, b.leave(ctx), closeWay())
	}
	return b, nil
}

// enter asks for the forwarder and the context; what it got before an error, leave gives back.
func (b *Browser) enter(ctx context.Context, socket string) error {
	forwarded, err := b.proc.warden.ask(ctx, order{Forward: socket})
	if err != nil {
		return fmt.Errorf("open forwarder: %w", err)
	}
	b.port = forwarded.Port
	made, err := call(ctx, b.proc.conn, "", target.CreateBrowserContext, target.CreateBrowserContextParams{
		DisposeOnDetach: new(true),
		ProxyServer:     "127.0.0.1:" + strconv.Itoa(b.port),
		ProxyBypassList: "<-loopback>",
	})
	if err != nil {
		return fmt.Errorf("create context: %w", err)
	}
	if made.BrowserContextID == "" {
		return errors.New("create context: it has no id")
	}
	b.contextID = made.BrowserContextID
	return b.restrict(ctx)
}

// restrict denies downloads and every permission, and lets the context's tabs come in.
func (b *Browser) restrict(ctx context.Context) error {
	deny := browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: b.contextID}
	if _, err := call(ctx, b.proc.conn, "", browser.SetDownloadBehavior, deny); err != nil {
		return fmt.Errorf("deny downloads: %w", err)
	}
	// cdproto leaves out what is deprecated; nothing else denies all permissions at once.
	none := map[string]any{"permissions": []string{}, "browserContextId": b.contextID}
	if _, err := b.proc.conn.call(ctx, "", "Browser.grantPermissions", none); err != nil {
		return fmt.Errorf("deny permissions: %w", err)
	}
	if !b.proc.add(b) {
		return errStopped
	}
	return nil
}

// leave gives context and forwarder back. If Chrome does not let go of a context, its process ends.
func (b *Browser) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), partTimeout)
	defer cancel()
	if b.contextID != "" {
		gone := target.DisposeBrowserContextParams{BrowserContextID: b.contextID}
		if _, err := call(ctx, b.proc.conn, "", target.DisposeBrowserContext, gone); err != nil {
			b.proc.conn.fail(fmt.Errorf("dispose context: %w", err))
		}
	}
	if b.port == 0 {
		return nil
	}
	if _, err := b.proc.warden.ask(ctx, order{Close: b.port}); err != nil && !errors.Is(err, errWardenEnded) {
		return fmt.Errorf("close forwarder: %w", err)
	}
	return nil
}

// Close ends the session: its tabs, its context, its way out and, when it was the last, its Chrome. It
// is idempotent.
func (b *Browser) Close(ctx context.Context) error {
	if !b.proc.remove(b) {
		select {
		case <-b.done:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("close session: %w", ctx.Err())
		}
	}
	err := errors.Join(b.leave(ctx), b.finish(nil))
	b.release()
	return err
}

// finish is what every end has in common. Who took the browser out of its process calls it, once.
func (b *Browser) finish(reason error) error {
	b.mu.Lock()
	close(b.over) // who sees that finds the reason too
	tabs, holds := b.tabs, b.holds()
	b.tabs, b.err = nil, reason
	b.tellChanged()
	b.mu.Unlock()
	for _, t := range tabs {
		t.close()
	}
	for _, h := range holds {
		h.end(b.sessionEnded())
	}
	err := b.closeWay()
	close(b.done)
	if err != nil {
		return fmt.Errorf("close way out: %w", err)
	}
	return nil
}

// Done is closed when the session is over, by Close or by a failure.
func (b *Browser) Done() <-chan struct{} { return b.done }

// Err says why the session is over: nil before that and after Close.
func (b *Browser) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// Tabs lists the session's open tabs in order of opening, with the titles they had when the last program
// ended. A fresh session has none.
func (b *Browser) Tabs() []program.Tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]program.Tab, 0, len(b.tabs))
	for _, t := range b.tabs {
		list = append(list, t.view)
	}
	return list
}

// Product names Chrome and its version as CDP clients expect it: "Chrome/156.0.8078.108", with a window or without.
func (b *Browser) Product() string { return strings.TrimPrefix(b.proc.product, "Headless") }

// Changed is closed when Tabs has another list than now.
func (b *Browser) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

func (b *Browser) level() program.Level {
	if b.options.Policy == Interactive {
		return program.LevelAct
	}
	return program.LevelRead
}
