package relay

import (
	"slices"
	"time"

	"chaperone/relay/program"
)

// place is whose link it is: one account's browser in one project.
type place struct{ account, project string }

// slot is one place's link, now or lost, and the sessions that use it. Hub.slotsMu guards it.
type slot struct {
	place    place
	link     *link         // nil while lost
	changed  chan struct{} // closed, and made anew, when link changes
	browser  BrowserInfo   // of the link, or of the last one
	tabs     []program.Tab // that browser's newest list
	told     []program.Tab // of which the events have told
	listed   chan struct{} // closed, and made anew, when tabs changes
	sessions map[string]*Browser
	holds    map[string]*hold // by tab
}

// slotOf makes the slot at first. slotsMu is held.
func (h *Hub) slotOf(p place) *slot {
	s := h.slots[p]
	if s == nil {
		s = &slot{
			place: p, changed: make(chan struct{}), listed: make(chan struct{}),
			sessions: map[string]*Browser{}, holds: map[string]*hold{},
		}
		h.slots[p] = s
	}
	return s
}

func (s *slot) live() bool { return s.link != nil && !s.link.dead() }

func (s *slot) put(l *link) {
	s.link = l
	close(s.changed)
	s.changed = make(chan struct{})
}

// endSessions is called with slotsMu held.
func (h *Hub) endSessions(s *slot, why *program.Error) {
	h.endHolds(s, nil, why)
	for _, b := range s.sessions {
		b.end(why)
	}
	clear(s.sessions)
}

// seat gives a paired link its place and tells its extension so. Another browser in the place is
// replaced, and the sessions that drove it end: tab names of one browser mean nothing in another. The
// same browser's older socket is replaced without a word.
func (h *Hub) seat(l *link, tabs []program.Tab) error {
	h.slotsMu.Lock()
	defer h.unlock()
	if h.closed {
		return errClosed
	}
	s := h.slotOf(l.place)
	same := s.browser.Install == l.browser.Install
	renewed := same && s.link != nil
	if renewed {
		s.link.shut(ending{reason: ReasonReplaced, code: closeRenewed})
	}
	if !same {
		h.supplant(s)
	}
	l.tell(l.paired)
	for _, session := range strangers(s, tabs) {
		l.tell(outward{T: kindEnd, Session: session})
	}
	s.browser = l.browser
	s.put(l)
	if !renewed {
		h.tellLink(s, LinkConnected, "")
	}
	for _, held := range s.holds {
		held.waitsForTab = false // it is asked for anew all the same
	}
	h.setTabs(s, tabs)
	for _, held := range s.holds {
		l.hold(held)
	}
	return nil
}

// supplant empties the slot for another browser.
func (h *Hub) supplant(s *slot) {
	if s.link != nil {
		s.link.shut(ending{reason: ReasonReplaced, code: closeReplaced})
		h.vacate(s, ReasonReplaced)
	}
	h.endSessions(s, errReplaced())
	h.setTabs(s, nil)
}

// strangers are the sessions that still hold tabs in the browser and that nobody has open here: the
// server was restarted, or they ended while the link was lost.
func strangers(s *slot, tabs []program.Tab) []string {
	var found []string
	for _, t := range tabs {
		if t.Session != "" && s.sessions[t.Session] == nil && !slices.Contains(found, t.Session) {
			found = append(found, t.Session)
		}
	}
	return found
}

// unseat takes a dead link out of its place, unless another has it already.
func (h *Hub) unseat(l *link, reason Reason) {
	h.slotsMu.Lock()
	defer h.unlock()
	s := h.slots[l.place]
	if s == nil || s.link != l {
		return
	}
	h.vacate(s, reason)
	if reason == ReasonRevoked || reason == ReasonForgotten {
		h.forget(s)
	}
}

// vacate says that the slot's link is lost. slotsMu is held.
func (h *Hub) vacate(s *slot, reason Reason) {
	s.put(nil)
	h.tellLink(s, LinkLost, reason)
}

// forget ends all that hung on the place's browser. slotsMu is held.
func (h *Hub) forget(s *slot) {
	h.endSessions(s, errDisconnected())
	s.list(nil)
	h.news.force(s.diff(time.Now())...)
	delete(h.slots, s.place)
	close(s.changed)
}

// retab takes a list that came over l; one that an older socket of the browser sent late is dropped.
func (h *Hub) retab(l *link, tabs []program.Tab) {
	h.slotsMu.Lock()
	defer h.unlock()
	if s := h.slots[l.place]; s != nil && s.link == l {
		h.setTabs(s, tabs)
	}
}

// setTabs takes the browser's newest list. slotsMu is held.
func (h *Hub) setTabs(s *slot, tabs []program.Tab) {
	s.list(tabs)
	h.judgeHolds(s)
	if !h.news.full() {
		h.news.force(s.diff(time.Now())...)
	}
}

func (s *slot) list(tabs []program.Tab) {
	s.tabs = tabs
	close(s.listed)
	s.listed = make(chan struct{})
}

// catchUp tells of the lists that changed while the events were full.
func (h *Hub) catchUp() {
	h.slotsMu.Lock()
	defer h.slotsMu.Unlock()
	for _, s := range h.slots {
		h.news.force(s.diff(time.Now())...)
	}
}

func (h *Hub) tellLink(s *slot, kind EventKind, reason Reason) {
	h.news.force(s.event(kind, time.Now(), program.Tab{}, reason))
}

// diff answers what the events have not told yet, and takes it as told. A tab that a session made was not
// shared by anybody; a shared tab whose level changed is told again.
func (s *slot) diff(at time.Time) []Event {
	var events []Event
	for _, t := range s.told {
		if !slices.ContainsFunc(s.tabs, func(now program.Tab) bool { return now.ID == t.ID }) {
			events = append(events, s.event(TabUnshared, at, t, ""))
		}
	}
	shared := slices.DeleteFunc(slices.Clone(s.tabs), func(t program.Tab) bool { return t.Made })
	for _, t := range shared {
		if !slices.ContainsFunc(s.told, func(old program.Tab) bool { return old.ID == t.ID && old.Level == t.Level }) {
			events = append(events, s.event(TabShared, at, t, ""))
		}
	}
	s.told = shared
	return events
}

func (s *slot) event(kind EventKind, at time.Time, tab program.Tab, reason Reason) Event {
	return Event{
		Kind: kind, At: at, Account: s.place.account, Project: s.place.project,
		Browser: s.browser, Tab: tab, Reason: reason,
	}
}
