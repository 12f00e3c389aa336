package program

import (
	"context"
	"encoding/json"
)

// answerDialogs answers every JavaScript dialog until the program has ended: a page and the command that opened a
// dialog stand still until somebody does. beforeunload is accepted, since the program asked to leave; all others are
// dismissed. The answer is closed when the last one is done.
func (e *Executor) answerDialogs(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e.answerDialog(ctx) {
		}
	}()
	return done
}

// answerDialog waits for one dialog and answers it; false means that there is none left to wait for.
func (e *Executor) answerDialog(ctx context.Context) bool {
	var dialog Dialog
	open, count := false, 0
	err := e.view.until(ctx, func() bool {
		if open, count = e.view.isBlocked, e.view.opened; open {
			dialog = e.view.dialogs[len(e.view.dialogs)-1]
		}
		return open || e.view.isEnded
	})
	if err != nil || !open {
		return false
	}
	params := json.RawMessage(`{"accept":false}`)
	if dialog.Type == "beforeunload" {
		params = json.RawMessage(`{"accept":true}`)
	}
	if _, err := e.target.Call(ctx, "", "Page.handleJavaScriptDialog", params); err != nil {
		// It is not there any more: a person was faster, or the tab is gone.
		e.view.update(func() { e.view.isBlocked = e.view.isBlocked && e.view.opened != count })
	}
	return true
}
