package endpoint

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"chaperone/relay/program"
)

const (
	// maxUnanswered commands of clients may have no answer in one tab, those of clients that left counted too, and
	// maxUnsentBytes of them may not have been sent: more are refused.
	maxUnanswered  = 4096
	maxUnsentBytes = 64 << 20
	// mostUnanswered is what a tab may owe with the router's own commands: one that owes more is let go.
	mostUnanswered = 6144
)

// command is one CDP command on its way to a tab. then is called exactly once, under router.mu.
type command struct {
	hold   *hold
	number int // the order in which the hold was asked
	child  string
	method string
	params []byte   // nil once it was sent
	asker  *request // the client's request that it is for; nil for the router's own, which do not wait at the gate
	then   func(result []byte, err error)
	isDone bool
}

func (c *command) isOwn() bool { return c.asker == nil }

// isAwaited reports whether a client's session still waits for the answer.
func (c *command) isAwaited() bool { return !c.isOwn() && !c.asker.isDone }

// next is the command that is to be sent, with its parameters: the command does not keep them for an answer that may
// never come.
func (h *hold) next() (*command, []byte) {
	h.router.mu.Lock()
	defer h.router.mu.Unlock()
	if len(h.queue) == 0 || h.isOver {
		return nil, nil
	}
	c := h.queue[0]
	h.queue[0] = nil
	h.queue = h.queue[1:]
	params := c.params
	h.lighten(c)
	return c, params
}

// lighten takes the parameters away from a command that is sent or done.
func (h *hold) lighten(c *command) {
	if !c.isOwn() {
		h.unsent -= len(c.params)
	}
	c.params = nil
}

// notSent fails a command, unless the browser was lost meanwhile: then it waits for it as all others do.
func (h *hold) notSent(c *command, params []byte, err error) {
	h.router.mu.Lock()
	defer h.router.mu.Unlock()
	lost, isTold := errors.AsType[*program.Error](err)
	isLost := isTold && lost.Code == codeNotConnected && h.gate != nil && h.asleep != nil
	if c.isDone || !isLost || !c.isAwaited() {
		h.router.settleLocked(c, nil, err)
		return
	}
	c.params = params
	h.unsent += len(params)
	at, _ := slices.BinarySearchFunc(h.gate.kept, c, func(a, b *command) int { return cmp.Compare(a.number, b.number) })
	h.gate.kept = slices.Insert(h.gate.kept, at, c)
}

// ask queues a command for the tab.
func (h *hold) ask(c *command) {
	c.hold = h
	h.number++
	c.number = h.number
	if !h.isOver && !h.hasRoomFor(c) {
		return
	}
	h.inFlight[c] = struct{}{}
	if !c.isOwn() {
		h.unsent += len(c.params)
	}
	switch {
	case h.isOver:
		h.router.settleLocked(c, nil, errTabGone())
	case h.gate != nil && !c.isOwn():
		h.gate.kept = append(h.gate.kept, c)
	case h.asleep != nil:
		h.router.settleLocked(c, nil, h.asleep)
	default:
		h.queue = append(h.queue, c)
		signal(h.ready)
	}
}

// hasRoomFor answers and refuses a client's command that is one too many. A tab that does not even answer the router
// any more is let go: all that it owes is forgotten with it.
func (h *hold) hasRoomFor(c *command) bool {
	isHeavy := h.unsent > 0 && h.unsent+len(c.params) > maxUnsentBytes
	switch {
	case c.isOwn() && len(h.inFlight) >= mostUnanswered:
		h.inFlight[c] = struct{}{}
		h.giveUp(errSilent())
		return false
	case !c.isOwn() && (len(h.inFlight) >= maxUnanswered || isHeavy):
		c.isDone = true
		c.params = nil
		c.then(nil, errTooMuchOfTab())
		return false
	}
	return true
}

func errTooMuchOfTab() *failure {
	return refusal("the tab owes its clients, those who left counted too, %d answers, or %d MiB of their commands are not sent yet: wait for some",
		maxUnanswered, maxUnsentBytes>>20)
}

func errSilent() *failure { return refusal("the tab answers nothing any more, and was let go") }

// giveUp ends the hold of a tab that is still there: clients see it go and come anew.
func (h *hold) giveUp(why error) {
	if h.isOver {
		return
	}
	h.cut(why)
	h.router.drop(h.tab)
	h.router.spawnNow(func(context.Context) { h.router.look() })
}

func (r *router) settle(c *command, result []byte, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settleLocked(c, result, err)
}

func (r *router) settleLocked(c *command, result []byte, err error) {
	if c.isDone {
		return
	}
	c.isDone = true
	delete(c.hold.inFlight, c)
	c.hold.lighten(c)
	c.then(result, err)
}

// leftBy answers what a session or client that is gone has asked for, as far as isIts says so. What waits at the gate is
// not done any more: nobody would take back what it sets. What was sent counts until the tab answers, so that whoever
// comes back has no more than who stayed.
func (h *hold) leftBy(isIts func(*request) bool) {
	if g := h.gate; g != nil {
		kept := g.kept
		g.kept = nil
		for _, c := range kept {
			if isIts(c.asker) {
				h.router.settleLocked(c, nil, errDetached())
			} else {
				g.kept = append(g.kept, c)
			}
		}
	}
	for c := range h.inFlight {
		if !c.isOwn() && isIts(c.asker) {
			c.asker.fail(errDetached())
			c.asker.params = nil
		}
	}
}

// errDetached is Chrome's own answer to what was under way in a session that ended.
func errDetached() *failure {
	return &failure{Code: codeServer, Message: "Inspected target navigated or closed"}
}
