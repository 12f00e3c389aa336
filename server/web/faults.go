package web

import (
	"encoding/json"
	"net/http"

	"chaperone/server/fault"
)

// statuses is the one table from a fault's code to HTTP's status.
func statuses() map[fault.Code]int {
	return map[fault.Code]int{
		fault.BadRequest:         http.StatusBadRequest,
		fault.Unauthorised:       http.StatusUnauthorized,
		fault.Forbidden:          http.StatusForbidden,
		fault.ReadOnlyRefused:    http.StatusForbidden,
		fault.DomainRefused:      http.StatusForbidden,
		fault.URLRefused:         http.StatusForbidden,
		fault.AddressRefused:     http.StatusForbidden,
		fault.FormRefused:        http.StatusForbidden,
		fault.NotFound:           http.StatusNotFound,
		fault.StaleRef:           http.StatusConflict,
		fault.Ambiguous:          http.StatusConflict,
		fault.NotVisible:         http.StatusConflict,
		fault.NotEnabled:         http.StatusConflict,
		fault.Covered:            http.StatusConflict,
		fault.NotLanded:          http.StatusConflict,
		fault.DialogOpen:         http.StatusConflict,
		fault.BotCheck:           http.StatusConflict,
		fault.TabSuspended:       http.StatusConflict,
		fault.UpdateRequired:     http.StatusConflict,
		fault.ControlledByPerson: http.StatusLocked,
		fault.TabClosed:          http.StatusGone,
		fault.SessionEnded:       http.StatusGone,
		fault.TooLarge:           http.StatusRequestEntityTooLarge,
		fault.RateLimited:        http.StatusTooManyRequests,
		fault.NavigationFailed:   http.StatusBadGateway,
		fault.Timeout:            http.StatusGatewayTimeout,
		fault.Busy:               http.StatusServiceUnavailable,
		fault.NotConnected:       http.StatusServiceUnavailable,
		fault.Unavailable:        http.StatusServiceUnavailable,
		fault.Internal:           http.StatusInternalServerError,
	}
}

// statusOf is the table's answer; a code that it does not have is our own fault.
func statusOf(code fault.Code) int {
	if status, ok := statuses()[code]; ok {
		return status
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
