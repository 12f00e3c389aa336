package endpoint

import (
	"slices"
	"time"

	"github.com/coder/websocket"
)

// attachPatience is how long a client that attaches to all tabs waits for those that are slow; they come later.
const attachPatience = 5 * time.Second

// browserAnswers are what the endpoint answers by itself: at this level there is no browser behind it that could be
// asked. Whatever is not here is refused.
func browserAnswers() map[string]answer {
	return map[string]answer{
		"Browser.getVersion":           plain(getVersion),
		"Browser.close":                plain(closeBrowser),
		"Browser.setDownloadBehavior":  plain(nothing), // nothing is ever downloaded
		"Target.setDiscoverTargets":    with(setDiscoverTargets),
		"Target.getTargets":            with(getTargets),
		"Target.getTargetInfo":         with(getTargetInfo),
		"Target.setAutoAttach":         with(setAutoAttach),
		"Target.attachToTarget":        with(attachToTarget),
		"Target.attachToBrowserTarget": plain(attachToBrowserTarget),
		"Target.detachFromTarget":      with(detachFromTarget),
		"Target.createTarget":          with(createTarget),
		"Target.closeTarget":           with(closeTarget),
		"Target.activateTarget":        with(activateTarget),
		"Target.setRemoteLocations":    plain(nothing),
		"Target.getBrowserContexts":    plain(getBrowserContexts),
		"Target.createBrowserContext":  plain(noContexts),
		"Target.disposeBrowserContext": plain(noContexts),
	}
}

func nothing(_ *router, q *request) { q.reply(nil) }

func noContexts(_ *router, q *request) {
	q.fail(refusal("%s: there is one browser context, the browser's own; none can be made or disposed of", q.method))
}

// version is what clients are told of the browser; they want to see a Chrome.
func (r *router) version() Version {
	version := r.options.Version
	if version.Product == "" {
		version.Product = "Chrome/156.0.0.0"
	}
	if version.UserAgent == "" {
		version.UserAgent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) " + version.Product + " Safari/537.36"
	}
	return version
}

func getVersion(r *router, q *request) {
	version := r.version()
	q.reply(encode(map[string]string{
		"protocolVersion": "1.3", "product": version.Product, "revision": "", "userAgent": version.UserAgent, "jsVersion": "",
	}))
}

// closeBrowser ends the client alone.
func closeBrowser(_ *router, q *request) {
	q.reply(nil)
	q.client.cut(websocket.StatusNormalClosure, "the client closed its browser")
}

type discoverParams struct {
	Discover bool   `json:"discover"`
	Filter   filter `json:"filter"`
}

func setDiscoverTargets(r *router, q *request, params discoverParams) {
	q.client.endDiscovery(q.session)
	if params.Discover {
		d := &discovery{session: q.session, filter: params.Filter, told: map[string]struct{}{}}
		q.client.discoveries = append(q.client.discoveries, d)
		r.each(func(t *target) { r.discover(q.client, d, t) })
	}
	q.reply(nil)
}

func (c *client) endDiscovery(session string) {
	c.discoveries = slices.DeleteFunc(c.discoveries, func(d *discovery) bool { return d.session == session })
}

type filterParams struct {
	Filter filter `json:"filter"`
}

func getTargets(r *router, q *request, params filterParams) {
	r.whenKnown(func() { q.reply(r.listing(q.client, params.Filter)) })
}

func (r *router) listing(c *client, matching filter) []byte {
	infos := []byte(`{"targetInfos":[`)
	r.each(func(t *target) {
		if !matching.matches(t.kind) {
			return
		}
		if infos[len(infos)-1] != '[' {
			infos = append(infos, ',')
		}
		infos = append(infos, r.infoFor(t, c)...)
	})
	return append(infos, "]}"...)
}

// targetParams name a target.
type targetParams struct {
	TargetID string `json:"targetId"`
}

func getTargetInfo(r *router, q *request, params targetParams) {
	t := r.targets[params.TargetID]
	if params.TargetID == "" && q.at != nil {
		t = q.at.target
	}
	switch {
	case t != nil:
		q.reply(r.describe(t, q.client))
	case params.TargetID == "" || params.TargetID == r.browserID:
		q.reply(encode(map[string]info{"targetInfo": {
			TargetID: r.browserID, Type: kindBrowser, Attached: true, ContextID: r.contextID,
		}}))
	default:
		q.fail(errNoTarget())
	}
}

