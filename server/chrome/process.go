package chrome

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
)

const (
	// launchTimeout is long: a full Chromium on a busy machine has been seen to take ten seconds.
	launchTimeout = 30 * time.Second
	// partTimeout bounds the polite steps at a session's end; the impolite one comes after.
	partTimeout = 5 * time.Second
)

var errStopped = errors.New("browser was stopped")

// process is one Chrome, from dedicate on of one account and policy, with the sessions in it.
type process struct {
	options Options
	binary  Binary
	profile *profile // nil for one whose sessions leave nothing behind
	wayOut  wayOut   // a profile's
	policy  Policy   // set by dedicate
	product string   // what Chrome calls itself
	// patience is answerTimeout, but for tests.
	patience time.Duration
	log      *slog.Logger
	folder   processFolder
	warden   *warden
	conn     *conn

	mu       sync.Mutex
	browsers map[cdp.BrowserContextID]*Browser // nil once the process has ended
	next     next
	sinks    map[target.SessionID]sink
	sockets  int

	downloads

	quit chan struct{} // asks it to end
	once sync.Once     // for quit
	dead chan struct{} // nothing works any more
	gone chan struct{} // nothing is left
}

// sink takes the events of one target session; it must not wait.
type sink func(event)

// wayOut is a forwarder that is there before Chrome is.
type wayOut struct {
	socket string
	port   int
}

// launch starts a Chrome and returns it connected and watched; on nil it is one that leaves nothing behind.
func (p *Pool) launch(ctx context.Context, on *profile) (*process, error) {
	folder, err := p.folder.newProcessFolder()
	if err != nil {
		return nil, err
	}
	w, err := startWarden(ctx, p.words, on.lockFile())
	if err != nil {
		return nil, errors.Join(err, folder.remove(ctx))
	}
	proc := &process{
		options: p.options, binary: p.binary, profile: on, patience: p.patience, log: p.log, folder: folder, warden: w,
		browsers: map[cdp.BrowserContextID]*Browser{}, sinks: map[target.SessionID]sink{},
		downloads: downloads{fetchTurn: make(chan struct{}, 1)},
		quit:      make(chan struct{}), dead: make(chan struct{}), gone: make(chan struct{}),
	}
	if on != nil {
		proc.binary = p.full
	}
	proc.conn = newConn(w.fromIt, w.toChild)
	go proc.live(context.WithoutCancel(ctx))
	if err := proc.prepare(ctx); err != nil {
		proc.stop()
		said := w.stderr.String()
		p.log.LogAttrs(ctx, slog.LevelError, "chrome did not start", slog.String("stderr", said), slog.Any("error", err))
		return nil, err
	}
	p.log.LogAttrs(ctx, slog.LevelInfo, "chrome started", slog.Int("pid", w.pid()))
	return proc, nil
}

func (p *process) prepare(ctx context.Context) error {
	if err := p.folder.record(p.warden.pid()); err != nil {
		return err
	}
	if err := p.prepareProfile(ctx); err != nil {
		return err
	}
	_, err := p.warden.ask(ctx, order{Start: &startOrder{
		Path: p.binary.Path,
		Args: commandLine(p.binary, p.userData(), cmp.Or(p.wayOut.port, nobody)),
		Env:  environment(p.folder.profile(), p.folder.tmpInside()),
		Dir:  p.folder.path,
	}})
	if err != nil {
		return fmt.Errorf("start Chrome: %w", err)
	}
	version, err := call(ctx, p.conn, "", browser.GetVersion, cdp.Empty{})
	if err != nil {
		return fmt.Errorf("ask for the version: %w", err)
	}
	p.product = version.Product
	discover := target.SetDiscoverTargetsParams{Discover: true, Filter: pages()}
	if _, err := call(ctx, p.conn, "", target.SetDiscoverTargets, discover); err != nil {
		return fmt.Errorf("discover tabs: %w", err)
	}
	// Without the waiting, window.open of a page never returns.
	attach := target.SetAutoAttachParams{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: new(true), Filter: pages()}
	if _, err := call(ctx, p.conn, "", target.SetAutoAttach, attach); err != nil {
		return fmt.Errorf("attach to tabs: %w", err)
	}
	return nil
}

// dedicate makes the process one of a policy, before any session is in it: a read-only one is guarded from here on.
func (p *process) dedicate(ctx context.Context, policy Policy) error {
	p.log.LogAttrs(ctx, slog.LevelInfo, "chrome serves", slog.Int("pid", p.warden.pid()), slog.String("policy", string(policy)))
	p.policy = policy
	return p.within(ctx, func(ctx context.Context) error {
		if policy == ReadOnly {
			return installGuard(ctx, p.conn)
		}
		return p.ping(ctx)
	})
}

// ping asks Chrome something that it answers at once.
func (p *process) ping(ctx context.Context) error {
	_, err := call(ctx, p.conn, "", browser.GetVersion, cdp.Empty{})
	return err
}

// live lets the process live until it ends, for whatever reason, and then clears everything away.
func (p *process) live(ctx context.Context) {
	defer close(p.gone)
	p.conn.start(p.route)
	reason := p.waitForEnd()
	p.keepProfile(ctx, reason)
	close(p.dead)
	p.conn.close()
	p.clear(ctx, reason)
}

