package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"

	"chaperone/relay/cdp"
	"chaperone/relay/program"
)

// frame is one message to a client: a body that is passed on unread between small pieces of ours.
type frame struct {
	head []byte
	body []byte
	tail string
	// isAgain is true for what others were told before: its bound is that of what is kept.
	isAgain bool
}

// frameLeast is what a frame weighs besides its bytes.
const frameLeast = 128

func (f frame) size() int { return frameLeast + len(f.head) + len(f.body) + len(f.tail) }

// replyFrame answers the command that had id; session is the client's TargetSession, empty for its connection's own.
func replyFrame(id []byte, session string, result []byte) frame {
	return frame{head: append(answerHead(id, session), `"result":`...), body: orEmpty(result), tail: "}"}
}

func failureFrame(id []byte, session string, failure *failure) frame {
	body, err := json.Marshal(failure)
	if err != nil {
		body = []byte(`{"code":-32603,"message":"Internal error"}`)
	}
	return frame{head: append(answerHead(id, session), `"error":`...), body: body, tail: "}"}
}

func answerHead(id []byte, session string) []byte {
	head := make([]byte, 0, len(id)+len(session)+48)
	head = append(head, '{')
	if len(id) > 0 {
		head = append(head, `"id":`...)
		head = append(head, id...)
		head = append(head, ',')
	}
	return appendSession(head, session)
}

// eventFrame tells an event. method must be a plain CDP name.
func eventFrame(session, method string, params []byte) frame {
	head := make([]byte, 0, len(method)+len(session)+48)
	head = append(head, `{"method":"`...)
	head = append(head, method...)
	head = appendSession(append(head, `",`...), session)
	return frame{head: append(head, `"params":`...), body: orEmpty(params), tail: "}"}
}

// againFrame tells an event that others were told before.
func againFrame(session, method string, params []byte) frame {
	f := eventFrame(session, method, params)
	f.isAgain = true
	return f
}

func appendSession(head []byte, session string) []byte {
	if session == "" {
		return head
	}
	head = append(head, `"sessionId":"`...)
	head = append(head, session...)
	return append(head, `",`...)
}

func orEmpty(body []byte) []byte {
	if len(body) == 0 {
		return []byte("{}")
	}
	return body
}

// isPlainName reports whether a method's or event's name can stand in a frame as it is.
func isPlainName(name string) bool {
	for _, c := range []byte(name) {
		if c != '.' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return name != "" && len(name) <= 128
}

// encode writes what cannot fail to be written.
func encode(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		return []byte("{}")
	}
	return data
}

// failure is a CDP error.
type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (f *failure) Error() string { return fmt.Sprintf("%s (%d)", f.Message, f.Code) }

// The codes that Chrome itself uses.
const (
	codeNotJSON   = -32700
	codeMalformed = -32600
	codeUnknown   = -32601
	codeParams    = -32602
	codeServer    = -32000
	codeNoSession = -32001
)

// refusal is an error in our own words.
func refusal(format string, a ...any) *failure {
	return &failure{Code: codeServer, Message: "Chaperone: " + fmt.Sprintf(format, a...)}
}

// errMalformed answers a message that is no command, with Chrome's own codes.
func errMalformed(why error) *failure {
	code := codeMalformed
	if errors.Is(why, cdp.ErrNotJSON) {
		code = codeNotJSON
	}
	return &failure{Code: code, Message: "Chaperone: " + why.Error()}
}

func errNoTarget() *failure {
	return &failure{Code: codeParams, Message: "No target with given id found"}
}

func errNoSession() *failure {
	return &failure{Code: codeNoSession, Message: "Session with given id not found."}
}

// failureOf says in CDP's form why a command had no result.
func failureOf(err error) *failure {
	var (
		own     *failure
		refused *program.CallError
		told    *program.Error
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &refused):
		return &failure{Code: refused.Code, Message: refused.Message}
	case errors.As(err, &told):
		return refusal("%s (%s)", told.Message, told.Code)
	default:
		return refusal("the tab could not be asked, or did not answer")
	}
}
