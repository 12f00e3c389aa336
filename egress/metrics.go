package egress

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	decisions   *prometheus.CounterVec
	cuts        *prometheus.CounterVec
	connections prometheus.Gauge
	tunnels     prometheus.Gauge
	sent        prometheus.Counter // body and tunnel bytes toward origins
	received    prometheus.Counter // and from them
}

func newMetrics(to prometheus.Registerer) (metrics, error) {
	bytes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "chaperone_egress_bytes_total",
		Help: "Bytes of bodies and tunnels, by direction seen from the proxy.",
	}, []string{"direction"})
	m := metrics{
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chaperone_egress_decisions_total",
			Help: "Requests by verdict and reason.",
		}, []string{"verdict", "reason"}),
		cuts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chaperone_egress_cuts_total",
			Help: "Allowed exchanges and tunnels that a limit ended, by reason.",
		}, []string{"reason"}),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "chaperone_egress_open_connections",
			Help: "Client connections that are open.",
		}),
		tunnels: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "chaperone_egress_open_tunnels",
			Help: "CONNECT tunnels that are open.",
		}),
		sent:     bytes.WithLabelValues("sent"),
		received: bytes.WithLabelValues("received"),
	}
	for _, c := range []prometheus.Collector{m.decisions, m.cuts, m.connections, m.tunnels, bytes} {
		if err := to.Register(c); err != nil {
			return metrics{}, fmt.Errorf("register egress metrics: %w", err)
		}
	}
	return m, nil
}