func (p *process) waitForEnd() error {
	select {
	case <-p.quit:
		return errStopped
	case <-p.conn.closed:
		return fmt.Errorf("connection ended: %w", p.conn.cause())
	case <-p.warden.ended:
		return errors.New("browser " + p.warden.reason)
	}
}

// clear kills what is left and ends the sessions.
func (p *process) clear(ctx context.Context, reason error) {
	if !errors.Is(reason, errStopped) {
		p.log.LogAttrs(ctx, slog.LevelError, "chrome ended", slog.Int("pid", p.warden.pid()), slog.Any("error", reason))
	}
	err := p.warden.stop(ctx)
	p.mu.Lock()
	browsers := p.browsers
	p.browsers, p.next.ready = nil, nil
	p.mu.Unlock()
	p.next.making.Wait()
	for _, b := range browsers {
		err = errors.Join(err, b.finish(reason))
	}
	if err = errors.Join(err, p.folder.remove(ctx)); err != nil {
		p.log.LogAttrs(ctx, slog.LevelError, "chrome left something behind", slog.Any("error", err))
	}
}

// stop ends the process with its sessions and returns when nothing of it is left.
func (p *process) stop() {
	p.once.Do(func() { close(p.quit) })
	<-p.gone
}

// add lets a session's browser receive its tabs; false once the process has ended.
func (p *process) add(b *Browser) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.browsers == nil {
		return false
	}
	p.browsers[b.contextID] = b
	return true
}

// remove takes a browser out; true for exactly one caller, who then has to finish it.
func (p *process) remove(b *Browser) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.browsers[b.contextID]
	delete(p.browsers, b.contextID)
	return ok
}

func (p *process) nextSocket() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sockets++
	return p.folder.socket(p.sockets)
}

// listen sends the events of a target session to s; nil ends that.
func (p *process) listen(targetSession target.SessionID, s sink) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s == nil {
		delete(p.sinks, targetSession)
		return
	}
	p.sinks[targetSession] = s
}

func (p *process) sink(targetSession target.SessionID) sink {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sinks[targetSession]
}

func (p *process) owners() []*Browser {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*Browser, 0, len(p.browsers))
	for _, b := range p.browsers {
		all = append(all, b)
	}
	return all
}

// route moves one event on. The connection calls it in Chrome's order; it never waits.
func (p *process) route(e event) {
	switch {
	case e.Method == fetch.RequestPaused.Method:
		on(e, fetch.RequestPaused, p.answerPaused)
	case e.TargetSession == "":
		p.routeTarget(e)
	default:
		p.followChild(e)
		if s := p.sink(e.TargetSession); s != nil {
			s(e)
		}
	}
}

// routeTarget follows the sessions' tabs.
func (p *process) routeTarget(e event) {
	p.routeDownload(e)
	on(e, target.AttachedToTarget, p.welcome)
	on(e, target.DetachedFromTarget, func(t target.EventDetachedFromTarget) {
		p.dropTab(func(open *tab) bool { return open.targetSession == t.SessionID })
		p.endTargetSession(t.SessionID)
	})
	on(e, target.TargetInfoChanged, func(t target.EventTargetInfoChanged) {
		for _, b := range p.owners() {
			b.describe(t.TargetInfo)
		}
	})
	on(e, target.TargetCrashed, func(t target.EventTargetCrashed) {
		for _, b := range p.owners() {
			b.noteCrash(t.TargetID)
		}
		post(p.conn, "", target.CloseTarget, target.CloseTargetParams{TargetID: t.TargetID})
		p.dropTab(func(open *tab) bool { return open.targetID == t.TargetID })
	})
	on(e, target.TargetDestroyed, func(t target.EventTargetDestroyed) {
		p.dropTab(func(open *tab) bool { return open.targetID == t.TargetID })
	})
}

// welcome gives a new page to the session whose context it is in.
func (p *process) welcome(t target.EventAttachedToTarget) {
	// The page may go on before anything else is asked of it, or it forgets the form it was opened for.
	post(p.conn, t.SessionID, runtime.RunIfWaitingForDebugger, cdp.Empty{})
	if t.TargetInfo == nil {
		return
	}
	p.mu.Lock()
	b := p.browsers[t.TargetInfo.BrowserContextID]
	p.mu.Unlock()
	if b != nil {
		b.adopt(t.SessionID, t.TargetInfo)
	}
}

func (p *process) dropTab(fits func(*tab) bool) {
	for _, b := range p.owners() {
		b.drop(fits)
	}
}

// followChild lets the events of a tab's frames and workers reach the tab.
func (p *process) followChild(e event) {
	on(e, target.AttachedToTarget, func(t target.EventAttachedToTarget) {
		p.listen(t.SessionID, p.sink(e.TargetSession))
	})
	on(e, target.DetachedFromTarget, func(t target.EventDetachedFromTarget) {
		p.endTargetSession(t.SessionID)
	})
}

func (p *process) endTargetSession(targetSession target.SessionID) {
	p.listen(targetSession, nil)
	p.conn.endSession(targetSession)
}
