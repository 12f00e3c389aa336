package relay

import (
	"context"
	"time"

	"chaperone/relay/endpoint"
	"chaperone/relay/program"
)

var _ endpoint.Edge = (*Browser)(nil)

// Hold attaches to a tab for raw commands until the Wire is released, across reconnects of the same browser. It
// waits for a lost link as Run does, and for the extension as long as ctx lets it. The error is ctx's or a
// *program.Error: update_required when the extension has no raw road, tab_closed for a tab that is not in the
// list, forbidden for another session's and for one that may be read only, bad_request for one that is held
// already, and what the extension refuses. The sink hears of the tab until Release has returned; it must not
// Release from within one of its calls.
func (b *Browser) Hold(ctx context.Context, tab string, sink endpoint.Sink) (endpoint.Wire, error) {
	if _, err := b.link(ctx); err != nil {
		return nil, err
	}
	h, l, err := b.claim(tab, sink)
	if err != nil {
		return nil, err
	}
	if err := h.await(ctx, l); err != nil {
		h.Release()
		return nil, err
	}
	return h, nil
}

// claim takes the tab's one place in the slot and asks the extension for it.
func (b *Browser) claim(tab string, sink endpoint.Sink) (*hold, *link, error) {
	b.hub.slotsMu.Lock()
	defer b.hub.slotsMu.Unlock()
	s := b.slot()
	switch {
	case s == nil:
		return nil, nil, b.why
	case !s.live():
		return nil, nil, errNoLink()
	}
	if refused := s.refusal(b.session, tab); refused != nil {
		return nil, nil, refused
	}
	if other := s.holds[tab]; other != nil && other.browser != b {
		return nil, nil, errForeign()
	} else if other != nil {
		return nil, nil, errHeld()
	}
	h := newHold(b, tab, sink)
	s.holds[tab] = h
	s.link.hold(h)
	return h, s.link, nil
}

// await waits for the first answer.
func (h *hold) await(ctx context.Context, l *link) error {
	select {
	case <-h.settled:
	case <-ctx.Done():
		return ctx.Err()
	case <-l.over:
	}
	held, why := h.wasHeld()
	if !held {
		return why
	}
	return nil
}

// hold asks the extension to hold a tab. Hub.slotsMu is held.
func (l *link) hold(h *hold) {
	h.waitsForTab = false
	h.ask(l)
	c := l.calls.startFor(h, kindHeld, nil)
	if c == nil {
		return // the link has ended; the next one is asked
	}
	l.holds.add(h)
	l.tell(outward{T: kindHold, ID: c.id, Session: h.browser.session, Tab: h.tab})
}

// answerHold takes the answer to hold, from the read loop.
func (l *link) answerHold(c *call, a answer) error {
	if !l.calls.take(c) {
		return nil
	}
	h := c.hold
	if a.head.T == kindError {
		l.refuseHold(h, a.trouble())
		return nil
	}
	if a.head.Tab != h.tab {
		return errProtocol()
	}
	h.older(l)
	h.attached(l, a.head.Target)
	return nil
}

// older lets go of the link that held the tab before l: its end may not have been told yet.
func (h *hold) older(l *link) {
	h.tellMu.Lock()
	old := h.on
	h.tellMu.Unlock()
	if old != nil && old != l {
		h.lost(old)
	}
}

// refuseHold ends a hold that the extension refuses. One that could not be attached for now, after it was held on
// an earlier link, waits for the tab.
func (l *link) refuseHold(h *hold, why *program.Error) {
	h.older(l)
	held, _ := h.wasHeld()
	hub := l.hub
	hub.slotsMu.Lock()
	s := hub.slots[l.place]
	isMine := s != nil && s.holds[h.tab] == h
	if held && isMine && s.link == l && why.Code == codeTabSuspended {
		h.waitsForTab = true
		h.setWay(nil, why)
		hub.slotsMu.Unlock()
		h.waits(why)
		return
	}
	if isMine {
		delete(s.holds, h.tab)
	}
	hub.slotsMu.Unlock()
	l.holds.remove(h)
	h.gone(why)
}

// Target is the page's CDP target id.
func (h *hold) Target() string {
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	return h.target
}

// Release lets the tab go. What is under way is answered before it returns.
func (h *hold) Release() {
	h.browser.drop(h)
	h.tellMu.Lock()
	defer h.tellMu.Unlock()
	h.end(errReleased())
}

// drop takes a hold out of its slot and tells the extension.
func (b *Browser) drop(h *hold) {
	b.hub.slotsMu.Lock()
	defer b.hub.slotsMu.Unlock()
	if s := b.hub.slots[b.place]; s != nil && s.holds[h.tab] == h {
		s.drop(h)
	}
}

// rest lets a tab go that tells more than its clients can be told, and has it held again later.
func (b *Browser) rest(h *hold) {
	b.hub.slotsMu.Lock()
	defer b.hub.slotsMu.Unlock()
	s := b.hub.slots[b.place]
	if s == nil || s.holds[h.tab] != h {
		return
	}
	s.drop(h)
	s.holds[h.tab] = h
	h.waitsForTab, h.restsUntil = true, time.Now().Add(restWait)
}

// wakes reports whether a tab that could not be attached is to be asked for again.
func (h *hold) wakes() bool { return h.waitsForTab && !time.Now().Before(h.restsUntil) }

// drop is called with Hub.slotsMu held.
func (s *slot) drop(h *hold) {
	delete(s.holds, h.tab)
	if s.live() && s.link.holds.remove(h) {
		s.link.tell(outward{T: kindDrop, Session: h.browser.session, Tab: h.tab})
	}
}

// refusal says why a session cannot hold a tab over the live link. Hub.slotsMu is held.
func (s *slot) refusal(session, tab string) *program.Error {
	if !s.link.hasCDP {
		return errOutdated()
	}
	for _, t := range s.tabs {
		switch {
		case t.ID != tab:
		case t.Session != "" && t.Session != session:
			return errForeign()
		case lower(s.link.level, t.Level) != program.LevelAct:
			return errTooLow()
		default:
			return nil
		}
	}
	return errNoTab()
}

// judgeHolds ends what may not be held any more and asks again for what can be held again. Hub.slotsMu is held.
func (h *Hub) judgeHolds(s *slot) {
	if !s.live() {
		return
	}
	for _, held := range s.holds {
		if why := s.refusal(held.browser.session, held.tab); why != nil {
			s.drop(held)
			h.owe(func() { held.gone(why) })
		} else if held.wakes() && s.isReady(held.tab) {
			s.link.hold(held)
		}
	}
}

// holdAgain asks for the tabs that could not be attached yet, whatever the list says of them.
func (h *Hub) holdAgain(l *link) {
	h.slotsMu.Lock()
	defer h.slotsMu.Unlock()
	s := h.slots[l.place]
	if s == nil || s.link != l {
		return
	}
	for _, held := range s.holds {
		if held.wakes() {
			l.hold(held)
		}
	}
}

func (s *slot) isReady(tab string) bool {
	for _, t := range s.tabs {
		if t.ID == tab {
			return t.Suspended == ""
		}
	}
	return false
}

// endHolds ends the holds of a session, or of all (nil). The extension hears of it otherwise. Hub.slotsMu is held.
func (h *Hub) endHolds(s *slot, b *Browser, why *program.Error) {
	for tab, held := range s.holds {
		if b != nil && held.browser != b {
			continue
		}
		delete(s.holds, tab)
		if s.link != nil {
			s.link.holds.remove(held)
		}
		h.owe(func() { held.gone(why) })
	}
}
