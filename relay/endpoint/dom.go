package endpoint

import (
	"strings"
)

// domState is what the tab's one DOM agent has told since it was asked for the document. Its node ids are shared by
// all clients of a tab, and every DOM.getDocument makes all earlier ones void. So a client that asks the same question
// later is given the same answer, and told what came after it: it knows then what the first one knows.
type domState struct {
	asked  string // the parameters of the answer
	answer []byte // nil: there is none that still holds
	since  shelf  // events, in order
	// hasChanged is true when the answer itself would be another now.
	hasChanged bool
	knows      map[*attachment]struct{} // who has these node ids
}

// maxDOMEvents bounds what is told again; beyond, the next one asks anew.
const maxDOMEvents = 4 * maxKept

func (d *domState) forget() { *d = domState{} }

func (d *domState) keep(method string, params []byte) {
	if d.answer == nil || !strings.HasPrefix(method, "DOM.") {
		return
	}
	d.since.line(method, params)
	if method != "DOM.setChildNodes" {
		d.hasChanged = true
	}
	if len(d.since.items) >= maxDOMEvents || d.since.bytes >= maxKeptBytes {
		knows := d.knows
		d.forget()
		d.knows = knows
	}
}

// getDocument answers from what is known where another client has node ids that a new question would take from it.
func (r *router) getDocument(q *request, asked documentParams) {
	isFollowing := q.at.has("DOM" + enableSuffix)
	if !isFollowing {
		// Chrome enables the domain by this.
		q.at.keep(setting{key: "DOM" + enableSuffix, method: "DOM" + enableSuffix})
	}
	canServe := func(d *domState) bool { return d.canServe(q, isFollowing, asked.isDeep()) }
	if canServe(&q.at.target.state.dom) {
		r.serveDocument(q, canServe)
		return
	}
	r.askDocument(q)
}

type documentParams struct {
	Depth int `json:"depth"`
}

// isDeep reports whether more is asked than what a client that follows events can be told afterwards.
func (p documentParams) isDeep() bool { return p.Depth < 0 || p.Depth > 2 }

// serveDocument waits until it is the question's turn, by asking for what changes nothing.
func (r *router) serveDocument(q *request, canServe func(*domState) bool) {
	h := q.at.target.liveHold()
	if h == nil {
		q.fail(errTabGone())
		return
	}
	h.ask(&command{child: q.at.target.child, method: "DOM" + enableSuffix, asker: q, then: func(_ []byte, err error) {
		d := &q.at.target.state.dom
		switch {
		case err != nil:
			q.fail(err)
		case !canServe(d):
			r.askDocument(q)
		case q.at.isLive():
			d.knows[q.at] = struct{}{}
			q.reply(d.answer)
			q.at.tellAll(d.since)
		default:
			q.reply(d.answer)
		}
	}})
}

func (r *router) askDocument(q *request) {
	r.passThen(q, func(result []byte, err error) {
		if err == nil {
			q.at.target.state.dom.renew(q, result)
		}
	})
}

// canServe reports whether the known answer does: for who follows the events it may be old, since they come after it.
func (d *domState) canServe(q *request, isFollowing, isDeep bool) bool {
	if d.answer == nil || d.asked != string(q.params) {
		return false
	}
	_, knows := d.knows[q.at]
	if knows && len(d.knows) == 1 {
		return false
	}
	return !d.hasChanged || isFollowing && !knows && !isDeep
}

// renew keeps a new answer, and says to those with the old node ids that these mean nothing any more.
func (d *domState) renew(q *request, result []byte) {
	for a := range d.knows {
		if a != q.at {
			a.tellIf("DOM"+enableSuffix, "DOM.documentUpdated")
		}
	}
	*d = domState{
		asked: string(q.params), answer: orEmpty(result), since: shelf{most: maxDOMEvents},
		knows: map[*attachment]struct{}{q.at: {}},
	}
}
