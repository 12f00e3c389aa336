package web

import (
	"net/http"
	"slices"
)

// route is one line of the outside: what is registered is what is described.
type route struct {
	method, path string
	does         string // one sentence, for the description
	open         bool   // no bearer is asked for
	query        []string
	takes        any    // the zero value of the body; nil where there is none
	gives        any    // the zero value of the answer; nil where there is none
	media        string // the answer's media type where it is not JSON
	handle       handler
}

const api = "/api/v1"

// page is one part of a list. Next is the cursor of the following part, empty at the end.
type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`
}

// all is a list that has one page.
func all[T any](items []T) page[T] {
	if items == nil {
		items = []T{}
	}
	return page[T]{Items: items}
}

func (s *site) routes() []route {
	return slices.Concat(
		s.loginRoutes(), s.projectRoutes(), s.pairingRoutes(), s.sessionRoutes(), s.streamRoutes(),
		s.artifactRoutes(), s.ledgerRoutes(), s.tokenRoutes(), s.plainRoutes(),
	)
}

// plainRoutes are those that are no room's.
func (s *site) plainRoutes() []route {
	mcp := func(method, does string) route {
		return route{method: method, path: "/mcp", does: does, media: "text/event-stream", handle: s.serveMCP}
	}
	return []route{
		{method: http.MethodGet, path: linkPath, open: true, does: "The extension's link (WebSocket); see docs/relay.md.", media: "application/octet-stream", handle: s.serveLink},
		{method: http.MethodGet, path: "/api/downloads/chrome-extension.zip", open: true, does: "The packaged extension.", media: "application/zip", handle: s.serveExtension},
		mcp(http.MethodPost, "Model Context Protocol, streamable HTTP: send messages."),
		mcp(http.MethodGet, "Model Context Protocol, streamable HTTP: receive messages."),
		mcp(http.MethodDelete, "Model Context Protocol, streamable HTTP: end the session."),
		{method: http.MethodGet, path: "/healthz", open: true, does: "Whether the process lives.", gives: health{}, handle: s.healthy},
		{method: http.MethodGet, path: "/readyz", open: true, does: "Whether the server can serve.", gives: health{}, handle: s.ready},
		{method: http.MethodGet, path: "/metrics", does: "Metrics for Prometheus.", media: "text/plain", handle: s.serveMetrics},
		{method: http.MethodGet, path: api + "/openapi.json", open: true, does: "This description.", media: "application/json", handle: s.describe},
	}
}
