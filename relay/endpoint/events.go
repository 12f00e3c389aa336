package endpoint

import (
	"encoding/json"
	"strings"
)

const (
	// maxChildren bounds what a page that makes frames and workers without end adds to the model; further ones run, and
	// no client sees them.
	maxChildren = 1024
)

// event hands what the tab told to the clients that asked for it.
func (h *hold) event(child, method string, params []byte) {
	r := h.router
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.isOver || !isPlainName(method) {
		return
	}
	t := h.tab.page
	if child != "" {
		t = h.children[child]
	}
	domain, _, _ := strings.Cut(method, ".")
	switch {
	case t == nil:
	case domain == "Target":
		r.targetEvent(h, t, method, params)
	case !r.options.Judge.EventTold(r.options.Level, method):
	default:
		h.followDocument(t, method, params)
		if t.state.keep(method, params) {
			r.deliver(t, method, params)
		}
		r.afterRestore(t, method, params)
	}
}

// deliver tells an event to the attachments that asked for it.
func (r *router) deliver(t *target, method string, params []byte) {
	wants := audience(method, params)
	for _, a := range t.attachments {
		if wants(a) {
			a.knowsRun = a.knowsRun || method == workerLoaded
			a.client.send(eventFrame(a.session, method, params))
		}
	}
	if method == "Inspector.targetCrashed" && t.child == "" {
		r.tellCrash(t)
	}
}

// audience says who hears of an event: those who enabled its domain, but for what has a switch of its own.
func audience(method string, params []byte) func(*attachment) bool {
	domain, _, _ := strings.Cut(method, ".")
	switch {
	case domain == "Inspector":
		return func(*attachment) bool { return true }
	case method == "Page.lifecycleEvent":
		return func(a *attachment) bool { return a.hears(keyLifecycle) }
	case method == "Page.screencastFrame" || method == "Page.screencastVisibilityChanged":
		return func(*attachment) bool { return false } // the router has a cast of its own
	case method == "Runtime.bindingCalled":
		var called struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(params, &called) != nil {
			return func(*attachment) bool { return false }
		}
		return func(a *attachment) bool { return a.has(keyBinding + called.Name) }
	case domain == "Input" || domain == "Emulation":
		return func(a *attachment) bool { return a.hasPrefix(domain + ".") }
	default:
		return func(a *attachment) bool { return a.hears(domain + enableSuffix) }
	}
}

func (r *router) tellCrash(t *target) {
	params := encode(map[string]any{"targetId": t.id, "status": "crashed", "errorCode": 0})
	r.tellKnowing(t, "Target.targetCrashed", func(*client) []byte { return params })
}

// targetEvent is what the edge tells of a target's children.
func (r *router) targetEvent(h *hold, parent *target, method string, params []byte) {
	var told struct {
		Session string                     `json:"sessionId"`
		Info    map[string]json.RawMessage `json:"targetInfo"`
		Waiting bool                       `json:"waitingForDebugger"`
	}
	if json.Unmarshal(params, &told) != nil {
		return
	}
	switch method {
	case "Target.attachedToTarget":
		if told.Session == "" || told.Info == nil || h.children[told.Session] != nil {
			return
		}
		child := &target{tab: h.tab, child: told.Session, parent: parent, told: told.Info, state: newState()}
		if told.Waiting {
			child.waiters = map[*attachment]struct{}{}
		}
		r.addChild(h, child)
	case "Target.detachedFromTarget":
		if child := h.children[told.Session]; child != nil {
			r.dropChild(h, child)
		}
	case "Target.targetInfoChanged":
		r.changeChild(h, told.Info)
	}
}

func (r *router) addChild(h *hold, child *target) {
	child.id, child.kind = textOf(child.told["targetId"]), textOf(child.told["type"])
	if !isPlainName(child.id) || r.targets[child.id] != nil || len(h.children) >= maxChildren {
		h.resume(child)
		return
	}
	h.age++
	h.children[child.child], h.ages[child] = child, h.age
	r.targets[child.id] = child
	r.askAddress(h, child)
	r.announce(child)
	for _, a := range child.parent.attachments {
		r.autoAttachChild(a, child)
	}
	if child.isWaiting() && len(child.waiters) == 0 {
		h.resume(child)
	}
}

func (r *router) changeChild(h *hold, told map[string]json.RawMessage) {
	child := r.targets[textOf(told["targetId"])]
	if child == nil || child.tab != h.tab || child.child == "" {
		return
	}
	told["type"] = child.told["type"]
	child.told = told
	r.announceChange(child)
}

// dropChild takes a child, and what is below it, away from all clients.
func (r *router) dropChild(h *hold, gone *target) {
	for _, child := range h.inOrder() {
		if child.parent == gone {
			r.dropChild(h, child)
		}
	}
	delete(h.children, gone.child)
	delete(h.ages, gone)
	gone.waiters = nil
	gone.isKnown()
	for len(gone.attachments) > 0 {
		r.detach(gone.attachments[0])
	}
	r.forget(gone)
}

func (r *router) dropChildren(h *hold) {
	for _, child := range h.inOrder() {
		if h.children[child.child] == child {
			r.dropChild(h, child)
		}
	}
}

func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// liveHold is the hold that reaches a target, nil when none does.
func (t *target) liveHold() *hold {
	h := t.tab.hold
	if h == nil || h.isOver || t.child != "" && h.children[t.child] != t {
		return nil
	}
	return h
}

func (t *target) isWaiting() bool { return t.waiters != nil }

// resume lets a child run that was held back for clients.
func (h *hold) resume(child *target) {
	if !child.isWaiting() {
		return
	}
	child.waiters = nil
	h.ask(&command{
		child: child.child, method: "Runtime.runIfWaitingForDebugger", then: func([]byte, error) {},
	})
}

// goOn says that an attachment does not hold its target back any more.
func (r *router) goOn(t *target, a *attachment) {
	delete(t.waiters, a)
	if t.isWaiting() && len(t.waiters) == 0 && t.tab.hold != nil {
		t.tab.hold.resume(t)
	}
}

// mergeAutoAttach asks the edge to hold new children back as long as one client wants that. then is called, under mu,
// once it is so.
func (r *router) mergeAutoAttach(t *target, then func()) {
	h := t.liveHold()
	if t.isWrapper() || h == nil || t.waits() == t.state.waits {
		then()
		return
	}
	t.state.waits = t.waits()
	h.ask(&command{
		child: t.child, method: "Target.setAutoAttach", then: func([]byte, error) { then() },
		params: t.autoAttachDown(),
	})
}

// autoAttachDown is the one form in which clients' wish for children reaches the edge.
func (t *target) autoAttachDown() []byte {
	if t.state.waits {
		return []byte(`{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`)
	}
	return []byte(`{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true}`)
}

func (t *target) waits() bool {
	for _, a := range t.attachments {
		if a.auto != nil && a.auto.waits {
			return true
		}
	}
	return false
}
