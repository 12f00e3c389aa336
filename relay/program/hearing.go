package program

import (
	"context"
	"encoding/json"
	"slices"
)

// A program that waits for what it begins hears of the page's requests from just before it begins anything until it has
// settled. A page tells of each request several times over: at all other times nobody listens.

// hearsFrom is the step before which a program begins to hear of requests: its first that is sent to the page or may not
// be done twice; a page whose dialog is open, or whose server is waited for, tells nothing before that is over. Programs without such a step, and those that wait for nothing they begin, hear of none: -1.
func (e *Executor) hearsFrom(p Program) int {
	if !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Settle != nil && s.Settle.Begun }) {
		return -1
	}
	return slices.IndexFunc(p.Steps, func(s Step) bool {
		return s.Call != "" && s.Call != answerMethod && s.Call != methodStop || s.Run != "" && !e.options.Table.CanRetry(s.Run)
	})
}

// hear asks the page to tell of its requests. One that refuses settles without.
func (e *Executor) hear(ctx context.Context) {
	e.view.update(func() { e.view.requests = newRequests(true) })
	if e.isHearing {
		return
	}
	// Nobody asks for bodies: the page keeps none.
	params := json.RawMessage(`{"maxTotalBufferSize":0,"maxResourceBufferSize":0}`)
	if _, err := e.target.Call(ctx, "", "Network.enable", params); err == nil {
		e.isHearing = true
	}
}

// stopHearing ends it, unless the program's time is up or the page's server is waited for: the next program does then.
func (e *Executor) stopHearing(ctx context.Context) {
	if !e.isHearing || ctx.Err() != nil || e.view.navigation().phase == phaseStarted {
		return
	}
	if _, err := e.target.Call(ctx, "", "Network.disable", json.RawMessage(`{}`)); err == nil {
		e.isHearing = false
	}
}
