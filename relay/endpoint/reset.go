package endpoint

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"chaperone/relay/program"
)

// gateWait bounds how long clients' commands wait until what they had set is set again in a tab that was attached
// anew; what has not answered by then is not waited for.
const gateWait = 10 * time.Second

// addressWait bounds how long a list of targets waits for a frame's address: one that hangs never tells it.
const addressWait = time.Second

// gate keeps clients' commands back while what they had set is being set again.
type gate struct {
	kept  []*command
	left  int // own commands that have no answer yet
	timer *time.Timer
}

// document is what the main frame shows, as far as it was told.
type document struct {
	frame  string
	loader string
}

// begunAnew: the tab was attached anew. Clients keep their sessions. What they hear is what a page does that
// loses its frames and contexts; what they had set is set again in the order in which they set it; then their commands
// go on. Nothing that was under way is done again.
func (h *hold) begunAnew(target string) {
	r := h.router
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.isOver {
		return
	}
	h.asleep = nil
	kept := h.endGate()
	r.dropChildren(h)
	page := h.tab.page
	page.state = newState()
	for _, a := range page.attachments {
		a.tellIf("Runtime"+enableSuffix, "Runtime.executionContextsCleared")
		a.tellIf("DOM"+enableSuffix, "DOM.documentUpdated")
	}
	r.forgetAliases(page)
	if isPlainName(target) && r.targets[target] == nil {
		r.targets[target] = page // it is known by both names from now on
	}
	h.restore(page, kept)
}

func (a *attachment) tellIf(key, event string) {
	if a.has(key) {
		a.client.send(eventFrame(a.session, event, nil))
	}
}

// restore sets again what clients had set, behind a gate.
func (h *hold) restore(page *target, kept []*command) {
	g := &gate{kept: kept}
	h.gate = g
	g.timer = time.AfterFunc(gateWait, func() {
		h.router.mu.Lock()
		defer h.router.mu.Unlock()
		h.openGate(g)
	})
	g.left++ // ours, until all is asked
	all := restorable(page)
	// Frames are told before what is in them: nobody takes a context of a frame that it does not know.
	if len(all) > 0 && all[0].key == keyPage {
		h.setAgain(g, all[0])
		all = all[1:]
	}
	h.askGated(g, &command{method: "Page.getFrameTree", then: h.compareDocument})
	for _, s := range all {
		h.setAgain(g, s)
	}
	if page.state.waits = page.waits(); page.state.waits {
		h.askGated(g, &command{
			method: "Target.setAutoAttach", then: func([]byte, error) {},
			params: page.autoAttachDown(),
		})
	}
	h.bringWorlds(g)
	g.answered(h)
}

func (h *hold) setAgain(g *gate, s kept) {
	page := h.tab.page
	page.state.isOn[s.key] = true
	if s.key == "Debugger"+enableSuffix {
		h.tell(page, neverPause())
	}
	h.askGated(g, &command{method: s.method, params: s.params, then: h.restored(s)})
}

func (h *hold) askGated(g *gate, c *command) {
	g.left++
	then := c.then
	c.then = func(result []byte, err error) {
		then(result, err)
		g.answered(h)
	}
	h.ask(c)
}

func (g *gate) answered(h *hold) {
	g.left--
	if g.left == 0 {
		h.openGate(g)
	}
}

// openGate lets the commands go that were kept back.
func (h *hold) openGate(g *gate) {
	if h.gate != g {
		return
	}
	h.endGate()
	for _, c := range g.kept {
		if !c.isDone {
			h.queue = append(h.queue, c)
		}
	}
	signal(h.ready)
}

// endGate takes a gate away and answers what it kept.
func (h *hold) endGate() []*command {
	if h.gate == nil {
		return nil
	}
	kept := h.gate.kept
	h.gate.timer.Stop()
	h.gate = nil
	return kept
}

// restorable lists what is to be set again, once each, in the order in which clients set it; Page.enable is the first.
func restorable(t *target) []kept {
	var all []kept
	for _, a := range t.attachments {
		for _, s := range a.set {
			if k := (kept{s, a}); !k.isUnsent() {
				all = append(all, k)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b kept) int { return cmp.Compare(a.rank(), b.rank()) })
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(k kept) bool {
		isKnown := seen[k.key] && strings.HasSuffix(k.key, enableSuffix)
		seen[k.key] = true
		return isKnown
	})
}

// kept is a setting with the attachment that has it.
type kept struct {
	setting
	at *attachment
}

func (k kept) rank() int {
	if k.key == keyPage {
		return 0
	}
	return k.sequence
}

func (k kept) isScript() bool { return strings.HasPrefix(k.key, keyScript) }

