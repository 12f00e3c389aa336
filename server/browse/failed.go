package browse

import (
	"strings"

	"chaperone/relay/program"
)

// errorPage is what the browser calls the page of its own that stands where one did not load.
const errorPage = "chrome-error:"

// address is where a tab is: the address that did not load, where the browser's own page stands instead of it.
func (e *Engine) address(tab, told string) string {
	if told == "" || strings.HasPrefix(told, errorPage) {
		return e.failed[tab]
	}
	return told
}

// name gives a page of the browser's own the address that did not load, and says so.
func (e *Engine) name(r *reading) {
	if !strings.HasPrefix(r.state.URL, errorPage) {
		delete(e.failed, r.result.Tab)
		return
	}
	answer := r.settled.Answer
	if answer != nil && r.settled.Navigated && answer.Error != "" {
		e.failed[r.result.Tab] = program.Clip(answer.URL, longestURL)
		r.notice(notLoaded(answer.Error, *answer).Message + ".")
	}
	r.state.URL, r.state.Title = e.failed[r.result.Tab], ""
	for _, tab := range e.browser.Tabs() {
		if tab.ID == r.result.Tab && r.state.URL == "" {
			r.state.URL = e.address(tab.ID, tab.URL)
		}
	}
	r.job.moved = r.job.moved && r.state.URL != e.stands[r.result.Tab]
	r.notice("This address did not load: what stands there is the browser's own page about that.")
}

// keepFailed notes the address that did not load: the browser's own page stands there now.
func (e *Engine) keepFailed(j job, tab, text string) {
	if j.opens != "" && tab != "" && !isAborted(text) {
		e.failed[tab], e.stands[tab] = j.opens, j.opens
		e.forgetSeen(tab)
	}
}
