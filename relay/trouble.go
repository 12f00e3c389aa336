package relay

import "chaperone/relay/program"

// The contract's codes that the relay itself answers.
const (
	codeBadRequest     = "bad_request"
	codeBusy           = "busy"
	codeForbidden      = "forbidden"
	codeInternal       = "internal"
	codeNotConnected   = "not_connected"
	codeSessionEnded   = "session_ended"
	codeTabClosed      = "tab_closed"
	codeTabSuspended   = "tab_suspended"
	codeTooLarge       = "too_large"
	codeUnauthorised   = "unauthorised"
	codeUnavailable    = "unavailable"
	codeUpdateRequired = "update_required"
)

// refuse is an error before a program's first step, or without any. Each caller gets its own.
func refuse(code, message string) *program.Error {
	return &program.Error{Step: -1, Code: code, Message: message}
}

// Why a Browser has ended.

func errGone() *program.Error { return refuse(codeNotConnected, "the server is ending") }

func errDisconnected() *program.Error {
	return refuse(codeNotConnected, "the browser was disconnected from this project")
}

func errReplaced() *program.Error {
	return refuse(codeNotConnected, "another browser was connected to this project in its place")
}

func errSessionClosed() *program.Error { return refuse(codeSessionEnded, "the session has ended") }

// Why a call was not made or not answered.

func errNoLink() *program.Error {
	return refuse(codeNotConnected, "no browser is connected to this project")
}

func errLinkDied() *program.Error {
	return refuse(codeNotConnected, "the connection to the browser broke before it answered; what was asked may have been done")
}

// errLinkLost is for a raw command that was not sent.
func errLinkLost() *program.Error {
	return refuse(codeNotConnected, "the connection to the browser is lost for now; this was not sent to it")
}

func errCrowded() *program.Error {
	return refuse(codeBusy, "the browser has as much to do as its link allows")
}

func errTooLarge() *program.Error {
	return refuse(codeTooLarge, "the program is larger than 2 MiB")
}

func errUnreadable() *program.Error {
	return refuse(codeInternal, "the browser's answer is not readable")
}

// Why a tab is not held, or not any more.

func errOutdated() *program.Error {
	return refuse(codeUpdateRequired, "the browser's extension is too old for CDP clients: update it from the dashboard")
}

func errNoTab() *program.Error {
	return refuse(codeTabClosed, "the tab was closed, or is no longer shared with this project")
}

func errForeign() *program.Error {
	return refuse(codeForbidden, "the tab belongs to another session")
}

func errTooLow() *program.Error {
	return refuse(codeForbidden, "the tab is shared to read only, which is nothing for a CDP client")
}

func errHeld() *program.Error {
	return refuse(codeBadRequest, "the tab is held already")
}

func errTooTalkative() *program.Error {
	return refuse(codeTabSuspended, "the page tells more than its clients can be told; it is attached again in a while")
}

func errReleased() *program.Error {
	return refuse(codeTabSuspended, "nobody uses the tab any more")
}

// errMoved is for a raw command that was not sent before the tab was attached anew.
func errMoved() *program.Error {
	return refuse(codeTabSuspended, "the tab was being attached anew; this was not sent to it")
}

func errAnew() *program.Error {
	return refuse(codeTabSuspended, "the tab was attached anew before it answered; what was asked may have been done")
}