// isUnsent reports whether a script's own command still waits for the tab: it would be there twice.
func (k kept) isUnsent() bool { return k.isScript() && k.real == "" }

// restored takes down by what name Chrome knows a script now.
func (h *hold) restored(k kept) func([]byte, error) {
	return func(result []byte, err error) {
		if err != nil || !k.isScript() {
			return
		}
		h.router.named(k.at, k.key, result)
	}
}

// frameTree is as much of a Page.FrameTree as is told on.
type frameTree struct {
	Frame    json.RawMessage `json:"frame"`
	Children []frameTree     `json:"childFrames"`
}

type frameNames struct {
	ID     string `json:"id"`
	Parent string `json:"parentId"`
	Loader string `json:"loaderId"`
	URL    string `json:"url"`
}

// learnDocument asks what the main frame shows, so that a later Reset can tell whether it still does.
func (h *hold) learnDocument() {
	h.ask(&command{method: "Page.getFrameTree", then: func(result []byte, _ error) {
		if _, now, ok := readTree(result); ok && h.document.loader == "" {
			h.document = now
		}
	}})
}

// askAddress asks a frame in a process of its own for its address: it is attached before it has one, and nobody tells
// when it has.
func (r *router) askAddress(h *hold, child *target) {
	if child.kind != "iframe" {
		return
	}
	child.asking = []func(){func() {}}
	time.AfterFunc(addressWait, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		child.isKnown()
	})
	h.tell(child, call{method: "Page.enable"})
	h.ask(&command{child: child.child, method: "Page.getFrameTree", then: func(result []byte, _ error) {
		var names frameNames
		if tree, _, ok := readTree(result); ok && json.Unmarshal(tree.Frame, &names) == nil && textOf(child.told["url"]) == "" {
			r.setAddress(child, names.URL)
		}
		child.isKnown()
	}})
}

func (r *router) setAddress(child *target, url string) {
	child.told["url"] = encode(url)
	child.told["title"] = encode(url)
	r.announceChange(child)
}

// isKnown tells those who waited for a frame's address.
func (t *target) isKnown() {
	asking := t.asking
	t.asking = nil
	for _, then := range asking {
		then()
	}
}

// whenKnown calls then once the addresses of all frames are known, as far as they answer: one that is held back for a
// client may not before that client has let it go on.
func (r *router) whenKnown(then func()) {
	left := 1
	known := func() {
		left--
		if left == 0 {
			then()
		}
	}
	r.each(func(t *target) {
		if t.asking != nil && !t.isWaiting() {
			left++
			t.asking = append(t.asking, known)
		}
	})
	known()
}

func readTree(result []byte) (frameTree, document, bool) {
	var reply struct {
		Tree frameTree `json:"frameTree"`
	}
	var names frameNames
	if json.Unmarshal(result, &reply) != nil || json.Unmarshal(reply.Tree.Frame, &names) != nil {
		return frameTree{}, document{}, false
	}
	return reply.Tree, document{names.ID, names.Loader}, true
}

// compareDocument tells of the document that came while nobody listened.
func (h *hold) compareDocument(result []byte, err error) {
	tree, now, ok := readTree(result)
	if err != nil || !ok || now == h.document {
		return
	}
	h.document = now
	h.tellTree(tree)
}

func (h *hold) tellTree(tree frameTree) {
	var names frameNames
	if json.Unmarshal(tree.Frame, &names) != nil {
		return
	}
	page := h.tab.page
	if names.Parent != "" {
		h.router.deliver(page, "Page.frameAttached", encode(map[string]string{"frameId": names.ID, "parentFrameId": names.Parent}))
	}
	h.router.deliver(page, "Page.frameNavigated", encode(map[string]any{"frame": tree.Frame, "type": "Navigation"}))
	for _, child := range tree.Children {
		h.tellTree(child)
	}
}

// followDocument takes down what the main frame, or a frame in a process of its own, shows.
func (h *hold) followDocument(t *target, method string, params []byte) {
	if method != "Page.frameNavigated" {
		return
	}
	var navigated struct {
		Frame frameNames `json:"frame"`
	}
	switch {
	case json.Unmarshal(params, &navigated) != nil:
	case t.child == "" && navigated.Frame.Parent == "":
		h.document = document{navigated.Frame.ID, navigated.Frame.Loader}
		t.state.newDocument()
	case t.child != "" && navigated.Frame.ID == t.id:
		h.router.setAddress(t, navigated.Frame.URL)
		t.state.newDocument()
	}
}

// isRefusedByBrowser reports whether Chrome itself said no, so that asking again would be no use.
func isRefusedByBrowser(err error) bool {
	_, ok := errors.AsType[*program.CallError](err)
	return ok
}
