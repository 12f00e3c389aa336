package program

import (
	"context"
	"encoding/json"
	"slices"
)

// answerMethod is the call that answers a dialog.
const answerMethod = "Page.handleJavaScriptDialog"

// dialogKinds are CDP's.
func dialogKinds() []string { return []string{"alert", "confirm", "prompt", "beforeunload"} }

func checkKept(kinds []string) *Error {
	for _, kind := range kinds {
		if !slices.Contains(dialogKinds(), kind) {
			return refuse(codeBadRequest, "keep_dialogs holds a kind that there is not")
		}
	}
	return nil
}

// kept are the kinds of dialogs that stay open: nobody but a person answers at level read.
func (e *Executor) kept(p Program) []string {
	if e.options.Level != LevelAct {
		return nil
	}
	return p.KeepDialogs
}

// isAnswer reports whether the program is there to answer a dialog.
func (p Program) isAnswer() bool { return len(p.Steps) > 0 && p.Steps[0].Call == answerMethod }

// isKept reports whether the dialog that is open, if one is, stays open. It is called under the lock.
func (v *view) isKept() bool {
	return v.isBlocked && slices.Contains(v.keep, v.dialogs[len(v.dialogs)-1].Type)
}

// holdsUp reports whether a dialog that stays open has opened since the program began. It is called under the lock.
func (v *view) holdsUp() bool { return v.isKept() && v.opened > v.own }

func (v *view) isHeldUp() (held bool) {
	v.read(func() { held = v.holdsUp() })
	return held
}

// isHeldUpBefore reports whether one was open before it began.
func (v *view) isHeldUpBefore() (held bool) {
	v.read(func() { held = v.isKept() && v.opened == v.own })
	return held
}

func dialogOpen(step int) *Error {
	return &Error{Step: step, Code: codeDialogOpen, Message: "a dialog of the page is open"}
}

// mindDialogs answers every JavaScript dialog until the program has ended: a page and the command that opened a
// dialog stand still until somebody does. beforeunload is accepted, since the program asked to leave; all others are
// dismissed. One that stays open ends the program instead. The answer is closed when there is nothing left to mind.
func (e *Executor) mindDialogs(ctx context.Context, end context.CancelFunc) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e.mindDialog(ctx, end) {
		}
	}()
	return done
}

// mindDialog waits for one dialog and minds it; false means that there is none left to wait for.
func (e *Executor) mindDialog(ctx context.Context, end context.CancelFunc) bool {
	var due Dialog
	count := 0
	err := e.view.until(ctx, func() bool {
		due, count = e.view.due(), e.view.opened
		return due.Type != "" || e.view.holdsUp() || e.view.isEnded
	})
	if e.view.isHeldUp() {
		end()
	}
	if err != nil || due.Type == "" {
		return false
	}
	params := json.RawMessage(`{"accept":false}`)
	if due.Type == "beforeunload" {
		params = json.RawMessage(`{"accept":true}`)
	}
	if _, err := e.target.Call(ctx, "", answerMethod, params); err != nil {
		// It is not there any more: a person was faster, or the tab is gone.
		e.view.update(func() { e.view.isBlocked = e.view.isBlocked && e.view.opened != count })
	}
	return true
}

// due is the open dialog that is to be answered at once; zero for none. It is called under the lock.
func (v *view) due() Dialog {
	if !v.isBlocked || v.isKept() {
		return Dialog{}
	}
	return v.dialogs[len(v.dialogs)-1]
}
