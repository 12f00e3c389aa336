package endpoint

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"chaperone/relay/cdp"
	"chaperone/relay/program"
)

// The kinds of targets that the router itself speaks of.
const (
	kindBrowser = "browser"
	kindPage    = "page"
	kindTab     = "tab" // what Puppeteer attaches to first; its page is below it
)

// tab is one tab that clients may see.
type tab struct {
	known   program.Tab
	page    *target
	wrapper *target // of kind tab
	// hold is what keeps it, nil while nobody uses it.
	hold *hold
	// wants counts the attachments and calls that need it held.
	wants int
	cast  *caster // nil while no client watches
	// waiting are told once it is held or cannot be.
	waiting []func(error)
	// isDropped is true once clients were told that it is gone.
	isDropped bool
}

// target is what clients attach to: a tab's page, the tab around it, or a frame or worker of the page.
type target struct {
	tab  *tab
	id   string
	kind string
	// child is the edge's name for the target session, empty for the page.
	child  string
	parent *target // where the edge announced a child
	// told is what the edge said of a child.
	told map[string]json.RawMessage
	// asking are told once a frame's address is known; nil when it is.
	asking      []func()
	attachments []*attachment
	// waiters are those for whom the child's start is held back.
	waiters map[*attachment]struct{}
	state   state
}

func (t *target) isWrapper() bool { return t.kind == kindTab }

// info is CDP's TargetInfo.
type info struct {
	TargetID  string `json:"targetId"`
	Type      string `json:"type"`
	Title     string `json:"title"`
	URL       string `json:"url"`
	Attached  bool   `json:"attached"`
	OpenerID  string `json:"openerId,omitempty"`
	CanAccess bool   `json:"canAccessOpener"`
	ContextID string `json:"browserContextId,omitempty"`
}

// infoFor describes a target as a client sees it: attached means attached by that client. mu is held.
func (r *router) infoFor(t *target, c *client) []byte {
	isAttached := slices.ContainsFunc(t.attachments, func(a *attachment) bool { return a.client == c })
	if t.child == "" {
		i := r.infoOf(t)
		i.Attached = isAttached
		return encode(i)
	}
	told := maps.Clone(t.told)
	told["attached"] = encode(isAttached)
	told["browserContextId"] = encode(r.contextID)
	for _, name := range []string{"url", "title"} {
		told[name] = encode(cdp.WithoutUser(textOf(told[name])))
	}
	return encode(told)
}

func (r *router) infoOf(t *target) info {
	i := info{
		TargetID: t.id, Type: t.kind, Title: cdp.WithoutUser(t.tab.known.Title), URL: cdp.WithoutUser(t.tab.known.URL), ContextID: r.contextID,
	}
	if opener := r.tabs[t.tab.known.Opener]; opener != nil {
		i.OpenerID = opener.page.id
		i.CanAccess = t.kind == kindPage
	}
	return i
}

// pages describes the pages that a client may attach to.
func (r *router) pages() []info {
	r.mu.Lock()
	defer r.mu.Unlock()
	infos := make([]info, 0, len(r.tabs))
	for _, t := range r.inOrder() {
		infos = append(infos, r.infoOf(t.page))
	}
	return infos
}

// inOrder lists the tabs in the order of their age.
func (r *router) inOrder() []*tab {
	return slices.SortedFunc(maps.Values(r.tabs), func(a, b *tab) int {
		if byLength := len(a.known.ID) - len(b.known.ID); byLength != 0 {
			return byLength
		}
		return strings.Compare(a.known.ID, b.known.ID)
	})
}

// each calls f with every target in the order of age, tabs before their pages and those before their children.
func (r *router) each(f func(*target)) {
	for _, t := range r.inOrder() {
		f(t.wrapper)
		f(t.page)
		if t.hold != nil {
			for _, child := range t.hold.inOrder() {
				f(child)
			}
		}
	}
}

