package chrome

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"chaperone/relay/endpoint"
	"chaperone/relay/program"
	"chaperone/server/fault"
)

// codeNoSession is Chrome's own code for a target session that is not there.
const codeNoSession = -32001

// hold is a tab that CDP clients use. Its sink is told by the connection's goroutine, and by who ends it.
type hold struct {
	browser *Browser
	tab     *tab
	conn    *conn
	sink    endpoint.Sink

	toldMu sync.Mutex // one at a time, and none after the last
	silent bool

	nowMu         sync.Mutex
	over          bool
	asleep        *program.Error // why no command is taken for now
	targetSession target.SessionID
	children      map[target.SessionID]struct{}
	rests         rests

	meter meter // the connection's goroutine's
	lag   lag   // as well
}

func newHold(b *Browser, t *tab, sink endpoint.Sink) *hold {
	return &hold{browser: b, tab: t, conn: b.proc.conn, sink: sink, children: map[target.SessionID]struct{}{}}
}

// begin lets events come; false when the hold is over already.
func (h *hold) begin(targetSession target.SessionID) bool {
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	if h.over {
		return false
	}
	h.targetSession, h.asleep = targetSession, nil
	h.browser.proc.listen(targetSession, h.take)
	return true
}

// take is the sink of the hold's target session and of all beneath it.
func (h *hold) take(e event) {
	on(e, target.AttachedToTarget, func(t target.EventAttachedToTarget) { h.welcome(t.SessionID) })
	on(e, target.DetachedFromTarget, func(t target.EventDetachedFromTarget) { h.part(t.SessionID) })
	if h.meter.isFlood(e) || isDroppable(e.Method) && h.lag.isLate(h.conn, e.read) {
		h.meter = meter{}
		h.rest(time.Now())
		return
	}
	switch {
	case e.missed > 0:
	case e.Method == debugger.Paused.Method:
		post(h.conn, e.TargetSession, debugger.Resume, debugger.ResumeParams{})
	case e.Method == debugger.Resumed.Method:
	default:
		h.pass(e)
	}
}

// pass tells the clients of an event; a tab that tells them more than they can be told rests.
func (h *hold) pass(e event) {
	params := h.browser.proc.options.Table.Strip(e.Method, e.Params)
	if e.Method == page.JavascriptDialogOpening.Method {
		params = asWithWindow(params)
	}
	isTaken := true
	h.tell(func() { isTaken = h.sink.Event(h.child(e.TargetSession), e.Method, params) })
	if !isTaken {
		h.rest(time.Now())
	}
}

// asWithWindow tells of a dialog as a browser with a window would: DevTools' own code, which some clients are made of,
// dismisses every dialog of one without, before the client can answer. A quote inside a JSON text has a backslash before
// it, so nothing that a page says looks like the member.
func asWithWindow(dialog []byte) []byte {
	return bytes.Replace(dialog, []byte(`"hasBrowserHandler":false`), []byte(`"hasBrowserHandler":true`), 1)
}

// welcome notes a child and lets its own children come in, before any client can ask it for that.
func (h *hold) welcome(child target.SessionID) {
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	h.children[child] = struct{}{}
	if err := h.conn.ask(child, target.SetAutoAttach.Method, autoAttach(nil), nil); err != nil {
		h.conn.fail(err)
	}
}

func (h *hold) part(child target.SessionID) {
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	delete(h.children, child)
}

// child is the name of a target session: Chrome's own id, empty for the page.
func (h *hold) child(targetSession target.SessionID) string {
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	if targetSession == h.targetSession {
		return ""
	}
	return string(targetSession)
}

// way finds the target session that a command is for.
func (h *hold) way(child string) (target.SessionID, error) {
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	if h.over {
		return "", h.cutOff()
	}
	if h.asleep != nil {
		return "", h.asleep
	}
	if child == "" {
		return h.targetSession, nil
	}
	if _, ok := h.children[target.SessionID(child)]; !ok {
		return "", &program.CallError{Code: codeNoSession, Message: "Session with given id not found."}
	}
	return target.SessionID(child), nil
}

// tell calls the sink, unless it has heard its last.
func (h *hold) tell(say func()) {
	h.toldMu.Lock()
	defer h.toldMu.Unlock()
	if !h.silent {
		say()
	}
}

// answer passes a reply on, without cookies and credentials, as events are.
func (h *hold) answer(method string, r reply, take func([]byte, error)) {
	err := r.err
	if _, refused := errors.AsType[*program.CallError](err); err != nil && !refused {
		err = h.cutOff()
	}
	result := h.browser.proc.options.Table.Strip(method, r.result)
	h.tell(func() { take(result, err) })
}

// cutOff says why commands do not reach the tab any more.
func (h *hold) cutOff() *program.Error {
	if isClosed(h.browser.over) || h.browser.proc.isEnding() {
		return h.browser.sessionEnded()
	}
	return failure(fault.TabClosed, "the tab was closed or has crashed")
}

// end tells the clients that the tab is gone, after the failure of what was under way.
func (h *hold) end(why *program.Error) {
	for _, targetSession := range h.finish() {
		h.browser.proc.endTargetSession(targetSession)
	}
	h.tell(func() {
		h.silent = true
		h.sink.Gone(why)
	})
}

// finish lets no command come any more, once, and answers the target sessions there are, the page's last.
func (h *hold) finish() []target.SessionID {
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	if h.over {
		return nil
	}
	h.over = true
	h.rests.end()
	return h.takeSessions()
}
