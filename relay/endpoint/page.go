package endpoint

import "encoding/json"

// pageAnswers are what is answered by itself in a target's session, in place of what is answered at the browser's
// level or by the browser.
func pageAnswers() map[string]answer {
	return map[string]answer{
		"Target.setAutoAttach":               with(setAutoAttachBelow),
		"Page.bringToFront":                  plain(nothing), // it believes itself in front; the person's windows stay as they are
		"Emulation.setFocusEmulationEnabled": plain(nothing), // always on: a hidden page would not answer input
		"Page.close":                         plain(closePage),
		"Page.stopScreencast":                plain(stopScreencast),
		"Page.screencastFrameAck":            plain(screencastFrameAck),
		"Runtime.runIfWaitingForDebugger":    plain(runIfWaiting),
		"IO.read":                            with(readStream),
		"IO.close":                           with(closeStream),
	}
}

// setAutoAttachBelow attaches the client to what is below its session: a tab's page, a page's frames and workers.
func setAutoAttachBelow(r *router, q *request, params autoAttachParams) {
	if params.isNotFlat() {
		q.fail(errFlatOnly())
		return
	}
	auto := params.asked()
	q.at.auto = auto
	if auto == nil {
		r.endAuto(q.client, q.at)
	}
	h := q.at.target.liveHold()
	if q.at.target.isWrapper() || h == nil {
		r.autoAttachBelow(q.at)
		q.reply(nil)
		return
	}
	// It goes down even where it changes nothing: what it brings comes after the answers of the commands before it.
	q.at.target.state.waits = q.at.target.waits()
	h.ask(&command{
		child: q.at.target.child, method: "Target.setAutoAttach", params: q.at.target.autoAttachDown(), asker: q,
		then: func(_ []byte, err error) {
			if err == nil {
				r.autoAttachBelow(q.at)
			}
			q.done(err)
		},
	})
}

func runIfWaiting(r *router, q *request) {
	r.goOn(q.at.target, q.at)
	q.reply(nil)
}

func closePage(r *router, q *request) { r.closeTab(q, q.at.target, nil) }

// isNoPlace reports whether a command only takes an emulated place back, as chrome-devtools-mcp does whenever it
// emulates anything. No place is ever emulated, so there is nothing to do; any other place is refused.
func isNoPlace(method string, params []byte) bool {
	if method != "Emulation.setGeolocationOverride" {
		return false
	}
	var place map[string]json.RawMessage
	if len(params) > 0 && json.Unmarshal(params, &place) != nil {
		return false
	}
	for name, value := range place {
		isKnown := name == "latitude" || name == "longitude" || name == "accuracy"
		if !isKnown || string(value) != "0" {
			return false
		}
	}
	return len(place) == 0 || len(place) == 3
}

// isOwnAgent reports whether a command only gives the browser the user agent that clients are told it has, as Puppeteer
// does to take an override back. None is ever overridden, so there is nothing to do; any other is left to the judge.
func isOwnAgent(method string, params []byte, own string) bool {
	if method != "Network.setUserAgentOverride" && method != "Emulation.setUserAgentOverride" {
		return false
	}
	var given map[string]json.RawMessage
	return json.Unmarshal(params, &given) == nil && len(given) == 1 && textOf(given["userAgent"]) == own
}
