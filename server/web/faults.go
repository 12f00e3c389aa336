package web

import (
	"encoding/json"
	"net/http"

	"chaperone/server/fault"
)

// statusOf is the one table from a fault's code to HTTP's status.
func statusOf(code fault.Code) int {
	switch code {
	case fault.BadRequest:
		return http.StatusBadRequest
	case fault.Unauthorised:
		return http.StatusUnauthorized
	case fault.Forbidden, fault.ReadOnlyRefused, fault.DomainRefused, fault.URLRefused, fault.AddressRefused, fault.FormRefused:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.StaleRef, fault.Ambiguous, fault.NotVisible, fault.NotEnabled, fault.Covered, fault.NotLanded,
		fault.DialogOpen, fault.BotCheck, fault.TabSuspended, fault.UpdateRequired:
		return http.StatusConflict
	case fault.ControlledByPerson:
		return http.StatusLocked
	case fault.TabClosed, fault.SessionEnded:
		return http.StatusGone
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.RateLimited:
		return http.StatusTooManyRequests
	case fault.NavigationFailed:
		return http.StatusBadGateway
	case fault.Timeout:
		return http.StatusGatewayTimeout
	case fault.Busy, fault.NotConnected, fault.Unavailable:
		return http.StatusServiceUnavailable
	case fault.Internal:
	}
	return http.StatusInternalServerError
}

// refusal is the shape of every answer that is not what was asked for.
type refusal struct {
	Error *fault.Fault `json:"error"`
}

// refuse answers with a fault; status 0 is the code's own.
func refuse(w http.ResponseWriter, status int, f *fault.Fault) {
	if status == 0 {
		status = statusOf(f.Code)
	}
	if f.Code == fault.Unauthorised {
		w.Header().Set("WWW-Authenticate", `Bearer realm="chaperone"`)
	}
	writeJSON(w, status, refusal{f})
}

// writeJSON answers with a body. An error of the writer means that nobody reads any more.
func writeJSON(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		raw, status = []byte(`{"error":{"code":"internal","message":"the answer could not be written"}}`), http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(raw, '\n'))
}
