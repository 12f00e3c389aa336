package chrome

import (
	"cmp"
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
	socket    string
	contextID cdp.BrowserContextID
	port      int
	release   func()

	turn chan struct{} // of capacity one: holds whoever runs a program
	over chan struct{} // closed first: nothing new begins
	done chan struct{} // closed last: nothing is left

	mu       sync.Mutex
	closeWay func() error // nil while it is nobody's
	lastTab  int
	tabs     []*tab        // in order of opening
	fresh    *tab          // made ahead and shown to nobody, for whoever asks for the first tab
	places   places        // of tabs that are being made
	changed  chan struct{} // closed and replaced with every change of tabs
	dialogs  []program.Dialog
	crashed  []string // tabs whose pages did, the newest last
	asleep   []asleep // remembered tabs that nobody has used yet, in order
	selected string
	memory   *memory // nil where no profile remembers the tabs
	err      error
}

// newBrowser is a browser that Chrome knows nothing of yet.
func newBrowser(p *process, o OpenOptions) *Browser {
	return &Browser{
		proc: p, options: o, socket: cmp.Or(p.wayOut.socket, p.nextSocket()),
		turn: make(chan struct{}, 1), over: make(chan struct{}), done: make(chan struct{}), changed: make(chan struct{}),
	}
}

// begin makes the browser a session's: from here on it has a way out, which knows whose it is.
func (b *Browser) begin(ctx context.Context, o OpenOptions) error {
	way := Way{Account: o.Account, Session: o.Session, Policy: o.Policy, Socket: b.socket}
	closeWay, err := b.proc.options.Egress.OpenWay(ctx, way)
	if err != nil {
		return fmt.Errorf("open way out: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if isClosed(b.over) { // with its process
		return errors.Join(errStopped, closeWay())
	}
	b.options, b.closeWay, b.crashed = o, closeWay, nil
	return nil
}

// enter asks for the forwarder and the context; what it got before an error, discard gives back. On a profile, both are
// there already.
func (b *Browser) enter(ctx context.Context) error {
	if b.proc.profile != nil {
		return b.enterDefault(ctx)
	}
	forwarded, err := b.proc.warden.ask(ctx, order{Forward: b.socket})
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
	if b.contextID != "" && b.proc.profile == nil {
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

// discard gives back what no session has.
func (b *Browser) discard(ctx context.Context) error {
	if b.contextID != "" && !b.proc.remove(b) && b.proc.isEnding() {
		return nil // it ends with its process
	}
	return errors.Join(b.leave(ctx), b.finish(nil))
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
	b.memorise(ctx)
	err := errors.Join(b.leave(ctx), b.finish(nil))
	b.release()
	return err
}

// finish is what every end has in common. Who took the browser out of its process calls it, once.
func (b *Browser) finish(reason error) error {
	b.mu.Lock()
	close(b.over) // who sees that finds the reason too
	tabs, holds, closeWay := b.tabs, b.holds(), b.closeWay
	if b.fresh != nil {
		tabs = append(tabs, b.fresh)
	}
	b.tabs, b.asleep, b.fresh, b.err = nil, nil, nil, reason
	b.tellChanged()
	b.mu.Unlock()
	for _, t := range tabs {
		t.close()
	}
	for _, h := range holds {
		h.end(b.sessionEnded())
	}
	defer close(b.done)
	if closeWay == nil {
		return nil
	}
	if err := closeWay(); err != nil {
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
// ended. A fresh session has none but those that its profile remembers: these have no title and no target until a program
// runs in them.
func (b *Browser) Tabs() []program.Tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]program.Tab, 0, len(b.tabs)+len(b.asleep))
	waiting := b.asleep
	for _, t := range b.tabs {
		for len(waiting) > 0 && waiting[0].number < t.number {
			list, waiting = append(list, waiting[0].view), waiting[1:]
		}
		list = append(list, t.view)
	}
	for _, a := range waiting {
		list = append(list, a.view)
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