// autoAttachParams are Target.setAutoAttach's.
type autoAttachParams struct {
	AutoAttach bool   `json:"autoAttach"`
	Wait       bool   `json:"waitForDebuggerOnStart"`
	Flatten    bool   `json:"flatten"`
	Filter     filter `json:"filter"`
}

func (p autoAttachParams) asked() *autoAttach {
	if !p.AutoAttach {
		return nil
	}
	return &autoAttach{filter: p.Filter, waits: p.Wait}
}

// isNotFlat reports whether sessions of the old kind are asked for, which are not served.
func (p autoAttachParams) isNotFlat() bool { return p.AutoAttach && !p.Flatten }

func errFlatOnly() *failure {
	return &failure{Code: codeParams, Message: "Chaperone: only flat sessions are served (flatten: true)"}
}

// setAutoAttach at the browser's level attaches to all tabs. It is answered once the tabs that are there are attached,
// as far as they could be.
func setAutoAttach(r *router, q *request, params autoAttachParams) {
	if params.isNotFlat() {
		q.fail(errFlatOnly())
		return
	}
	auto := params.asked()
	q.client.auto = auto
	if auto == nil {
		r.endAuto(q.client, nil)
		q.reply(nil)
		return
	}
	left := 1
	timer := time.AfterFunc(attachPatience, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		q.reply(nil)
	})
	then := func() {
		left--
		if left == 0 {
			timer.Stop()
			q.reply(nil)
		}
	}
	for _, t := range r.inOrder() {
		left++
		r.autoAttachTo(q.client, t, then)
	}
	then()
}

type attachParams struct {
	TargetID string `json:"targetId"`
	Flatten  bool   `json:"flatten"`
}

func attachToTarget(r *router, q *request, params attachParams) {
	t := r.targets[params.TargetID]
	switch {
	case !params.Flatten:
		q.fail(errFlatOnly())
	case q.client.isFull():
		q.fail(errTooMany())
	case params.TargetID == r.browserID:
		attachToBrowserTarget(r, q)
	case t == nil:
		q.fail(errNoTarget())
	default:
		r.whenHeld(t.tab, func(err error) { r.attachNow(q, params.TargetID, err) })
	}
}

func (r *router) attachNow(q *request, id string, err error) {
	t := r.targets[id] // a frame or worker may be gone by now
	switch {
	case err != nil:
		q.fail(err)
	case t == nil || q.at != nil && !q.at.isLive():
		q.fail(errNoTarget())
	case q.client.gone:
		q.reply(nil)
	case q.client.isFull():
		q.fail(errTooMany())
	default:
		a := r.attach(q.client, t, q.at)
		a.under = q.session // Chrome tells it where it was asked, and nowhere else
		r.tellAttached(a)
		q.reply(encode(map[string]string{"sessionId": a.session}))
	}
}

// attachToBrowserTarget gives the client another session at this level.
func attachToBrowserTarget(_ *router, q *request) {
	if q.client.isFull() {
		q.fail(errTooMany())
		return
	}
	session := newID()
	q.client.browsers[session] = struct{}{}
	q.reply(encode(map[string]string{"sessionId": session}))
}

type detachParams struct {
	Session  string `json:"sessionId"`
	TargetID string `json:"targetId"`
}

func detachFromTarget(r *router, q *request, params detachParams) {
	a := q.client.sessions[params.Session]
	if a == nil && params.Session == "" {
		a = q.client.attachedTo(params.TargetID)
	}
	_, isBrowser := q.client.browsers[params.Session]
	switch {
	case a != nil:
		r.detach(a)
		q.reply(nil)
	case isBrowser:
		r.endBrowser(q.client, params.Session)
		q.reply(nil)
	default:
		q.fail(&failure{Code: codeParams, Message: "No session with given id"})
	}
}

// endBrowser ends another session at the browser's level, and what was attached in it.
func (r *router) endBrowser(c *client, session string) {
	delete(c.browsers, session)
	c.endDiscovery(session)
	for _, a := range c.attachments() {
		if a.under == session {
			r.detach(a)
		}
	}
}

func (c *client) attachedTo(id string) *attachment {
	for _, a := range c.sessions {
		if a.target.id == id {
			return a
		}
	}
	return nil
}

func activateTarget(r *router, q *request, params targetParams) {
	if r.targets[params.TargetID] == nil {
		q.fail(errNoTarget())
		return
	}
	q.reply(nil) // every page believes itself in front; the person's windows stay as they are
}

func getBrowserContexts(r *router, q *request) {
	q.reply(encode(map[string]any{"browserContextIds": []string{}, "defaultBrowserContextId": r.contextID}))
}
