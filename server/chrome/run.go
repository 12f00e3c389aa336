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
	if err := b.takeTurn(ctx); err != nil {
		return program.Result{}, err
	}
	defer func() { <-b.turn }()
	before := b.newest()
	t, err := b.tab(ctx, p.Tab)
	if err != nil {
		return program.Result{}, b.explain(ctx, err)
	}
	if t == nil {
		return refused(p.Tab, fault.TabClosed, "there is no tab "+p.Tab), nil
	}
	result, err := b.runIn(ctx, t, p)
	if err != nil {
		return program.Result{}, err
	}
	b.refresh(ctx)
	result.Tab = t.id
	result.Opened = b.openedSince(before, t)
	result.Dialogs = append(b.takeDialogs(), result.Dialogs...)
	return result, nil
}

// refresh asks for what Chrome does not tell by itself: a title that came after its document.
func (b *Browser) refresh(ctx context.Context) {
	list, err := call(ctx, b.proc.conn, "", target.GetTargets, target.GetTargetsParams{Filter: pages()})
	if err != nil {
		return // the addresses and titles that were told stay
	}
	for _, info := range list.TargetInfos {
		b.describe(info)
	}
}

func (b *Browser) runIn(ctx context.Context, t *tab, p program.Program) (program.Result, error) {
	late := time.NewTimer(time.Duration(p.DeadlineMS) * time.Millisecond)
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
		return refused(t.id, fault.Unavailable, "the tab does not answer"), nil
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	defer t.onGone(cancel)()
	result := t.executor.Run(running, p)
	if result.Error == nil {
		return result, nil // perhaps the page closed itself, as its last act
	}
	return b.cutShort(ctx, t, result)
}

// cutShort says what a failure really was: the end of the session, of the tab, of the caller's patience, or
// the program's own.
func (b *Browser) cutShort(ctx context.Context, t *tab, result program.Result) (program.Result, error) {
	if isClosed(b.proc.conn.closed) {
		select { // Chrome has ended; the session's own end is on its way, and knows why
		case <-b.over:
		case <-ctx.Done():
		}
	}
	switch {
	case isClosed(b.over):
		return program.Result{}, b.ended()
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

func (b *Browser) ended() error {
	return failure(fault.SessionEnded, "the session is over")
}

// tab returns the named tab, a new one, or nil.
func (b *Browser) tab(ctx context.Context, name string) (*tab, error) {
	if name == program.NewTab {
		return b.openTab(ctx)
	}
	return b.named(name), nil
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
		b.dialogs = append(b.dialogs, program.Dialog{Type: string(d.Type), Message: d.Message})
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
	if isClosed(b.over) {
		return b.ended()
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
