package relay

import (
	"context"
	"errors"

	"github.com/coder/websocket"

	"chaperone/relay/program"
)

// The close codes of the protocol.
const (
	closeRenewed  = websocket.StatusNormalClosure
	closeRevoked  = websocket.StatusCode(4001)
	closeReplaced = websocket.StatusCode(4002)
	closeExpired  = websocket.StatusCode(4003)
	closeProtocol = websocket.StatusCode(4004)
)

// refusal ends an opening: the frame that says so, and the close code after it.
type refusal struct {
	T       string `json:"t"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Retry   bool   `json:"retry"`
	status  websocket.StatusCode
}

func (r *refusal) Error() string { return "relay: refused: " + r.Code + ": " + r.Message }

func errMalformed(message string) *refusal {
	return &refusal{T: kindRefused, Code: codeBadRequest, Message: message, status: closeProtocol}
}

// errOverfull turns away a list of tabs that is too long, until it is not.
func errOverfull() *refusal {
	return &refusal{
		T: kindRefused, Code: codeTooLarge, Retry: true, status: websocket.StatusMessageTooBig,
		Message: "the browser shares more tabs than a link carries",
	}
}

func errVersion() *refusal {
	return &refusal{
		T: kindRefused, Code: codeUpdateRequired, status: closeProtocol,
		Message: "this server speaks another version of the link: update the extension from the dashboard",
	}
}

// errUnproved is the one answer to an unknown token and to a wrong proof.
func errUnproved() *refusal {
	return &refusal{
		T: kindRefused, Code: codeUnauthorised, status: closeRevoked,
		Message: "this connection code is not known here any more",
	}
}

// refusalOf tells what the Authority said. Only a *program.Error is written for the outside.
func refusalOf(err error) *refusal {
	r := &refusal{T: kindRefused, Code: codeForbidden, Message: "this project cannot be reached", status: closeRevoked}
	if said, ok := errors.AsType[*program.Error](err); ok {
		r.Code, r.Message = said.Code, said.Message
	}
	if isTrouble(err) {
		r.Code, r.Message = codeUnavailable, "the server cannot look up pairings at the moment"
		r.Retry, r.status = true, websocket.StatusGoingAway
	}
	return r
}

// isTrouble tells an Authority that could not answer from one that said no.
func isTrouble(err error) bool {
	if said, ok := errors.AsType[*program.Error](err); ok {
		return said.Code == codeUnavailable || said.Code == codeBusy
	}
	return errors.Is(err, context.DeadlineExceeded)
}
