package endpoint

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// forwards are the commands of which the router takes account in ways of their own.
func forwards() map[string]answer {
	return map[string]answer{
		"Page.addScriptToEvaluateOnNewDocument":    readScript,
		"Page.removeScriptToEvaluateOnNewDocument": with((*router).removeScript),
		"Runtime.addBinding":                       with((*router).addBinding),
		"Runtime.removeBinding":                    with((*router).removeBinding),
		keyLifecycle:                               with((*router).setLifecycle),
		"Page.startScreencast":                     with((*router).startCast),
		"Page.createIsolatedWorld":                 with((*router).makeWorld),
		"DOM.getDocument":                          with((*router).getDocument),
		"Page.setFontFamilies":                     plain((*router).setFonts),
		"Page.navigate":                            plain((*router).navigatePage),
		"Page.navigateToHistoryEntry":              plain((*router).navigatePage),
		"Page.reload":                              plain((*router).navigatePage),
	}
}

// readForward reads a command for a tab: which passes it on, and keeps account of what it sets there.
func (r *router) readForward(q *request) (serving, error) {
	serve, err := serving((*router).forwardPlain), error(nil)
	if read := r.forwards[q.method]; read != nil {
		serve, err = read(q)
	}
	if q.isRead {
		serve = (*router).print
	}
	named := contextsIn(q.params)
	return func(r *router, q *request) {
		if q.at.target.state.isHidden(named) {
			q.fail(&failure{Code: codeServer, Message: "Cannot find context with specified id"})
			return
		}
		serve(r, q)
	}, err
}

func (r *router) forwardPlain(q *request) {
	if domain, ok := strings.CutSuffix(q.method, enableSuffix); ok {
		r.enable(q, domain)
		return
	}
	if domain, ok := strings.CutSuffix(q.method, disableSuffix); ok {
		r.disable(q, domain)
		return
	}
	if undo, ok := r.undos[q.method]; ok {
		if q.isTooHeavy() {
			return
		}
		q.at.keep(setting{key: q.method, method: q.method, params: q.params, undo: undo})
	} else if key := clears(q.method); key != "" {
		q.at.unset(key)
	}
	r.pass(q)
}

// pass sends a command down and its answer back.
func (r *router) pass(q *request) { r.passThen(q, func([]byte, error) {}) }

// passThen lets look see the answer before the client does.
func (r *router) passThen(q *request, look func(result []byte, err error)) {
	r.passAs(q, q.params, func(result []byte, err error) {
		look(result, err)
		if err != nil {
			q.fail(err)
			return
		}
		q.reply(result)
	})
}

func (r *router) passAs(q *request, params []byte, then func(result []byte, err error)) {
	t := q.at.target
	h := t.liveHold()
	if h == nil {
		q.fail(errTabGone())
		return
	}
	h.ask(&command{child: t.child, method: q.method, params: params, asker: q, then: then})
}

// enable tells what is known of the domain to who comes late. The command goes down all the same: Chrome answers a
// second one with what it answered the first, and tells nothing again. What it told the first is told when the answer
// is there, since what a command brings comes after the answers of the commands before it.
func (r *router) enable(q *request, domain string) {
	var undo call
	if !isSticky(domain) {
		undo = call{method: domain + disableSuffix}
	}
	h := q.at.target.liveHold()
	if h == nil {
		q.fail(errTabGone())
		return
	}
	if q.isTooHeavy() {
		return
	}
	switch domain {
	case "Debugger":
		h.tell(q.at.target, neverPause()) // first: a page may pause as soon as it can
	case "Log", "Audits":
		h.tell(q.at.target, call{method: keyPage}) // it tells of the document that the entries are of
	}
	r.switchOn(q, setting{key: domain + enableSuffix, method: q.method, params: q.params, undo: undo})
}

// switchOn sends down what makes the target tell events, and replays to who is not the first to ask for them.
func (r *router) switchOn(q *request, s setting) {
	state, before := &q.at.target.state, q.at.find(s.key)
	s.isLate = state.isOn[s.key] && (before == nil || before.isLate)
	state.isOn[s.key] = true
	q.at.keep(s)
	r.passAs(q, q.params, func(result []byte, err error) {
		kept := q.at.find(s.key)
		switch {
		case err != nil:
			q.at.unset(s.key)
			if isRefusedByBrowser(err) {
				delete(q.at.target.state.isOn, s.key)
			}
			q.fail(err)
			return
		case kept != nil && kept.isLate:
			kept.isLate = false
			r.replay(q.at, s.key)
		}
		q.at.tellRun(s.key)
		q.reply(result)
	})
}

// neverPause keeps a page that clients debug from standing still: nobody could tell it to go on.
func neverPause() call { return call{"Debugger.setSkipAllPauses", []byte(`{"skip":true}`)} }

func (r *router) disable(q *request, domain string) {
	key := domain + enableSuffix
	q.at.unset(key)
	if isSticky(domain) || q.at.latest(key) != nil {
		q.reply(nil)
		return
	}
	q.at.target.state.forgetDomain(key)
	r.pass(q)
}

