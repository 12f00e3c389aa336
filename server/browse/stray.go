package browse

import (
	"context"
	"encoding/json"
	"strings"

	"chaperone/server/fault"
)

// takeBack brings a tab that has left the allowed domains back to where it was, or else to a blank page, and
// answers why. Nothing of the page it strayed to is told.
func (e *Engine) takeBack(ctx context.Context, j job, tab string) error {
	e.forgetSeen(tab)
	if j.action.Action != "open" && e.goBack(ctx, j, tab) {
		return strayed("The page went to a domain that the project does not allow, and was taken back")
	}
	blank := newPlan(tab, Action{}, max(leastOpen, j.left()))
	blank.answers = true
	blank.call("Page.navigate", object{"url": blankPage})
	if _, err := e.send(ctx, blank); err != nil {
		return strayed("The page went to a domain that the project does not allow; nothing of it is told")
	}
	return strayed("The page went to a domain that the project does not allow, and was closed")
}

// goBack reports whether going back led to an allowed page.
func (e *Engine) goBack(ctx context.Context, j job, tab string) bool {
	p := newPlan(tab, Action{}, max(leastOpen, j.left()))
	p.answers = true // no dialog keeps a tab where it may not be
	p.run("@history", "", object{"delta": -1})
	p.settleFor(quietMS, settleMS)
	p.state = p.run("@state", "", object{})
	result, err := e.send(ctx, p)
	if err != nil {
		return false
	}
	var state pageState
	if json.Unmarshal(result.Steps[p.state], &state) != nil {
		return false
	}
	return state.URL != "" && e.options.admits(state.whereabouts, true)
}

func strayed(what string) error {
	return fault.New(fault.DomainRefused, strings.TrimSuffix(what, "."), "Stay within the project's allowed domains.")
}
