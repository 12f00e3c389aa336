package chrome

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// Run runs one program in one tab of the session and answers when it has ended. A failed step, a tab that is
// gone (tab_closed) and a refused call (forbidden) are in Result.Error; err is a *program.Error, with code
// session_ended once the session is over, or ctx's error.
func (b *Browser) Run(ctx context.Context, p program.Program) (program.Result, error) {
	bounded, cancel := context.WithTimeout(ctx, time.Duration(p.DeadlineMS)*time.Millisecond)
	defer cancel()
	if err := b.takeTurn(bounded); err != nil {
		return outOfTime(ctx, p, err)
	}
	defer func() { <-b.turn }()
	before := b.newest()
	t, err := b.tab(bounded, p)
	if err != nil {
		return outOfTime(ctx, p, b.explain(bounded, err))
	}
	if t == nil {
		return refused(p.Tab, fault.TabClosed, "there is no tab "+p.Tab), nil
	}
	if at, ok := bounded.Deadline(); ok {
		p.DeadlineMS = max(1, int(time.Until(at).Milliseconds()))
	}
	result, err := b.runIn(ctx, t, p)
	if err != nil {
		return program.Result{}, err
	}
	if b.hasNoRenderers(ctx, result) {
		return program.Result{}, b.lost(ctx)
	}
	b.refresh(ctx)
	result.Tab = t.id
	result.Opened = b.openedSince(before, t)
	result.Dialogs = append(b.takeDialogs(), result.Dialogs...)
	return result, nil
}

// outOfTime is the program's own deadline, unless it is the caller's patience that has ended.
func outOfTime(ctx context.Context, p program.Program, err error) (program.Result, error) {
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return refused(p.Tab, fault.Timeout, "the browser did not answer in time"), nil
	}
	return program.Result{}, err
}

// hasNoRenderers looks behind the failures that a Chrome without them has.
func (b *Browser) hasNoRenderers(ctx context.Context, r program.Result) bool {
	if r.Error == nil || r.Error.Code != string(fault.NavigationFailed) && r.Error.Code != string(fault.TabClosed) {
		return false
	}
	b.proc.checkRenderers(ctx)
	return b.proc.isEnding()
}

// refresh asks for what Chrome does not tell by itself: a title that came after its document.
func (b *Browser) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	list, err := call(ctx, b.proc.conn, "", target.GetTargets, target.GetTargetsParams{Filter: pages()})
	if err != nil {
		return // the addresses and titles that were told stay
	}
	for _, info := range list.TargetInfos {
		b.describe(info)
	}
}

func (b *Browser) runIn(ctx context.Context, t *tab, p program.Program) (program.Result, error) {
	patience := time.Duration(p.DeadlineMS) * time.Millisecond
	if p.Tab != program.NewTab {
		patience /= 3 // its page has had time already; who asked may want another tab in what is left
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-t.ready:
	case <-t.gone:
	case <-late.C:
		return refused(t.id, fault.Timeout, "the tab did not answer in time"), nil
	case <-ctx.Done():
		return program.Result{}, ctx.Err()
	}
	if isClosed(t.gone) {
		return b.cutShort(ctx, t, program.Result{})
	}
	if t.failed != nil {
		return b.cutShort(ctx, t, refused(t.id, fault.Timeout, "the tab does not answer"))
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	defer t.onGone(cancel)()
	result := t.runIn(running, p)
	if result.Error == nil {
		return result, nil // perhaps the page closed itself, as its last act
	}
	return b.cutShort(ctx, t, result)
}

// cutShort says what a failure really was: the end of the session, of the tab, of the caller's patience, or
// the program's own.
func (b *Browser) cutShort(ctx context.Context, t *tab, result program.Result) (program.Result, error) {
	switch {
	case b.proc.isEnding(), isClosed(b.over):
		return program.Result{}, b.lost(ctx)
	case isClosed(t.gone):
		return tabClosed(result), nil
	case ctx.Err() != nil:
		return program.Result{}, ctx.Err()
	}
	return result, nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// tabClosed says what the failure really was.
func tabClosed(r program.Result) program.Result {
	step := len(r.Steps)
	if r.Error != nil {
		step = r.Error.Step
	}
	r.Error = &program.Error{Step: step, Code: string(fault.TabClosed), Message: "the tab was closed or has crashed"}
	return r
}

func refused(tab string, code fault.Code, message string) program.Result {
	return program.Result{Tab: tab, Error: failure(code, message)}
}

// failure is an error that is no step's.
func failure(code fault.Code, message string) *program.Error {
	return &program.Error{Step: -1, Code: string(code), Message: message}
}

func (b *Browser) takeTurn(ctx context.Context) error {
	if isClosed(b.over) {
		return b.ended()
	}
	select {
	case b.turn <- struct{}{}:
		return nil
	case <-b.over:
		return b.ended()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lost waits for the session's own end, which is on its way where Chrome has ended, and tells why.
func (b *Browser) lost(ctx context.Context) error {
	select {
	case <-b.over:
		return b.ended()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ended says that the session is over, and why where that was no wish.
func (b *Browser) ended() error { return b.sessionEnded() }

func (b *Browser) sessionEnded() *program.Error {
	message := "the session is over"
	switch err := b.Err(); {
	case errors.Is(err, errHung):
		message += ": " + errHung.Error()
	case errors.Is(err, errNoRenderers):
		message += ": " + errNoRenderers.Error()
	case err != nil && !errors.Is(err, errStopped):
		message += ": its browser ended unexpectedly"
	}
	return failure(fault.SessionEnded, message)
}

// tab returns the tab that a program is for, a new one, or nil.
func (b *Browser) tab(ctx context.Context, p program.Program) (*tab, error) {
	if p.Tab == program.NewTab {
		return b.openTab(ctx)
	}
	if a, ok := b.sleeper(p.Tab); ok {
		return b.rouse(ctx, a, p)
	}
	return b.named(p.Tab), nil
}

func (b *Browser) named(name string) *tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.find(func(t *tab) bool { return t.view.ID == name })
}

func (b *Browser) newest() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lastTab
}

// openedSince lists the tabs that pages opened while a program ran in t.
func (b *Browser) openedSince(before int, t *tab) []program.Tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	var opened []program.Tab
	for _, other := range b.tabs {
		if other.number > before && other != t {
			opened = append(opened, other.view)
		}
	}
	return opened
}

// maxDialogs bounds those that nobody has been told of; the oldest stay.
const maxDialogs = 16

// keepDialog notes one that was dismissed while no program could have told of it; the next one does.
func (b *Browser) keepDialog(d page.EventJavascriptDialogOpening) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.dialogs) < maxDialogs {
		b.dialogs = append(b.dialogs, program.Dialog{Type: string(d.Type), Message: program.Clip(d.Message, longestDialog)})
	}
}

func (b *Browser) takeDialogs() []program.Dialog {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.dialogs
	b.dialogs = nil
	return taken
}

// explain turns the reasons for which a tab cannot be had into what the outside may know.
func (b *Browser) explain(ctx context.Context, err error) error {
	if b.proc.isEnding() || isClosed(b.over) {
		return b.lost(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, errTooManyTabs) {
		return failure(fault.RateLimited, "the session has as many tabs as it may have; close one")
	}
	b.proc.log.LogAttrs(ctx, slog.LevelError, "tab did not open", slog.Any("error", err))
	return failure(fault.Unavailable, "a tab could not be opened")
}
