package program

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// loginPatience is how long a server's challenge may stand: a browser without a window turns it down at once and goes on
// to the page that came with it, one with a window asks the person, and nothing comes until that is done.
const loginPatience = 700 * time.Millisecond

var errLogin = errors.New("a user and a password are asked for")

// navigate sends Page.navigate. Its reply is the step's result; what the browser says of a navigation that brings no
// document is a navigation_failed, with an Answer for its detail where the page told of its requests.
func (e *Executor) navigate(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	asking, end := context.WithCancelCause(ctx)
	watched := e.watchLogin(asking, end)
	reply, err := e.target.Call(asking, "", methodNavigate, params)
	isLogin := errors.Is(context.Cause(asking), errLogin)
	end(nil)
	<-watched
	var refused *CallError
	switch {
	case err != nil && isLogin && ctx.Err() == nil:
		return nil, e.notLoaded(errLogin.Error())
	case errors.As(err, &refused):
		return nil, e.notLoaded(refused.Message)
	case err != nil:
		return nil, err
	}
	return reply, e.navigating(reply)
}

// watchLogin ends a navigation whose server asks for a login that nobody gives. The answer is closed when it watches no more.
func (e *Executor) watchLogin(ctx context.Context, end context.CancelCauseFunc) <-chan struct{} {
	done := make(chan struct{})
	isAsked := func() bool {
		a := e.view.requests.answer
		return a != nil && a.Challenge != "" && a.Status == 0
	}
	go func() {
		defer close(done)
		for e.view.until(ctx, isAsked) == nil {
			if !e.isThere(ctx, loginPatience, func() bool { return !isAsked() }) {
				end(errLogin)
				return
			}
		}
	}()
	return done
}

// navigating reads Page.navigate's reply, which comes once it is clear which document will follow.
func (e *Executor) navigating(reply json.RawMessage) error {
	var navigate struct {
		LoaderID   string `json:"loaderId"`
		ErrorText  string `json:"errorText"`
		IsDownload bool   `json:"isDownload"`
	}
	if err := json.Unmarshal(reply, &navigate); err != nil {
		return fault(codeInternal, "Page.navigate was answered in another shape than expected")
	}
	switch {
	case navigate.IsDownload:
		return e.notLoaded(navigate.ErrorText + ": the address is a download, the page stays")
	case navigate.ErrorText == "net::ERR_ABORTED":
		return e.notLoaded(navigate.ErrorText + ": the answer is a download or holds no document, or another navigation came between")
	case navigate.ErrorText != "":
		return e.notLoaded(navigate.ErrorText)
	case navigate.LoaderID != "":
		e.view.update(func() { e.view.nav.start(navigate.LoaderID) })
	}
	return nil
}

func (e *Executor) notLoaded(message string) error {
	failed := fault(codeNavigationFailed, message)
	if answer := e.view.answer(); answer != nil {
		failed.Detail, _ = encode(answer)
	}
	return failed
}
