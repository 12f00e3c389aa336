package browse

import (
	"context"
	"encoding/json"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// While the browser waits for a server to answer with another document, the page that stands in the tab answers nothing.

// isWaiting reports that a program ran out of time for that.
func isWaiting(failed *program.Error) bool {
	var told struct {
		Waiting bool `json:"waiting"`
	}
	return failed.Code == string(fault.Timeout) && json.Unmarshal(failed.Detail, &told) == nil && told.Waiting
}

// noteWaiting keeps in mind whether the tab waits for a server, as far as a program has told.
func (e *Engine) noteWaiting(tab string, ran program.Result) {
	switch {
	case tab == "":
	case ran.Error != nil && isWaiting(ran.Error) || ran.Stopped:
		e.waits[tab] = true
	case ran.Error == nil:
		delete(e.waits, tab)
	}
}

// mayLeave reports that a program for open ended because the page in the tab waits for a server, which is to be left too.
func (j job) mayLeave(failed *program.Error) bool {
	return j.plan.awake != absent && failed.Step <= j.plan.awake && isWaiting(failed)
}

// openInstead is open in a tab that waits for a server: that it does no longer.
func (e *Engine) openInstead(ctx context.Context, j job) (Result, error) {
	j.plan = newPlan(j.tab, j.action, max(leastOpen, j.left()))
	j.plan.call(stopLoading, object{})
	j.plan.wake()
	j.plan.open(j.opens)
	j.plan.look(j.action, j.view)
	return e.carryOut(ctx, j)
}

const stopLoading = "Page.stopLoading"

// waitingFor is the answer to an action that began to load a document whose server has not answered yet.
func (e *Engine) waitingFor(j job, ran program.Result) Result {
	r := Result{Tab: j.tab, Dialogs: []program.Dialog{}, Notices: []string{
		"Another page has been asked for, and its server has not answered yet: nothing can be seen before it does. Wait, then take a snapshot; or open another address.",
	}}
	if j.tab == program.NewTab {
		r.Tab = ran.Tab
	}
	for _, tab := range e.browser.Tabs() {
		if tab.ID == r.Tab {
			tab.URL = e.address(tab.ID, tab.URL)
			tab = cleanTab(tab)
			r.URL, r.Title = tab.URL, tab.Title
		}
	}
	if j.plan.locate != absent {
		r.Notices = append(r.Notices, "The click was sent, and began this. Do not click again.")
	}
	told := &reading{job: j, ran: ran, result: r}
	told.events()
	return told.result
}

// lateWaiting says that a program ran out of time for a server.
func lateWaiting() *fault.Fault {
	return fault.New(fault.Timeout, "The page waits for the answer of a server: nothing of it can be seen before that", "Wait and try again, or open another address.")
}
