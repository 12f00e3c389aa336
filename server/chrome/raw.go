package chrome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/target"

	"chaperone/relay/endpoint"
	"chaperone/server/fault"
)

var _ endpoint.Edge = (*Browser)(nil)

var errHeld = errors.New("the tab is held already")

// Hold attaches to a tab for the session's CDP clients, by a target session of its own: whatever they change in the
// tab ends with it, and programs run beside it. A page that was closed or has crashed is gone, never reset; one
// that tells more than its Chrome can carry sleeps for a while, and is reset. Errors are *program.Error: tab_closed,
// session_ended, unavailable.
func (b *Browser) Hold(ctx context.Context, tab string, sink endpoint.Sink) (endpoint.Wire, error) {
	t := b.named(tab)
	if t == nil {
		return nil, b.notHeld(ctx, nil, errNoTab)
	}
	h := newHold(b, t, sink)
	if err := h.claim(); err != nil {
		return nil, b.notHeld(ctx, t, err)
	}
	if err := h.attach(ctx); err != nil {
		h.Release()
		return nil, b.notHeld(ctx, t, err)
	}
	return h, nil
}

// notHeld says why a tab cannot be held.
func (b *Browser) notHeld(ctx context.Context, t *tab, err error) error {
	switch {
	case isClosed(b.over):
		return b.ended()
	case t == nil || isClosed(t.gone):
		return failure(fault.TabClosed, "the tab is closed")
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errHeld):
		return failure(fault.Busy, errHeld.Error())
	}
	return failure(fault.Unavailable, "the tab cannot be attached to")
}

// claim makes h the tab's one hold.
func (h *hold) claim() error {
	h.browser.mu.Lock()
	defer h.browser.mu.Unlock()
	switch {
	case isClosed(h.tab.gone) || isClosed(h.browser.over):
		return errNoTab
	case h.tab.hold != nil:
		return errHeld
	}
	h.tab.hold = h
	return nil
}

// holds lists the tabs that clients use; mu must be held.
func (b *Browser) holds() []*hold {
	var list []*hold
	for _, t := range b.tabs {
		if t.hold != nil {
			list = append(list, t.hold)
		}
	}
	return list
}

// attach opens the hold's target session and lets its frames and workers come in.
func (h *hold) attach(ctx context.Context) error {
	return h.browser.proc.within(ctx, func(ctx context.Context) error {
		targetSession, err := h.browser.attach(ctx, h.tab.targetID)
		if err != nil {
			return err
		}
		if !h.begin(targetSession) {
			post(h.conn, "", target.DetachFromTarget, target.DetachFromTargetParams{SessionID: targetSession})
			return errNoTab
		}
		if _, err := h.conn.call(ctx, targetSession, target.SetAutoAttach.Method, autoAttach(nil)); err != nil {
			return fmt.Errorf("attach to frames and workers: %w", err)
		}
		return nil
	})
}

// Target is the page's CDP target id.
func (h *hold) Target() string { return string(h.tab.targetID) }

// Send passes a client's command on. It waits only while Chrome does not read its pipe.
func (h *hold) Send(ctx context.Context, child, method string, params []byte, take func(result []byte, err error)) error {
	targetSession, err := h.way(child)
	if err != nil {
		return err
	}
	switch method {
	case target.SetAutoAttach.Method:
		params = autoAttach(params)
	case emulation.SetFocusEmulationEnabled.Method:
		// It stays on, whatever a client wants, and is no target session's to end that ends before the tab does.
		params = json.RawMessage(`{"enabled":true}`)
		if child == "" {
			targetSession = h.tab.targetSession
		}
	}
	err = h.conn.sendPatiently(ctx, targetSession, method, params, func(r reply) { h.answer(method, r, take) })
	if err != nil && ctx.Err() == nil {
		return h.cutOff()
	}
	return err
}

// autoAttach is what a client asks of auto-attachment, with what the edge needs: children always come, and never a
// service worker, which would be left paused. Nil asks for nothing besides.
func autoAttach(params []byte) json.RawMessage {
	var asked struct {
		AutoAttach             bool `json:"autoAttach"`
		WaitForDebuggerOnStart bool `json:"waitForDebuggerOnStart"`
	}
	wait := "false"
	if len(params) > 0 && json.Unmarshal(params, &asked) == nil && asked.AutoAttach && asked.WaitForDebuggerOnStart {
		wait = "true"
	}
	return json.RawMessage(`{"autoAttach":true,"waitForDebuggerOnStart":` + wait + `,"flatten":true,"filter":[` +
		`{"type":"service_worker","exclude":true},{"type":"browser","exclude":true},{"type":"tab","exclude":true},{}]}`)
}

// Release lets the tab go at once; Chrome withdraws in its own time what the clients changed, before it does what it
// is asked afterwards. It must not be called by the sink's methods, nor under a lock that they take.
func (h *hold) Release() {
	h.browser.mu.Lock()
	if h.tab.hold == h {
		h.tab.hold = nil
	}
	h.browser.mu.Unlock()
	h.tell(func() { h.silent = true })
	if sessions := h.finish(); len(sessions) > 0 {
		h.withdraw(sessions)
	}
}

// withdraw ends the hold's target sessions: with the page's own Chrome ends those beneath it and lets go on what waits
// there. What their overrides took away from the tab is given back.
func (h *hold) withdraw(sessions []target.SessionID) {
	own := sessions[len(sessions)-1]
	post(h.conn, "", target.DetachFromTarget, target.DetachFromTargetParams{SessionID: own})
	for _, targetSession := range sessions {
		h.browser.proc.endTargetSession(targetSession)
	}
	h.browser.refit(h.tab)
}
