package program

import (
	"context"
	"encoding/json"
	"time"
)

// While the browser waits for a server to answer with another document, it keeps from the page whatever it is asked: no
// function of the page script answers before that. Programs are told so.

// documentPatience is how long a step that asks the page waits for a document that is on its way.
const documentPatience = 10 * time.Second

// awaitDocument waits until no document is on its way. It leaves a tenth of the program's time.
func (e *Executor) awaitDocument(ctx context.Context) error {
	isThere := func() bool { return e.view.nav.phase != phaseStarted }
	if e.isThere(ctx, 0, isThere) {
		return nil
	}
	patience := documentPatience
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline)*9/10)
	}
	if e.isThere(ctx, patience, isThere) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return fault(codeTimeout, "the page waits for its server")
}

// late tells of a program that ran out of time whether that was for a document on its way: its detail has `waiting` then.
func (e *Executor) late(failed *Error) *Error {
	if failed.Code == codeTimeout && failed.Detail == nil && e.view.navigation().phase == phaseStarted {
		failed.Detail = json.RawMessage(`{"waiting":true}`)
	}
	return failed
}
