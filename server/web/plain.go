package web

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"chaperone/server/fault"
)

type health struct {
	Status  string `json:"status"`
	Version string `json:"version,omitempty"`
}

func (s *site) healthy(*call) (any, error) { return health{Status: "ok", Version: s.o.Version}, nil }

func (s *site) ready(c *call) (any, error) {
	if err := s.o.Ready(c.r.Context()); err != nil {
		return nil, fault.New(fault.Unavailable, "the server is not ready", "Wait a moment; see the server's log.")
	}
	return health{Status: "ready"}, nil
}

func (s *site) serveMetrics(*call) (any, error) {
	return promhttp.HandlerFor(s.o.Metrics, promhttp.HandlerOpts{}), nil
}

func (s *site) serveLink(*call) (any, error) { return s.o.Link, nil }

func (s *site) serveMCP(c *call) (any, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.o.MCP.ServeActor(w, r, c.actor) }), nil
}

func (s *site) serveExtension(*call) (any, error) {
	content, err := s.o.Extension()
	if err != nil {
		return nil, fault.New(fault.Unavailable, "this build does not carry the extension", "Run make bundle and build again.")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/zip")
		w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", "chrome-extension.zip"))
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		_, _ = w.Write(content) // the reader may have left
	}), nil
}
