package egress

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metricsTimeout bounds one scrape.
const metricsTimeout = 10 * time.Second

// serveMetrics answers /metrics and /healthz on ln until the returned function is called. Of a registry that is not a
// gatherer too, nothing can be shown but that the proxy lives.
func serveMetrics(ln net.Listener, registry prometheus.Registerer) (end func()) {
	for _, c := range []prometheus.Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})} {
		_ = registry.Register(c) // whoever brought the registry may have them there
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	if shown, ok := registry.(prometheus.Gatherer); ok {
		mux.Handle("GET /metrics", promhttp.HandlerFor(shown, promhttp.HandlerOpts{}))
	}
	s := &http.Server{Handler: mux, ReadHeaderTimeout: metricsTimeout, ReadTimeout: metricsTimeout, WriteTimeout: metricsTimeout}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.Serve(ln)
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if s.Shutdown(ctx) != nil {
			_ = s.Close()
		}
		<-served
	}
}
