package chrome

import (
	"context"
	"errors"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"chaperone/relay/program"
)

const (
	// answerTimeout is how long a running Chrome may take for what takes it milliseconds, before it is given up.
	answerTimeout = 10 * time.Second
	// refreshTimeout bounds what is asked after a program: its answer does not wait for a Chrome that hangs.
	refreshTimeout = 500 * time.Millisecond
)

var (
	errHung        = errors.New("the browser does not answer")
	errNoRenderers = errors.New("the browser cannot start pages any more")
)

// within bounds what is asked of Chrome itself, never of a page. A Chrome that does not answer is given up: its
// sessions end, and the next one gets another.
func (p *process) within(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, p.patience, errHung)
	defer cancel()
	err := ask(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errHung) {
		p.conn.fail(errHung)
		return errHung
	}
	return err
}

// isEnding reports that Chrome or its confine process is gone, or given up.
func (p *process) isEnding() bool {
	return isClosed(p.conn.closed) || isClosed(p.warden.ended) || isClosed(p.dead)
}

// checkRenderers gives up a Chrome that cannot start the process of a page: every tab would crash at once, and every
// navigation that needs one fails in words that mean something else. It tries twice.
func (p *process) checkRenderers(ctx context.Context) {
	for range 2 {
		if p.canRender(ctx) {
			return
		}
	}
	p.conn.fail(errNoRenderers)
}

// canRender starts a page that is no session's. It is true also where that cannot be told.
func (p *process) canRender(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, partTimeout)
	defer cancel()
	apart, err := call(ctx, p.conn, "", target.CreateBrowserContext, target.CreateBrowserContextParams{DisposeOnDetach: new(true)})
	if err != nil {
		return true
	}
	defer post(p.conn, "", target.DisposeBrowserContext, target.DisposeBrowserContextParams(apart))
	made, err := call(ctx, p.conn, "", target.CreateTarget, target.CreateTargetParams{URL: "about:blank", BrowserContextID: apart.BrowserContextID, NewWindow: new(true)})
	if err != nil {
		return true
	}
	attached, err := call(ctx, p.conn, "", target.AttachToTarget, target.AttachToTargetParams{TargetID: made.TargetID, Flatten: new(true)})
	if err == nil {
		_, err = call(ctx, p.conn, attached.SessionID, runtime.Enable, cdp.Empty{})
	}
	_, isRefused := errors.AsType[*program.CallError](err)
	return !isRefused // a page that has crashed is closed, and its calls fail with it
}
