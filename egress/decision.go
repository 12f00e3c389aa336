package egress

import (
	"context"
	"log/slog"
	"time"
)

// decide tells log, metrics and owner what became of a request. It is called once a request.
func (p *Proxy) decide(ctx context.Context, d Decision, reason Reason) {
	d.Verdict, d.Reason = verdict(reason), string(reason)
	p.metrics.decisions.WithLabelValues(d.Verdict, d.Reason).Inc()
	p.tell(ctx, d)
}

// cut tells that a limit ended what had been allowed.
func (p *Proxy) cut(ctx context.Context, d Decision, reason Reason) {
	d.Verdict, d.Reason = VerdictCut, string(reason)
	p.metrics.cuts.WithLabelValues(d.Reason).Inc()
	p.tell(ctx, d)
}

func (p *Proxy) tell(ctx context.Context, d Decision) {
	d.At = time.Now()
	if level := level(d.Verdict); p.log.Enabled(ctx, level) {
		p.log.LogAttrs(ctx, level, "egress decision",
			slog.String("session", d.Session),
			slog.String("method", d.Method),
			slog.String("host", d.Host),
			slog.Int("port", int(d.Port)),
			slog.String("address", d.Address),
			slog.String("verdict", d.Verdict),
			slog.String("reason", d.Reason),
		)
	}
	p.decided(d)
}

func verdict(reason Reason) string {
	switch {
	case reason.IsAllowed():
		return VerdictAllow
	case reason.IsOfOutside():
		return VerdictFail
	default:
		return VerdictDeny
	}
}

// level: what was allowed is traffic, the rest an operator may want to see.
func level(verdict string) slog.Level {
	if verdict == VerdictAllow {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
