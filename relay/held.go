package relay

import (
	"encoding/json"
	"sync"
	"time"

	"chaperone/relay/endpoint"
	"chaperone/relay/program"
)

// hold is one tab that a session's clients use, over as many links as it takes. It is asked for on each link
// (hold.go), and what that link tells of it reaches the sink from the link's read loop.
//
// Locks are taken in this order: tellMu, Hub.slotsMu, nowMu, calls.openMu.
type hold struct {
	browser *Browser
	tab     string
	sink    endpoint.Sink
	route   string        // session and tab, as they stand in a command's header
	settled chan struct{} // closed with the first answer, or the end
	raw     *gate         // one place a raw command under way: no tab's unanswered ones keep another's back

	// Hub.slotsMu guards both: the extension could not attach yet, and is asked again when the tab is ready, but not
	// before it has rested.
	waitsForTab bool
	restsUntil  time.Time

	tellMu  sync.Mutex // one call of the sink at a time; guards the rest of this block
	on      *link      // which holds it, or held it last; nil before the first answer
	isAwake bool       // as the sink believes
	isOver  bool

	nowMu  sync.Mutex     // guards the rest
	asked  *link          // the newest link that was asked to hold it
	now    *link          // commands go over it; nil while they cannot
	why    *program.Error // while now is nil
	target string
}

func newHold(b *Browser, tab string, sink endpoint.Sink) *hold {
	name, _ := json.Marshal(tab) //nolint:errchkjson // a string is always written
	return &hold{
		browser: b, tab: tab, sink: sink, settled: make(chan struct{}), raw: newGate(maxRaw), why: errNoLink(),
		route: `,"session":"` + b.session + `","tab":` + string(name),
	}
}

// attached: the tab is attached on l, for the first time or anew.
func (h *hold) attached(l *link, target string) {
	h.tellMu.Lock()
	defer h.tellMu.Unlock()
	if h.isOver {
		return
	}
	h.sleep(errAnew(), errMoved())
	isFirst := h.on == nil
	h.on, h.isAwake = l, true
	h.setWay(l, nil)
	h.setTarget(target)
	if isFirst {
		close(h.settled)
		return
	}
	h.sink.Reset(target)
}

// revived is attached of its own accord, which a link can say of what it holds alone.
func (h *hold) revived(l *link, target string) {
	h.tellMu.Lock()
	on := h.on
	h.tellMu.Unlock()
	if on == l {
		h.attached(l, target)
	}
}

// slept: the extension lost the attachment for now.
func (h *hold) slept(l *link, why *program.Error) {
	h.tellMu.Lock()
	defer h.tellMu.Unlock()
	if h.on == l {
		h.sleep(why, why)
	}
}

// lost: l has ended, and with it whatever was under way on it.
func (h *hold) lost(l *link) {
	h.tellMu.Lock()
	defer h.tellMu.Unlock()
	if h.on == l {
		h.sleep(errLinkDied(), errLinkLost())
	}
	if !h.isOver {
		h.setNoLink(l)
	}
	h.fail(l, errLinkDied())
}

// sleep tells once that the tab is not attached: underWay to what was sent and has no answer, why to all that is not
// sent any more. tellMu is held.
func (h *hold) sleep(underWay, why *program.Error) {
	if !h.isAwake {
		return
	}
	h.isAwake = false
	h.setWay(nil, why)
	h.fail(h.on, underWay)
	h.sink.Asleep(why)
}

// waits tells that the browser is there again and why the tab sleeps all the same.
func (h *hold) waits(why *program.Error) {
	h.tellMu.Lock()
	defer h.tellMu.Unlock()
	if !h.isAwake && !h.isOver {
		h.sink.Asleep(why)
	}
}

// gone ends the hold, and tells the sink so unless it has never been held.
func (h *hold) gone(why *program.Error) {
	h.tellMu.Lock()
	defer h.tellMu.Unlock()
	if h.end(why) && h.on != nil {
		h.sink.Gone(why)
	}
}

// end is the hold's end, once. Everything under way is answered. tellMu is held.
func (h *hold) end(why *program.Error) bool {
	if h.isOver {
		return false
	}
	h.isOver, h.isAwake = true, false
	asked := h.setWay(nil, why)
	h.fail(h.on, why)
	h.fail(asked, why)
	if h.on == nil {
		close(h.settled)
	}
	return true
}

// fail answers what is under way on l. tellMu is held.
func (h *hold) fail(l *link, why *program.Error) {
	if l == nil {
		return
	}
	for _, c := range l.calls.takeAll(h) {
		if c.reply != nil {
			c.reply(nil, why)
		}
	}
}

// event is one of the tab's, from l's read loop. What comes while the tab is not attached is of an earlier time.
func (h *hold) event(l *link, child, method string, params []byte) {
	h.tellMu.Lock()
	defer h.tellMu.Unlock()
	if h.isAwake && h.on == l && !h.sink.Event(child, method, params) {
		h.sleep(errTooTalkative(), errTooTalkative())
		h.browser.rest(h)
	}
}

// replied answers one raw command, unless it has been answered meanwhile.
func (h *hold) replied(l *link, c *call, a answer) {
	h.tellMu.Lock()
	defer h.tellMu.Unlock()
	if l.calls.take(c) {
		c.reply(a.result())
	}
}

// wasHeld reports whether the tab was ever held, and else why not.
func (h *hold) wasHeld() (bool, *program.Error) {
	h.tellMu.Lock()
	defer h.tellMu.Unlock()
	if h.on != nil {
		return true, nil
	}
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	return false, h.why
}

// setWay opens the way for commands, or closes it and says why. It answers the link that was asked last.
func (h *hold) setWay(l *link, why *program.Error) (asked *link) {
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	h.now, h.why = l, why
	return h.asked
}

// setNoLink says why commands fail from l's end on, until a newer link has said something else.
func (h *hold) setNoLink(l *link) {
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	if h.asked == l {
		h.why = errLinkLost()
	}
}

func (h *hold) setTarget(target string) {
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	h.target = target
}

// ask notes that l is asked to hold the tab.
func (h *hold) ask(l *link) {
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	h.asked = l
}

// way is the link that commands go over now.
func (h *hold) way() (*link, error) {
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	if h.now == nil {
		return nil, h.why
	}
	return h.now, nil
}