type enabledParams struct {
	Enabled bool `json:"enabled"`
}

func (r *router) setLifecycle(q *request, params enabledParams) {
	if !params.Enabled {
		q.at.unset(keyLifecycle)
		q.reply(nil) // it stays on: the router knows the stages of each document then
		return
	}
	r.switchOn(q, setting{key: keyLifecycle, method: q.method, params: q.params})
}

type bindingParams struct {
	Name string `json:"name"`
}

func (r *router) addBinding(q *request, params bindingParams) {
	if q.isOneTooMany() || q.isTooHeavy() {
		return
	}
	undo := call{"Runtime.removeBinding", encode(map[string]string{"name": params.Name})}
	q.at.keep(setting{key: keyBinding + params.Name, method: q.method, params: q.params, undo: undo})
	r.pass(q)
}

// removeBinding removes one. What another client has too stays.
func (r *router) removeBinding(q *request, params bindingParams) {
	key := keyBinding + params.Name
	q.at.unset(key)
	if q.at.latest(key) != nil {
		q.reply(nil)
		return
	}
	r.pass(q)
}

// readScript takes out beforehand what is not to be done again when the tab is attached anew.
func readScript(q *request) (serving, error) {
	kept := withoutRun(q.params)
	return func(r *router, q *request) { r.addScript(q, kept) }, nil
}

// addScript gives the script a name of the router's own: Chrome's is another once the tab was attached anew, and no
// client can remove another's.
func (r *router) addScript(q *request, kept []byte) {
	if q.isOneTooMany() || q.isTooHeavy() {
		return
	}
	r.sequence++
	name := strconv.Itoa(r.sequence)
	key := keyScript + name
	q.at.keep(setting{
		key: key, method: q.method, params: kept,
		undo: call{method: "Page.removeScriptToEvaluateOnNewDocument"},
	})
	r.passAs(q, q.params, func(result []byte, err error) {
		if err != nil {
			q.at.unset(key)
			q.fail(err)
			return
		}
		r.named(q.at, key, result)
		q.reply(encode(map[string]string{"identifier": name}))
	})
}

// named takes down Chrome's own name for a script. One whose client has left meanwhile is removed.
func (r *router) named(a *attachment, key string, result []byte) {
	var given struct {
		Identifier string `json:"identifier"`
	}
	if json.Unmarshal(result, &given) != nil {
		return
	}
	if s := a.find(key); s != nil {
		s.real = given.Identifier
		return
	}
	if h := a.target.liveHold(); h != nil {
		h.tell(a.target, call{
			"Page.removeScriptToEvaluateOnNewDocument", encode(map[string]string{"identifier": given.Identifier}),
		})
	}
}

// withReal are the parameters that take a script back.
func withReal(s setting) []byte { return encode(map[string]string{"identifier": s.real}) }

type scriptParams struct {
	Identifier string `json:"identifier"`
}

func (r *router) removeScript(q *request, params scriptParams) {
	key := keyScript + params.Identifier
	s := q.at.find(key)
	if s == nil {
		q.fail(&failure{Code: codeServer, Message: "Script not found"})
		return
	}
	known := withReal(*s)
	q.at.unset(key)
	r.passAs(q, known, func(_ []byte, err error) { q.done(err) })
}

// setFonts lets the first client choose: Chrome takes font families once in an attachment and refuses them afterwards,
// and a client that is refused does not start.
func (r *router) setFonts(q *request) {
	if q.at.latest(q.method) != nil || q.at.has(q.method) || q.at.target.state.hasFonts {
		q.reply(nil)
		return
	}
	q.at.target.state.hasFonts = true
	r.forwardPlain(q)
}

// arrivalPatience is how long a navigation's answer waits for its document: one that stands still from its first line on
// never says that it is there.
const arrivalPatience = 5 * time.Second

// navigatePage answers once the new document has answered something. Chrome answers before, and a page that is sent input in
// between takes none at all until it is left: all its clients' input would wait for ever.
func (r *router) navigatePage(q *request) {
	r.passAs(q, q.params, func(result []byte, err error) {
		h := q.at.target.liveHold()
		switch {
		case err != nil:
			q.fail(err)
		case h == nil || q.method == "Page.navigate" && !bringsDocument(result):
			q.reply(result)
		default:
			timer := time.AfterFunc(arrivalPatience, func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				q.reply(result)
			})
			h.ask(&command{child: q.at.target.child, method: "Page.getFrameTree", then: func([]byte, error) {
				timer.Stop()
				q.reply(result)
			}})
		}
	})
}

// bringsDocument reports whether Chrome's answer to Page.navigate says that another document comes.
func bringsDocument(result []byte) bool {
	var told struct {
		Loader     string `json:"loaderId"`
		IsDownload bool   `json:"isDownload"`
	}
	return json.Unmarshal(result, &told) == nil && told.Loader != "" && !told.IsDownload
}

// withoutRun takes out what would run a script at once in the page that is there.
func withoutRun(params []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(params, &fields) != nil || fields["runImmediately"] == nil {
		return params
	}
	delete(fields, "runImmediately")
	return encode(fields)
}
