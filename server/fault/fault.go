package fault

import (
	"errors"
	"fmt"
)

// Code is one of the contract's error codes.
type Code string

// The codes of the contract. Add to them; never rename one.
const (
	BadRequest         Code = "bad_request"
	Unauthorised       Code = "unauthorised"
	Forbidden          Code = "forbidden"
	NotFound           Code = "not_found"
	ReadOnlyRefused    Code = "read_only_refused"
	DomainRefused      Code = "domain_refused"
	URLRefused         Code = "url_refused"
	AddressRefused     Code = "address_refused"
	StaleRef           Code = "stale_ref"
	Ambiguous          Code = "ambiguous"
	NotVisible         Code = "not_visible"
	NotEnabled         Code = "not_enabled"
	Covered            Code = "covered"
	NotLanded          Code = "not_landed"
	FormRefused        Code = "form_refused"
	DialogOpen         Code = "dialog_open"
	BotCheck           Code = "bot_check"
	NavigationFailed   Code = "navigation_failed"
	Timeout            Code = "timeout"
	Busy               Code = "busy"
	NotConnected       Code = "not_connected"
	TabClosed          Code = "tab_closed"
	TabSuspended       Code = "tab_suspended"
	UpdateRequired     Code = "update_required"
	ControlledByPerson Code = "controlled_by_person"
	SessionEnded       Code = "session_ended"
	TooLarge           Code = "too_large"
	RateLimited        Code = "rate_limited"
	Unavailable        Code = "unavailable"
	Internal           Code = "internal"
)

// Fault is an error the outside may read. Message and Hint never hold a secret, page text or typed text.
type Fault struct { //nolint:errname // the word of the house, in every signature
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Detail is what the page said about it, neutralised: what covers an element, what a ref has become. It is
	// page text: it stands between boundaries toward a model, and is never logged.
	Detail string `json:"detail,omitempty"`
	cause  error
}

// New makes a fault; hint may be empty.
func New(code Code, message, hint string) *Fault {
	return &Fault{Code: code, Message: message, Hint: hint}
}

// Wrap makes an internal fault that keeps cause for errors.Is and the log, and tells the outside only what.
func Wrap(cause error, what string) *Fault {
	return &Fault{Code: Internal, Message: what, Hint: "See the server's log.", cause: cause}
}

// WithDetail is f with page text that says more.
func (f *Fault) WithDetail(text string) *Fault {
	told := *f
	told.Detail = text
	return &told
}

func (f *Fault) Error() string {
	if f.cause != nil {
		return fmt.Sprintf("%s: %s: %v", f.Code, f.Message, f.cause)
	}
	return fmt.Sprintf("%s: %s", f.Code, f.Message)
}

func (f *Fault) Unwrap() error { return f.cause }

// Of returns err's fault, or an internal one around it. Of(nil) is nil.
func Of(err error) *Fault {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return Wrap(err, "something went wrong inside the server")
}

// Is reports whether err is a fault with this code.
func Is(err error, code Code) bool {
	f, ok := errors.AsType[*Fault](err)
	return ok && f.Code == code
}
