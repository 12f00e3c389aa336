package chrome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// tab is one page of a session.
type tab struct {
	conn          *conn
	targetID      target.ID
	targetSession target.SessionID
	number        int
	id            string
	view          program.Tab // guarded by the browser's mu
	executor      *program.Executor
	unloaded      string // the remembered address that the first program finds; guarded by the browser's turn

	ready  chan struct{} // closed when the executor is attached, or cannot be
	failed error         // set before ready is closed

	dismissed func(page.EventJavascriptDialogOpening)
	renamed   func(*target.Info)

	hold *hold // guarded by the browser's mu; nil while no client uses the tab

	life    context.CancelFunc
	gone    <-chan struct{}
	onGone  func(func()) (stop func() bool)
	running sync.WaitGroup
}

// adopt takes in a page of the session's context, whoever opened it. Further connections to
// the same page are somebody's own business.
func (b *Browser) adopt(targetSession target.SessionID, info *target.Info) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if isClosed(b.over) || b.find(func(t *tab) bool { return t.targetID == info.TargetID }) != nil {
		return
	}
	if len(b.tabs) >= maxTabs {
		b.turnAway(info.TargetID)
		return
	}
	b.lastTab++
	t := newTab(b, targetSession, info)
	b.tabs = append(b.tabs, t)
	b.tellChanged()
	b.proc.listen(targetSession, t.take)
	t.start()
}

// newTab is called with the browser's mu held.
func newTab(b *Browser, targetSession target.SessionID, info *target.Info) *tab {
	life, end := context.WithCancel(context.Background())
	id := "t" + strconv.Itoa(b.lastTab)
	t := &tab{
		conn: b.proc.conn, targetID: info.TargetID, targetSession: targetSession, number: b.lastTab, id: id,
		view:      shown(program.Tab{ID: id, Level: b.level(), Session: b.options.Session, Made: true, Target: string(info.TargetID)}, info.URL, info.Title),
		dismissed: b.keepDialog, renamed: b.describe, ready: make(chan struct{}),
		life: end, gone: life.Done(),
		onGone: func(f func()) func() bool { return context.AfterFunc(life, f) },
	}
	if opener := b.find(func(o *tab) bool { return o.targetID == info.OpenerID }); opener != nil {
		t.view.Opener = opener.view.ID
	}
	t.executor = program.NewExecutor(t, program.Options{
		PageScript: b.proc.options.PageScript, Level: b.level(), Table: b.proc.options.Table,
	})
	return t
}

// start lets the executor attach, also to a tab that no program has asked for yet: a dialog in it must not
// stand unanswered.
func (t *tab) start() {
	t.running.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), launchTimeout)
		defer cancel()
		defer t.onGone(cancel)()
		t.failed = t.executor.Attach(ctx)
		close(t.ready)
	})
}

// take is the tab's sink. A dialog that is up before the executor is would keep it from ever attaching: it is
// dismissed here; later ones are the executor's to answer and to tell.
func (t *tab) take(e event) {
	if e.missed > 0 {
		return
	}
	if e.Method == page.JavascriptDialogOpening.Method && !isClosed(t.ready) {
		post(t.conn, e.TargetSession, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: false})
		on(e, page.JavascriptDialogOpening, t.dismissed)
	}
	if e.Method == page.LoadEventFired.Method {
		t.askTitle()
	}
	t.executor.Deliver(t.child(e.TargetSession), e.Method, e.Params)
}

// askTitle asks for what Chrome does not tell by itself: the title of a document that has just loaded.
func (t *tab) askTitle() {
	ask := target.GetTargetInfoParams{TargetID: t.targetID}
	err := t.conn.ask("", target.GetTargetInfo.Method, ask, func(r reply) {
		var told target.GetTargetInfoResult
		if r.err == nil && json.Unmarshal(r.result, &told) == nil {
			t.renamed(told.TargetInfo)
		}
	})
	if err != nil {
		t.conn.fail(err)
	}
}

// child translates between Chrome's target sessions and the executor's, to whom the page itself is "".
func (t *tab) child(targetSession target.SessionID) string {
	if targetSession == t.targetSession {
		return ""
	}
	return string(targetSession)
}

// Call is the executor's way to Chrome.
func (t *tab) Call(ctx context.Context, child, method string, params json.RawMessage) (json.RawMessage, error) {
	targetSession := target.SessionID(child)
	if child == "" {
		targetSession = t.targetSession
	}
	var body any
	if len(params) > 0 {
		body = params
	}
	return t.conn.call(ctx, targetSession, method, body)
}

// close ends what runs in the tab and waits for it; the page itself is the context's to close.
func (t *tab) close() {
	t.life()
	t.conn.endSession(t.targetSession)
	t.running.Wait()
}

// find returns the first tab that fits, or nil; mu must be held.
func (b *Browser) find(fits func(*tab) bool) *tab {
	for _, t := range b.tabs {
		if fits(t) {
			return t
		}
	}
	return nil
}

