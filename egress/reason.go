package egress

import (
	"net/http"
	"slices"
)

// Reason says why something was permitted or refused. Only Allowed and TestOrigin permit; the zero value and
// every unknown value refuse.
type Reason string

// The reasons. They are stable: metrics, logs and the header X-Chaperone-Refused carry them.
const (
	Allowed    Reason = "allowed"
	TestOrigin Reason = "test_origin"

	// Of addresses.
	BadAddress  Reason = "bad_address"
	Zone        Reason = "zone"
	Unspecified Reason = "unspecified_address"
	Loopback    Reason = "loopback_address"
	Private     Reason = "private_address"
	LinkLocal   Reason = "link_local_address"
	Multicast   Reason = "multicast_address"
	Metadata    Reason = "metadata_address"
	Embedded    Reason = "embedded_address"
	Special     Reason = "special_address"
	OwnAddress  Reason = "own_address"

	// Of names.
	BadHost      Reason = "bad_host"
	LocalName    Reason = "local_name"
	MetadataName Reason = "metadata_name"
	SingleLabel  Reason = "single_label"

	// Of URLs and request targets.
	BadURL   Reason = "bad_url"
	Scheme   Reason = "scheme"
	UserInfo Reason = "userinfo"
	BadPort  Reason = "bad_port"
	Port     Reason = "port"

	// Of requests.
	Method      Reason = "method"
	BadMethod   Reason = "bad_method"
	BadRequest  Reason = "bad_request"
	NotProxied  Reason = "not_a_proxy_request"
	HeadTooBig  Reason = "request_head_too_large"
	HeadTooSlow Reason = "request_head_too_slow"
	BodyTooSlow Reason = "request_body_too_slow"
	Encoding    Reason = "transfer_encoding"
	Upgrade     Reason = "upgrade"
	Busy        Reason = "busy"

	// Of what went on for too long.
	TooManyBytes Reason = "too_many_bytes"
	TooQuiet     Reason = "idle"
	TooOld       Reason = "lifetime"

	// Of what lies beyond the proxy.
	NotResolved    Reason = "name_not_resolved"
	LookupTimeout  Reason = "lookup_timeout"
	TooManyAnswers Reason = "too_many_addresses"
	Unreachable    Reason = "unreachable"

	ConnectionRefused Reason = "connection_refused"

	PeerChanged   Reason = "peer_changed"
	BadAnswer     Reason = "bad_answer"
	AnswerTimeout Reason = "answer_timeout"
	ClientGone    Reason = "client_gone"
)

// IsAllowed reports whether r permits.
func (r Reason) IsAllowed() bool { return r == Allowed || r == TestOrigin }

// IsOfAddress reports whether r refuses a place rather than a way of writing it or asking for it.
func (r Reason) IsOfAddress() bool {
	return slices.Contains([]Reason{
		BadAddress, Zone, Unspecified, Loopback, Private, LinkLocal, Multicast, Metadata, Embedded, Special, OwnAddress,
		LocalName, MetadataName, SingleLabel,
	}, r)
}

// IsOfOutside reports whether r tells of trouble beyond the proxy and not of a rule.
func (r Reason) IsOfOutside() bool {
	return slices.Contains([]Reason{
		NotResolved, LookupTimeout, TooManyAnswers, Unreachable, ConnectionRefused, PeerChanged, BadAnswer, AnswerTimeout, ClientGone,
	}, r)
}

// status is the HTTP status a refusal for r is answered with. Rules answer 403.
func (r Reason) status() int {
	status := map[Reason]int{
		BadRequest:    http.StatusBadRequest,
		NotProxied:    http.StatusBadRequest,
		BadMethod:     http.StatusMethodNotAllowed,
		HeadTooSlow:   http.StatusRequestTimeout,
		BodyTooSlow:   http.StatusRequestTimeout,
		HeadTooBig:    http.StatusRequestHeaderFieldsTooLarge,
		Encoding:      http.StatusNotImplemented,
		Busy:          http.StatusServiceUnavailable,
		TooManyBytes:  http.StatusRequestEntityTooLarge,
		LookupTimeout: http.StatusGatewayTimeout,
		AnswerTimeout: http.StatusGatewayTimeout,
	}[r]
	switch {
	case status != 0:
		return status
	case r.IsOfOutside():
		return http.StatusBadGateway
	default:
		return http.StatusForbidden
	}
}

// The contract's error codes a Refusal can carry.
const (
	CodeURLRefused     = "url_refused"
	CodeAddressRefused = "address_refused"
	CodeBadRequest     = "bad_request"
)

// Refusal is the error of CheckURL.
type Refusal struct { //nolint:errname // a refusal is no malfunction
	Reason Reason
	Code   string // one of the contract's codes: url_refused, address_refused, bad_request
}

func (r *Refusal) Error() string { return r.Code + ": " + string(r.Reason) }

func refuse(reason Reason) *Refusal {
	switch {
	case reason.IsOfAddress():
		return &Refusal{Reason: reason, Code: CodeAddressRefused}
	case reason == BadURL || reason == BadHost || reason == BadPort:
		return &Refusal{Reason: reason, Code: CodeBadRequest}
	default:
		return &Refusal{Reason: reason, Code: CodeURLRefused}
	}
}
