package endpoint

import (
	"slices"
	"strings"
)

// The keys of settings that have no method of their own for a key.
const (
	enableSuffix  = ".enable"
	disableSuffix = ".disable"
	keyPage       = "Page" + enableSuffix
	keyLifecycle  = "Page.setLifecycleEventsEnabled"
	keyBinding    = "Runtime.addBinding:"
	keyScript     = "Page.addScriptToEvaluateOnNewDocument:"
)

// setting is one thing that a client set in a target and that stays: an enabled domain, an override, a script or
// a binding. It is taken back when the client leaves, and set again when the tab is attached anew.
type setting struct {
	key      string
	method   string
	params   []byte
	undo     call   // what takes it back; no method: nothing does
	sequence int    // of the router: the order in which clients set things
	real     string // Chrome's name for a script
	isLate   bool   // others had it on before, and its own answer is not there yet: nothing is heard by it so far
}

// call is a method with its parameters.
type call struct {
	method string
	params []byte
}

const (
	// maxSettings bounds what a client has set in all its sessions when it comes to scripts and bindings.
	maxSettings = 1000
	// maxSettingsBytes bounds what all that it set there weighs, each setting settingLeast at least.
	maxSettingsBytes = 16 << 20
	settingLeast     = 256
)

// isOneTooMany refuses what would be set beyond the bound.
func (q *request) isOneTooMany() bool {
	count := 0
	for _, a := range q.client.attachments() {
		count += len(a.set)
	}
	if count >= maxSettings {
		q.fail(refusal("a client may have %d settings, scripts and bindings in its sessions: remove some", maxSettings))
	}
	return count >= maxSettings
}

// isTooHeavy refuses what would weigh more than a client's settings may together.
func (q *request) isTooHeavy() bool {
	weight := len(q.params)
	for _, a := range q.client.attachments() {
		weight += a.weight
	}
	if weight > maxSettingsBytes {
		q.fail(refusal("a client's settings, scripts and bindings may have %d MiB together: remove some", maxSettingsBytes>>20))
	}
	return weight > maxSettingsBytes
}

func (s *setting) weight() int { return settingLeast + len(s.key) + len(s.params) + len(s.undo.params) }

func (a *attachment) find(key string) *setting {
	for i := range a.set {
		if a.set[i].key == key {
			return &a.set[i]
		}
	}
	return nil
}

func (a *attachment) has(key string) bool { return a.find(key) != nil }

// hears reports whether a switch is on and what it brings is told.
func (a *attachment) hears(key string) bool {
	s := a.find(key)
	return s != nil && !s.isLate
}

func (a *attachment) hasPrefix(prefix string) bool {
	return slices.ContainsFunc(a.set, func(s setting) bool { return strings.HasPrefix(s.key, prefix) })
}

// keep takes a setting down, in the place of an earlier one of that key.
func (a *attachment) keep(s setting) {
	if !a.isLive() {
		return
	}
	a.unset(s.key)
	a.client.router.sequence++
	s.sequence = a.client.router.sequence
	a.set = append(a.set, s)
	a.weight += s.weight()
}

func (a *attachment) unset(key string) {
	a.set = slices.DeleteFunc(a.set, func(s setting) bool {
		if s.key == key {
			a.weight -= s.weight()
		}
		return s.key == key
	})
}

// latest is the newest setting of a key that others than a have on its target.
func (a *attachment) latest(key string) *setting {
	var latest *setting
	for _, other := range a.target.attachments {
		if other == a {
			continue
		}
		if s := other.find(key); s != nil && (latest == nil || s.sequence > latest.sequence) {
			latest = s
		}
	}
	return latest
}

// isSticky reports whether a domain stays enabled once it was: the router needs what it tells, or the edge does.
func isSticky(domain string) bool {
	switch domain {
	case "Page", "Runtime", "DOM", "Inspector", "Target":
		return true
	default:
		return false
	}
}

// withdraw takes back what a leaving attachment set, the newest first. Where another client has set the same thing,
// that client's comes back into force.
func (r *router) withdraw(a *attachment) {
	set := a.set
	a.set, a.weight = nil, 0
	h := a.target.liveHold()
	if h == nil || a.client.gone && a.target.tab.isLetGoWithout(a.client) {
		return // and with the tab all that was set
	}
	for _, s := range slices.Backward(set) {
		back := s.undo
		if other := a.latest(s.key); other != nil {
			if s.method == other.method && string(s.params) == string(other.params) || strings.HasSuffix(s.key, enableSuffix) {
				continue
			}
			back = call{other.method, other.params}
		}
		if s.real != "" {
			back.params = withReal(s)
		}
		if strings.HasSuffix(s.key, enableSuffix) {
			a.target.state.forgetDomain(s.key)
		}
		if back.method != "" {
			h.tell(a.target, back)
		}
	}
}

// isLetGoWithout reports whether nobody needs the tab held but a client that leaves: a page that begins to load does too.
func (t *tab) isLetGoWithout(c *client) bool {
	theirs := 1 // the attachment that is on its way out
	targets := []*target{t.page, t.wrapper}
	if t.hold != nil {
		targets = append(targets, t.hold.inOrder()...)
	}
	for _, t := range targets {
		for _, a := range t.attachments {
			if a.client == c {
				theirs++
			}
		}
	}
	return t.wants <= theirs
}

// tell sends a call of the router's own whose answer does not matter.
func (h *hold) tell(t *target, c call) {
	h.ask(&command{child: t.child, method: c.method, params: c.params, then: func([]byte, error) {}})
}
