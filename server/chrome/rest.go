package chrome

import (
	"encoding/json"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

const (
	// A tab that tells too much rests first so long, and twice as long when it has to again within calm, up to mostRest.
	firstRest = 5 * time.Second
	mostRest  = 5 * time.Minute
	calm      = time.Minute
)

// rests are how long a tab rests, and when it may be attached again.
type rests struct {
	length time.Duration
	until  time.Time
	timer  *time.Timer
}

func (r *rests) begin(now time.Time, wake func()) {
	if now.Sub(r.until) > calm {
		r.length = firstRest
	} else {
		r.length = min(2*r.length, mostRest)
	}
	r.until = now.Add(r.length)
	r.timer = time.AfterFunc(r.length, wake)
}

func (r *rests) end() {
	if r.timer != nil {
		r.timer.Stop()
	}
}

// rest lets the tab go for a while: Chrome does the work of all its tabs' events in one thread, and other sessions wait
// for what this tab makes it do. The connection's goroutine calls it.
func (h *hold) rest(now time.Time) {
	sessions, why := h.fallAsleep(now)
	if len(sessions) == 0 {
		return
	}
	h.withdraw(sessions)
	h.tell(func() { h.sink.Asleep(why) })
	h.watch()
}

// watch closes the tab if Chrome does not come to itself by letting it go: what a page does can keep Chrome from all
// else without any client. That is well before Chrome itself is given up, with everybody's tabs.
func (h *hold) watch() {
	last := time.AfterFunc(h.browser.proc.patience/2, func() {
		post(h.conn, "", target.CloseTarget, target.CloseTargetParams{TargetID: h.tab.targetID})
		h.browser.dropFor(func(open *tab) bool { return open == h.tab },
			failure(fault.TabClosed, "the page kept its browser from everything else, and was closed"))
	})
	err := h.conn.ask("", browser.GetVersion.Method, cdp.Empty{}, func(reply) { last.Stop() })
	if err != nil {
		last.Stop()
	}
}

// fallAsleep answers the target sessions to be ended, the page's last; none where the hold is over or asleep already.
func (h *hold) fallAsleep(now time.Time) ([]target.SessionID, *program.Error) {
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	if h.over || h.asleep != nil {
		return nil, nil
	}
	h.rests.begin(now, h.wake)
	h.asleep = failure(fault.TabSuspended, "the page tells more than "+
		"its browser can carry; it is attached again in "+h.rests.length.String())
	return h.takeSessions(), h.asleep
}

// takeSessions empties the list of target sessions; nowMu must be held.
func (h *hold) takeSessions() []target.SessionID {
	list := make([]target.SessionID, 0, len(h.children)+1)
	for child := range h.children {
		list = append(list, child)
	}
	clear(h.children)
	if h.targetSession != "" {
		list = append(list, h.targetSession)
	}
	h.targetSession = ""
	return list
}

// wake asks for a new target session. Nobody waits for it: the answer may be long in a Chrome that is still busy.
func (h *hold) wake() {
	flat := target.AttachToTargetParams{TargetID: h.tab.targetID, Flatten: new(true)}
	if h.isOver() {
		return
	}
	_ = h.conn.ask("", target.AttachToTarget.Method, flat, h.rejoin) // fails only where the connection has, and all with it
}

// rejoin tells of a tab that is attached anew before its children come in.
func (h *hold) rejoin(r reply) {
	var made target.AttachToTargetResult
	if r.err != nil || json.Unmarshal(r.result, &made) != nil {
		h.sleepOn()
		return
	}
	if !h.begin(made.SessionID) {
		post(h.conn, "", target.DetachFromTarget, target.DetachFromTargetParams(made))
		return
	}
	if err := h.conn.ask(made.SessionID, target.SetAutoAttach.Method, autoAttach(nil), nil); err != nil {
		return
	}
	h.tell(func() { h.sink.Reset(h.Target()) })
}

// sleepOn tries again later; a tab that is gone ends the hold by itself.
func (h *hold) sleepOn() {
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	if !h.over {
		h.rests.begin(time.Now(), h.wake)
	}
}

func (h *hold) isOver() bool {
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	return h.over
}
