package relay

import (
	"context"
	"slices"
	"time"

	"github.com/coder/websocket"

	"chaperone/relay/program"
)

// OpenOptions says whose browser a session wants.
type OpenOptions struct {
	Account, Project string
	// Session is the session's id; the extension owns tabs by it.
	Session string
}

// Browser is one session's view of a project's link. It outlives reconnects of the same browser, and ends
// with Close, with the hub, when the project is disconnected, or when another browser takes the place. Its
// methods may be called at the same time.
type Browser struct {
	hub     *Hub
	place   place
	session string
	done    chan struct{}
	why     *program.Error // set before done is closed
}

// Open gives a session the project's browser. Without a link the error is not_connected; a session id
// that is open already is bad_request. The caller closes the Browser.
func (h *Hub) Open(ctx context.Context, o OpenOptions) (*Browser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h.slotsMu.Lock()
	defer h.slotsMu.Unlock()
	s := h.slots[place{o.Account, o.Project}]
	switch {
	case h.closed:
		return nil, errGone()
	case s == nil || !s.live():
		return nil, errNoLink()
	case !isName(o.Session) || s.sessions[o.Session] != nil:
		return nil, refuse(codeBadRequest, "the session has no fitting id, or one that is open already")
	}
	b := &Browser{hub: h, place: s.place, session: o.Session, done: make(chan struct{})}
	s.sessions[o.Session] = b
	return b, nil
}

// Tabs lists the session's tabs and the project's shared tabs that no session owns, as the browser last
// told; while the link is lost that is how it was before.
func (b *Browser) Tabs() []program.Tab {
	b.hub.slotsMu.Lock()
	defer b.hub.slotsMu.Unlock()
	s := b.slot()
	if s == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.tabs), func(t program.Tab) bool {
		return t.Session != "" && t.Session != b.session
	})
}

// Done is closed when the Browser has ended.
func (b *Browser) Done() <-chan struct{} { return b.done }

// Close ends the session at the extension, which closes the tabs that it made and lets go of the others,
// and waits until that is done, the link is lost or ctx ends. While the link is lost the extension is told
// when it comes back. A second Close does nothing.
func (b *Browser) Close(ctx context.Context) error {
	l := b.leave()
	if l == nil {
		return nil
	}
	c, err := l.begin(outward{T: kindEnd, Session: b.session}, nil, kindDone)
	if err != nil {
		// The extension hears of the end when it has come back to a link that works.
		l.shut(ending{reason: ReasonTrouble, code: websocket.StatusGoingAway})
		return nil
	}
	defer l.calls.finish(c)
	select {
	case <-c.answers:
		return nil
	case <-l.over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave ends the Browser and answers the link that must hear of it, if any.
func (b *Browser) leave() *link {
	b.hub.slotsMu.Lock()
	defer b.hub.unlock()
	s := b.slot()
	if s == nil {
		return nil
	}
	b.hub.endHolds(s, b, errSessionClosed())
	b.end(errSessionClosed())
	delete(s.sessions, b.session)
	if !s.live() {
		return nil
	}
	return s.link
}

// slot is the Browser's, nil once it has ended. slotsMu is held.
func (b *Browser) slot() *slot {
	s := b.hub.slots[b.place]
	if s == nil || s.sessions[b.session] != b {
		return nil
	}
	return s
}

// end is called once, by who takes the Browser out of its slot. slotsMu is held.
func (b *Browser) end(why *program.Error) {
	b.why = why
	close(b.done)
}

// link waits for the project's live link, at most ReconnectWait.
func (b *Browser) link(ctx context.Context) (*link, error) {
	timer := time.NewTimer(b.hub.options.ReconnectWait)
	defer timer.Stop()
	for {
		l, changed := b.peek()
		if l != nil {
			return l, nil
		}
		select {
		case <-changed:
		case <-b.done:
			return nil, b.why
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
			return nil, errNoLink()
		}
	}
}

// peek answers the live link, or else what is closed when there may be one.
func (b *Browser) peek() (*link, <-chan struct{}) {
	b.hub.slotsMu.Lock()
	defer b.hub.slotsMu.Unlock()
	s := b.slot()
	if s == nil {
		return nil, nil
	}
	if !s.live() {
		return nil, s.changed
	}
	return s.link, nil
}
