package endpoint

import (
	"slices"

	"github.com/coder/websocket"
)

// attachment is one client's own target session: what Chrome calls a session, with an id that no other client has.
type attachment struct {
	session string // empty: the socket's own page
	client  *client
	target  *target
	parent  *attachment // the page's or tab's session it is below; nil: one of the browser's
	under   string      // the session in which the client is told of it
	isAuto  bool
	auto    *autoAttach // for what is below it
	set     []setting   // what the client set in the target, the oldest first
	weight  int         // of set
	worlds  []world     // that the client made, the oldest first
	cast    *watcher
	// knowsRun is true once it was told that its worker's script has run.
	knowsRun bool
}

// maxSessions bounds the sessions of a client; what would be attached by itself beyond is not.
const maxSessions = 1000

func (c *client) isFull() bool { return len(c.sessions)+len(c.browsers) >= maxSessions }

func errTooMany() *failure {
	return refusal("a client may have %d sessions: detach from some", maxSessions)
}

func (c *client) attachments() []*attachment {
	list := make([]*attachment, 0, len(c.sessions)+1)
	for _, a := range c.sessions {
		list = append(list, a)
	}
	if c.page != nil {
		list = append(list, c.page)
	}
	return list
}

// attach gives a client a session of its own and tells it, where it asked for it.
func (r *router) attach(c *client, t *target, parent *attachment) *attachment {
	a := &attachment{session: newID(), client: c, target: t, parent: parent, under: sessionOf(parent)}
	c.sessions[a.session] = a
	r.link(a)
	r.announceTo(c, t)
	return a
}

// isLive reports whether an attachment has not been detached: the answer of a command may come later than that.
func (a *attachment) isLive() bool { return slices.Contains(a.target.attachments, a) }

// link counts an attachment in.
func (r *router) link(a *attachment) {
	a.target.attachments = append(a.target.attachments, a)
	r.want(a.target.tab)
}

// tellAttached is Target.attachedToTarget.
func (r *router) tellAttached(a *attachment) {
	_, waits := a.target.waiters[a]
	params := append([]byte(`{"sessionId":"`+a.session+`","targetInfo":`), r.infoFor(a.target, a.client)...)
	params = append(params, `,"waitingForDebugger":`...)
	a.client.send(eventFrame(a.under, "Target.attachedToTarget", append(append(params, encode(waits)...), '}')))
}

func sessionOf(a *attachment) string {
	if a == nil {
		return ""
	}
	return a.session
}

// detach ends an attachment and all below it, takes away what it set, and tells the client.
func (r *router) detach(a *attachment) {
	if !a.isLive() {
		return
	}
	for _, other := range a.client.attachments() {
		if other.parent == a {
			r.detach(other)
		}
	}
	delete(a.client.sessions, a.session)
	if h := a.target.liveHold(); h != nil && !a.client.gone {
		h.leftBy(func(q *request) bool { return q.at == a })
	}
	a.client.endDiscovery(a.session)
	if a.client.page == a {
		a.client.page = nil
		a.client.cut(websocket.StatusGoingAway, "the page is gone")
	}
	a.target.attachments = slices.DeleteFunc(a.target.attachments, func(other *attachment) bool { return other == a })
	a.client.send(eventFrame(a.under, "Target.detachedFromTarget",
		encode(map[string]string{"sessionId": a.session, "targetId": a.target.id})))
	r.stopCast(a)
	r.withdraw(a)
	r.mergeAutoAttach(a.target, func() {})
	r.goOn(a.target, a)
	r.unwant(a.target.tab)
}

// childrenOf lists what the edge announced in a target.
func (r *router) childrenOf(t *target) []*target {
	if t.tab.hold == nil || t.isWrapper() {
		return nil
	}
	return slices.DeleteFunc(t.tab.hold.inOrder(), func(child *target) bool { return child.parent != t })
}

// autoAttachAll attaches all clients that want it to a tab.
func (r *router) autoAttachAll(t *tab) {
	for c := range r.clients {
		r.autoAttachTo(c, t, func() {})
	}
}

// autoAttachTo attaches a client to a tab and its page as far as it asked for them at the browser's level. then is
// called, under mu, once that is done or will not be.
func (r *router) autoAttachTo(c *client, t *tab, then func()) {
	if !r.wantsAny(c, t) {
		then()
		return
	}
	r.whenHeld(t, func(err error) {
		if err == nil && !c.gone {
			for _, target := range []*target{t.wrapper, t.page} {
				if r.lacks(c, target) {
					a := r.attach(c, target, nil)
					a.isAuto = true
					r.tellAttached(a)
				}
			}
		}
		then()
	})
}

func (r *router) wantsAny(c *client, t *tab) bool {
	return !t.isDropped && (r.lacks(c, t.wrapper) || r.lacks(c, t.page))
}

// lacks reports whether a client should be attached to a target at the browser's level and is not.
func (r *router) lacks(c *client, t *target) bool {
	return c.auto != nil && !c.isFull() && c.auto.filter.matches(t.kind) && !slices.ContainsFunc(t.attachments, func(a *attachment) bool {
		return a.client == c && a.isAuto && a.parent == nil
	})
}

// autoAttachBelow attaches a client to what is below a session of it: the page of a tab, the children of a page.
func (r *router) autoAttachBelow(a *attachment) {
	if !a.isLive() {
		return
	}
	if a.target.isWrapper() {
		r.autoAttachChild(a, a.target.tab.page)
		return
	}
	for _, child := range r.childrenOf(a.target) {
		r.autoAttachChild(a, child)
	}
}

func (r *router) autoAttachChild(parent *attachment, t *target) {
	has := slices.ContainsFunc(t.attachments, func(a *attachment) bool { return a.parent == parent && a.isAuto })
	if parent.auto == nil || has || parent.client.isFull() || !parent.auto.filter.matches(t.kind) {
		return
	}
	a := r.attach(parent.client, t, parent)
	a.isAuto = true
	if t.isWaiting() && parent.auto.waits {
		t.waiters[a] = struct{}{}
	}
	r.tellAttached(a)
}

// endAuto detaches what was attached by itself below a session, or at the browser's level (parent nil).
func (r *router) endAuto(c *client, parent *attachment) {
	for _, a := range c.attachments() {
		if a.parent == parent && a.isAuto {
			r.detach(a)
		}
	}
}
