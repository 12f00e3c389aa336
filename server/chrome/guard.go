package chrome

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
)

// The guard is the third wall of a read-only process: Chrome asks about every request before it sends it,
// whichever page, frame, popup or worker wants it, because the asking is enabled on the browser's own
// connection, not on a page's. WebSockets are never asked about; they are script's own.

// installGuard makes Chrome ask. A process whose guard cannot be installed must not be used.
func installGuard(ctx context.Context, c *conn) error {
	every := fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*"}}}
	if _, err := call(ctx, c, "", fetch.Enable, every); err != nil {
		return fmt.Errorf("install request guard: %w", err)
	}
	return nil
}

// answerPaused lets a paused request go or fails it. A request that cannot be read stays paused, which
// is as good as failed.
func (p *process) answerPaused(r fetch.EventRequestPaused) {
	switch {
	case r.RequestID == "" || r.Request == nil:
	case refuses(r):
		post(p.conn, "", fetch.FailRequest, fetch.FailRequestParams{RequestID: r.RequestID, ErrorReason: network.ErrorReasonBlockedByClient})
	default:
		post(p.conn, "", fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: r.RequestID})
	}
}

// refuses tells whether read-only forbids the request: whatever writes, except what script sends by
// fetch or XMLHttpRequest (many pages read with POST), and the registration of service workers.
func refuses(r fetch.EventRequestPaused) bool {
	for name := range r.Request.Headers {
		if strings.EqualFold(name, "Service-Worker") {
			return true
		}
	}
	switch r.Request.Method {
	case http.MethodGet, http.MethodHead:
		return false
	}
	script := []network.ResourceType{network.ResourceTypeXHR, network.ResourceTypeFetch, network.ResourceTypePreflight}
	return !slices.Contains(script, r.ResourceType)
}
