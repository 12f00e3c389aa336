package endpoint

import (
	"encoding/json"
	"strconv"
	"strings"
)

// forward passes a command on to its target, and keeps account of what it sets there. mu is held.
func forward(r *router, q *request) {
	if q.at.target.state.isHidden(q.params) {
		q.fail(&failure{Code: codeServer, Message: "Cannot find context with specified id"})
		return
	}
	if q.isRead {
		r.print(q)
		return
	}
	switch q.method {
	case "Page.addScriptToEvaluateOnNewDocument":
		r.addScript(q)
		return
	case "Page.removeScriptToEvaluateOnNewDocument":
		r.removeScript(q)
		return
	case "Runtime.addBinding", "Runtime.removeBinding":
		r.bind(q)
		return
	case keyLifecycle:
		r.setLifecycle(q)
		return
	case "Page.startScreencast":
		r.startCast(q)
		return
	case "Page.createIsolatedWorld":
		r.makeWorld(q)
		return
	case "DOM.getDocument":
		r.getDocument(q)
		return
	case "Page.setFontFamilies":
		r.setFonts(q)
		return
	}
	r.forwardPlain(q)
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
	h.ask(&command{child: t.child, method: q.method, params: params, then: then})
}

// enable tells what is known of the domain to who comes late. The command goes down all the same: Chrome answers a
// second one with what it answered the first, and tells nothing again. What it told the first is told when the answer
// is there, since what a command brings comes after the answers of the commands before it.
func (r *router) enable(q *request, domain string) {
	var undo call
	if !isSticky(domain) {
		undo = call{method: domain + disableSuffix}
	}
	r.switchOn(q, setting{key: domain + enableSuffix, method: q.method, params: q.params, undo: undo})
	if h := q.at.target.liveHold(); h != nil && domain == "Debugger" {
		h.tell(q.at.target, neverPause())
	}
}

// switchOn sends down what makes the target tell events, and replays to who is not the first to ask for them.
func (r *router) switchOn(q *request, s setting) {
	state := &q.at.target.state
	s.isLate = state.isOn[s.key] && !q.at.has(s.key)
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

func (r *router) setLifecycle(q *request) {
	var params struct {
		Enabled bool `json:"enabled"`
	}
	if !q.into(&params) {
		return
	}
	if !params.Enabled {
		q.at.unset(keyLifecycle)
		q.reply(nil) // it stays on: the router knows the stages of each document then
		return
	}
	r.switchOn(q, setting{key: keyLifecycle, method: q.method, params: q.params})
}

// bind adds or removes a binding. One that another client has too stays.
func (r *router) bind(q *request) {
	var params struct {
		Name string `json:"name"`
	}
	if !q.into(&params) {
		return
	}
	key := keyBinding + params.Name
	if q.method == "Runtime.removeBinding" {
		q.at.unset(key)
		if q.at.latest(key) != nil {
			q.reply(nil)
			return
		}
		r.pass(q)
		return
	}
	if q.isOneTooMany() {
		return
	}
	undo := call{"Runtime.removeBinding", encode(map[string]string{"name": params.Name})}
	q.at.keep(setting{key: key, method: q.method, params: q.params, undo: undo})
	r.pass(q)
}

// addScript gives the script a name of the router's own: Chrome's is another once the tab was attached anew, and no
// client can remove another's.
func (r *router) addScript(q *request) {
	if q.isOneTooMany() {
		return
	}
	r.sequence++
	name := strconv.Itoa(r.sequence)
	key := keyScript + name
	q.at.keep(setting{
		key: key, method: q.method, params: withoutRun(q.params),
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

func (r *router) removeScript(q *request) {
	var params struct {
		Identifier string `json:"identifier"`
	}
	if !q.into(&params) {
		return
	}
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

// withoutRun takes out what would run a script at once in the page that is there.
func withoutRun(params []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(params, &fields) != nil || fields["runImmediately"] == nil {
		return params
	}
	delete(fields, "runImmediately")
	return encode(fields)
}
