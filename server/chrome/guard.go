package chrome

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// The guard is the third wall of a read-only process: Chrome asks about every request before it sends it,
// whichever page, frame, popup or worker wants it, because the asking is enabled on the browser's own
// connection, not on a page's. WebSockets are never asked about; they are script's own.

// installGuard makes Chrome ask. A process whose guard cannot be installed must not be used.
func installGuard(ctx context.Context, c *conn) error {
	every := map[string]any{"patterns": []map[string]any{{"urlPattern": "*"}}}
	if _, err := c.call(ctx, "", "Fetch.enable", every); err != nil {
		return fmt.Errorf("install request guard: %w", err)
	}
	return nil
}

// pausedRequest is the part of Fetch.requestPaused that decides.
type pausedRequest struct {
	RequestID    string `json:"requestId"`
	ResourceType string `json:"resourceType"`
	Request      struct {
		Method  string            `json:"method"`
		Headers map[string]string `json:"headers"`
	} `json:"request"`
}

// answerPaused lets a paused request go or fails it. A request that cannot be read stays paused, which
// is as good as failed.
func answerPaused(c *conn, params json.RawMessage) {
	var r pausedRequest
	if json.Unmarshal(params, &r) != nil || r.RequestID == "" {
		return
	}
	if refuses(r) {
		c.post("", "Fetch.failRequest", map[string]any{"requestId": r.RequestID, "errorReason": "BlockedByClient"})
		return
	}
	c.post("", "Fetch.continueRequest", map[string]any{"requestId": r.RequestID})
}

// refuses tells whether read-only forbids the request: whatever writes, except what script sends by
// fetch or XMLHttpRequest (many pages read with POST), and the registration of service workers.
func refuses(r pausedRequest) bool {
	for name := range r.Request.Headers {
		if strings.EqualFold(name, "Service-Worker") {
			return true
		}
	}
	switch r.Request.Method {
	case http.MethodGet, http.MethodHead:
		return false
	}
	switch r.ResourceType {
	case "XHR", "Fetch", "Preflight":
		return false
	}
	return true
}