// look brings what clients see up to the edge's list.
func (r *router) look() {
	r.listMu.Lock()
	defer r.listMu.Unlock()
	list := r.edge.Tabs()
	for i := range list {
		if list[i].URL == "" && list[i].Made && list[i].Opener == "" {
			list[i].URL = "about:blank" // what it was made with: it has not said yet
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isOver {
		return
	}
	listed := map[string]bool{}
	for _, known := range list {
		if r.shows(known) {
			listed[known.ID] = true
		}
	}
	for _, t := range r.inOrder() {
		if !listed[t.known.ID] {
			r.drop(t)
		}
	}
	for _, known := range list {
		if listed[known.ID] {
			r.see(known)
		}
	}
}

// shows reports whether clients may see a tab. One that is suspended is shown only while they use it.
func (r *router) shows(known program.Tab) bool {
	if known.Target == "" || known.Level != program.LevelAct || !isPlainName(known.Target) {
		return false
	}
	t := r.tabs[known.ID]
	return t != nil && t.hold != nil || known.Suspended == "" && known.URL != ""
}

// see takes a listed tab in, or what is new of it.
func (r *router) see(known program.Tab) {
	t := r.tabs[known.ID]
	if t != nil && t.hold == nil && t.page.id != known.Target {
		r.drop(t)
		t = nil
	}
	if t == nil {
		if r.targets[known.Target] == nil { // a hop may show one page as two tabs for a moment
			r.add(known)
		}
		return
	}
	before := t.known
	t.known = known
	if before.URL != known.URL || before.Title != known.Title {
		r.announceChange(t.wrapper, t.page)
	}
	r.autoAttachAll(t)
}

func (r *router) add(known program.Tab) {
	t := &tab{known: known}
	t.page = &target{tab: t, id: known.Target, kind: kindPage}
	t.wrapper = &target{tab: t, id: newID(), kind: kindTab}
	r.tabs[known.ID] = t
	r.targets[t.page.id], r.targets[t.wrapper.id] = t.page, t.wrapper
	r.announce(t.wrapper)
	r.announce(t.page)
	r.autoAttachAll(t)
}

// drop takes a tab that is gone away from all clients.
func (r *router) drop(t *tab) {
	if t.isDropped {
		return
	}
	t.isDropped = true
	if t.hold != nil {
		t.hold.cut(errTabGone())
		r.dropChildren(t.hold)
	}
	for _, gone := range []*target{t.page, t.wrapper} {
		for _, a := range slices.Clone(gone.attachments) {
			r.detach(a)
		}
		r.forget(gone)
	}
	if r.tabs[t.known.ID] == t {
		delete(r.tabs, t.known.ID)
	}
	t.served(errTabGone())
}

func errTabGone() *failure { return refusal("the tab was closed or is shared no more (tab_closed)") }

// forget takes a target out of the model and tells those who knew of it.
func (r *router) forget(t *target) {
	r.forgetAliases(t)
	if r.targets[t.id] == t {
		delete(r.targets, t.id)
	}
	r.tellKnowing(t, "Target.targetDestroyed", func(*client) []byte { return encode(map[string]string{"targetId": t.id}) })
	for c := range r.clients {
		for _, d := range c.discoveries {
			delete(d.told, t.id)
		}
	}
}

// forgetAliases takes away the names that a page had besides its own.
func (r *router) forgetAliases(t *target) {
	if t.child == "" {
		maps.DeleteFunc(r.targets, func(id string, known *target) bool { return known == t && id != t.id })
	}
}

// discovery is one session's wish to hear of targets.
type discovery struct {
	session string
	filter  filter
	told    map[string]struct{} // target ids whose creation it heard of
}

// announce tells of a target to those who want to hear of it.
func (r *router) announce(t *target) {
	for c := range r.clients {
		r.announceTo(c, t)
	}
}

func (r *router) announceTo(c *client, t *target) {
	for _, d := range c.discoveries {
		r.discover(c, d, t)
	}
}

func (r *router) discover(c *client, d *discovery, t *target) {
	if _, knows := d.told[t.id]; knows || !d.filter.matches(t.kind) {
		return
	}
	d.told[t.id] = struct{}{}
	c.send(eventFrame(d.session, "Target.targetCreated", r.describe(t, c)))
}

func (r *router) announceChange(targets ...*target) {
	for _, t := range targets {
		r.tellKnowing(t, "Target.targetInfoChanged", func(c *client) []byte { return r.describe(t, c) })
	}
}

// tellKnowing tells an event to all who know the target.
func (r *router) tellKnowing(t *target, event string, params func(*client) []byte) {
	for c := range r.clients {
		for _, d := range c.discoveries {
			if _, knows := d.told[t.id]; knows {
				c.send(eventFrame(d.session, event, params(c)))
			}
		}
	}
}

// describe is {"targetInfo": …} as a client sees it.
func (r *router) describe(t *target, c *client) []byte {
	return append(append([]byte(`{"targetInfo":`), r.infoFor(t, c)...), '}')
}

// newID is an unguessable name in the form of Chrome's own target and session ids.
func newID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it never fails: crypto/rand ends the program instead
	return strings.ToUpper(hex.EncodeToString(id))
}
