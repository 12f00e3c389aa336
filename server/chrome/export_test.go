package chrome

import (
	"context"
	"syscall"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"chaperone/relay/endpoint"
)

// CommandLine is the exact list that Chrome is started with.
var CommandLine = commandLine

// Nobody is the port that Chrome's own requests go to.
const Nobody = nobody

// WithoutNamespaces makes a pool do as on a machine whose kernel refuses them.
func (p *Pool) WithoutNamespaces() { p.words = nil }

// WithoutBrowser makes a pool do as on a machine that has none.
func (p *Pool) WithoutBrowser() { p.binary, p.full = Binary{}, Binary{} }

// Full tells which browser profiles are opened with.
func (p *Pool) Full() Binary { return p.full }

// WithSeatWait makes a pool wait otherwise for a profile that is in use.
func (p *Pool) WithSeatWait(d time.Duration) { p.seatWait = d }

// NewFrameReader and its Next are the splitter of Chrome's messages.
var NewFrameReader = newFrameReader

// Next returns one message.
func (f *frameReader) Next() ([]byte, error) { return f.next() }

// ErrTooLong marks the head of a message that was longer than allowed.
var ErrTooLong = errTooLong

// DecodeOrder parses one line from the server.
var DecodeOrder = decodeOrder

// CrashTab makes a tab's renderer crash.
func (b *Browser) CrashTab(name string) {
	post(b.proc.conn, b.named(name).targetSession, page.Crash, cdp.Empty{})
}

// BreakConnection ends the connection on which the guard answers.
func (b *Browser) BreakConnection() { b.proc.conn.fail(errConnClosed) }

// WithPatience makes a pool give up a Chrome that does not answer sooner.
func (p *Pool) WithPatience(d time.Duration) { p.patience = d }

// Meter counts what a tab tells.
type Meter struct{ meter meter }

// IsFlood counts one event.
func (m *Meter) IsFlood(method string, bytes int, now time.Time) bool {
	return m.meter.isFlood(event{Method: method, Params: make([]byte, bytes), read: now})
}

// Thinner finds the events that are too many.
type Thinner struct{ thinner thinner }

// Thin reports whether a message is dropped.
func (t *Thinner) Thin(text []byte, now time.Time) bool {
	_, ok := t.thinner.thin(text, now)
	return ok
}

// Rests are how long a tab rests.
type Rests struct{ rests rests }

// Begin begins a rest and answers its length.
func (r *Rests) Begin(now time.Time) time.Duration {
	r.End()
	r.rests.begin(now, func() {})
	return r.rests.length
}

// End ends it.
func (r *Rests) End() { r.rests.end() }

// Wake lets a held tab do what it does when its rest is over.
func Wake(w endpoint.Wire) {
	if h, ok := w.(*hold); ok {
		h.wake()
	}
}

// Rest lets a held tab do what it does when it tells too much.
func Rest(w endpoint.Wire) {
	if h, ok := w.(*hold); ok {
		h.rest(time.Now())
	}
}

// IsReady reports whether an account's Chrome has a browser ready for the session that comes next.
func (p *Pool) IsReady(account string, policy Policy) bool {
	p.mu.Lock()
	s := p.slots[slotKey{account, policy}]
	p.mu.Unlock()
	if s == nil || !isClosed(s.ready) || s.err != nil {
		return false
	}
	s.proc.mu.Lock()
	defer s.proc.mu.Unlock()
	return s.proc.next.ready != nil
}

// CrashNext makes the page that is ready in an account's Chrome crash, and answers whether it is gone.
func (p *Pool) CrashNext(account string, policy Policy) (isGone func() bool) {
	p.mu.Lock()
	proc := p.slots[slotKey{account, policy}].proc
	p.mu.Unlock()
	proc.mu.Lock()
	b := proc.next.ready
	proc.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	post(proc.conn, b.fresh.targetSession, page.Crash, cdp.Empty{})
	return func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.fresh == nil
	}
}

// KillOf kills a session's Chrome.
func (p *Pool) KillOf(b *Browser) { _ = syscall.Kill(-b.proc.warden.pid(), syscall.SIGKILL) }

// WithBinary makes a pool start another browser.
func (p *Pool) WithBinary(b Binary) { p.binary = b }

// OpenBare asks a session's Chrome for what another session needs and nothing else, and has a page script answer in it.
func OpenBare(ctx context.Context, beside *Browser, script string) error {
	c := beside.proc.conn
	made, err := call(ctx, c, "", target.CreateBrowserContext, target.CreateBrowserContextParams{
		DisposeOnDetach: new(true), ProxyServer: "127.0.0.1:1", ProxyBypassList: "<-loopback>",
	})
	if err != nil {
		return err
	}
	defer post(c, "", target.DisposeBrowserContext, target.DisposeBrowserContextParams(made))
	deny := browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: made.BrowserContextID}
	if _, err := call(ctx, c, "", browser.SetDownloadBehavior, deny); err != nil {
		return err
	}
	none := map[string]any{"permissions": []string{}, "browserContextId": made.BrowserContextID}
	if _, err := c.call(ctx, "", "Browser.grantPermissions", none); err != nil {
		return err
	}
	tab, err := call(ctx, c, "", target.CreateTarget, target.CreateTargetParams{
		URL: "about:blank", BrowserContextID: made.BrowserContextID, NewWindow: new(true), Width: defaultWidth, Height: defaultHeight,
	})
	if err != nil {
		return err
	}
	attached, err := call(ctx, c, "", target.AttachToTarget, target.AttachToTargetParams{TargetID: tab.TargetID, Flatten: new(true)})
	if err != nil {
		return err
	}
	return runBare(ctx, c, attached.SessionID, script)
}

func runBare(ctx context.Context, c *conn, s target.SessionID, script string) error {
	if _, err := call(ctx, c, s, page.Enable, page.EnableParams{}); err != nil {
		return err
	}
	if _, err := call(ctx, c, s, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script, WorldName: "bare"}); err != nil {
		return err
	}
	if _, err := call(ctx, c, s, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		return err
	}
	tree, err := call(ctx, c, s, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return err
	}
	world, err := call(ctx, c, s, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: tree.FrameTree.Frame.ID, WorldName: "bare"})
	if err != nil {
		return err
	}
	run := runtime.EvaluateParams{Expression: script + "; chaperone('@state')", ContextID: world.ExecutionContextID, AwaitPromise: new(true)}
	_, err = call(ctx, c, s, runtime.Evaluate, run)
	return err
}

// Contexts counts the contexts that a session's Chrome has.
func Contexts(ctx context.Context, b *Browser) (int, error) {
	all, err := call(ctx, b.proc.conn, "", target.GetBrowserContexts, cdp.Empty{})
	return len(all.BrowserContextIDs), err
}

// HasSpare reports whether a process is kept that belongs to nobody.
func (p *Pool) HasSpare() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spare != nil && p.spare.proc != nil
}
