package web

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// measures are this room's metrics.
type measures struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMeasures(registry *prometheus.Registry) (measures, error) {
	m := measures{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chaperone_http_requests_total", Help: "Requests answered, by route and status.",
		}, []string{"method", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "chaperone_http_request_seconds", Help: "Time to the end of an answer, streams left out.", Buckets: prometheus.DefBuckets,
		}, []string{"method", "route"}),
	}
	for _, c := range []prometheus.Collector{m.requests, m.seconds} {
		if err := registry.Register(c); err != nil {
			return m, fmt.Errorf("register metric: %w", err)
		}
	}
	return m, nil
}

type serve func(w http.ResponseWriter, r *http.Request, param func(string) string)

// measure counts what a route answers.
func (s *site) measure(rt route, next serve) serve {
	return func(w http.ResponseWriter, r *http.Request, param func(string) string) {
		begun := time.Now()
		next(w, r, param)
		status := http.StatusOK
		if written, ok := w.(interface{ Status() int }); ok {
			status = written.Status()
		}
		s.measures.requests.WithLabelValues(rt.method, rt.path, strconv.Itoa(status)).Inc()
		if rt.media != "text/event-stream" {
			s.measures.seconds.WithLabelValues(rt.method, rt.path).Observe(time.Since(begun).Seconds())
		}
	}
}