// tellChanged wakes who waits for a tab; mu must be held.
func (b *Browser) tellChanged() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// describe notes a page's new address or title.
func (b *Browser) describe(info *target.Info) {
	if info == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.find(func(t *tab) bool { return t.targetID == info.TargetID })
	if t == nil {
		return
	}
	if now := shown(t.view, info.URL, info.Title); now != t.view {
		t.view = now
		b.tellChanged()
	}
}

// drop forgets a page that is closed or has crashed. What runs in it fails at once.
func (b *Browser) drop(fits func(*tab) bool) {
	b.dropFor(fits, failure(fault.TabClosed, "the tab was closed or has crashed"))
}

func (b *Browser) dropFor(fits func(*tab) bool, why *program.Error) {
	t, held := b.takeOut(fits)
	if t == nil {
		return
	}
	b.proc.endTargetSession(t.targetSession)
	if held != nil {
		held.end(why)
	}
}

func (b *Browser) takeOut(fits func(*tab) bool) (*tab, *hold) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fresh != nil && fits(b.fresh) {
		t := b.fresh
		t.life()
		b.fresh = nil
		return t, nil
	}
	for i, t := range b.tabs {
		if !fits(t) {
			continue
		}
		t.life()
		b.tabs = append(b.tabs[:i:i], b.tabs[i+1:]...)
		b.tellChanged()
		held := t.hold
		t.hold = nil
		return t, held
	}
	return nil, nil
}

// fit gives a tab its viewport. A full browser's window has borders, which count in the size it is made with.
func (b *Browser) fit(ctx context.Context, t *tab) error {
	if b.proc.binary.Kind == HeadlessShell {
		return nil
	}
	size := emulation.SetDeviceMetricsOverrideParams{Width: int64(b.options.Width), Height: int64(b.options.Height)}
	if _, err := call(ctx, b.proc.conn, t.targetSession, emulation.SetDeviceMetricsOverride, size); err != nil {
		return fmt.Errorf("fit viewport: %w", err)
	}
	return nil
}

// refit does so again for a tab whose size was a client's for a while.
func (b *Browser) refit(t *tab) {
	if b.proc.binary.Kind == HeadlessShell {
		return
	}
	size := emulation.SetDeviceMetricsOverrideParams{Width: int64(b.options.Width), Height: int64(b.options.Height)}
	post(b.proc.conn, t.targetSession, emulation.SetDeviceMetricsOverride, size)
}

// CloseTab gives a tab up, also one whose page hangs: it is no longer listed when the call returns, and Chrome closes
// it in its own time. For a tab that is not there the error is a *program.Error, tab_closed.
func (b *Browser) CloseTab(_ context.Context, id string) error {
	if b.forget(id) {
		return nil
	}
	t := b.named(id)
	if t == nil {
		return failure(fault.TabClosed, "there is no tab "+id)
	}
	post(b.proc.conn, "", target.CloseTarget, target.CloseTargetParams{TargetID: t.targetID})
	b.drop(func(open *tab) bool { return open == t })
	return nil
}

// NewTab makes a blank tab and answers its name once Tabs has it.
func (b *Browser) NewTab(ctx context.Context) (string, error) {
	t, err := b.openTab(ctx)
	if err != nil {
		return "", b.explain(ctx, err)
	}
	return t.id, nil
}

// openTab answers a tab at about:blank once it is the session's.
func (b *Browser) openTab(ctx context.Context) (*tab, error) {
	if t := b.takeFresh(); t != nil {
		return t, nil
	}
	t, err := b.makeTab(ctx)
	if err != nil {
		return nil, err
	}
	return t, b.fit(ctx, t)
}

func (b *Browser) makeTab(ctx context.Context) (*tab, error) {
	if err := b.takePlace(); err != nil {
		return nil, err
	}
	defer b.givePlace()
	blank := target.CreateTargetParams{
		URL: "about:blank", BrowserContextID: b.contextID, NewWindow: new(true),
		Width: int64(b.options.Width), Height: int64(b.options.Height),
	}
	var made target.CreateTargetResult
	err := b.proc.within(ctx, func(ctx context.Context) (err error) {
		made, err = call(ctx, b.proc.conn, "", target.CreateTarget, blank)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create tab: %w", err)
	}
	return b.awaitTab(ctx, made.TargetID, blank.URL)
}

// awaitTab waits until a page that was made is one of the session's tabs.
func (b *Browser) awaitTab(ctx context.Context, made target.ID, address string) (*tab, error) {
	for {
		b.mu.Lock()
		t, changed, isAway := b.find(func(t *tab) bool { return t.targetID == made }), b.changed, b.places.away[made]
		if t != nil && t.view.URL == "" {
			t.view.URL = address // Chrome tells it later
		}
		b.mu.Unlock()
		switch {
		case t != nil:
			return t, nil
		case isAway:
			return nil, errTooManyTabs
		}
		select {
		case <-changed:
		case <-b.over:
			return nil, errors.New("session ended")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
