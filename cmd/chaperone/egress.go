package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"chaperone/egress"
)

// egressFlags are the settings of `chaperone egress` as they are written.
type egressFlags struct {
	config       egress.Config
	methods, log string
	deny         []string
	check        bool
}

const egressLong = `Run the forward proxy that managed browsers reach the network by, for any program that takes an HTTP proxy:

  chaperone egress --listen 127.0.0.1:3128
  https_proxy=http://127.0.0.1:3128 curl https://example.com/

It opens public addresses only, on the ports 80 and 443. A name is resolved once, every address of it is judged, and exactly a
judged one is dialled: private, local, reserved and metadata addresses are refused in every spelling, whatever name leads there.
Tunnels (CONNECT) go to 443 and 80; plain requests go to 80, and with --methods read (the default) only as GET and HEAD.
A refusal answers with its reason in the header X-Chaperone-Refused and in the body. Each decision is a line of the log
(what is allowed only with --log debug) and counts in chaperone_egress_decisions_total, which --metrics shows.

There is no switch for private addresses and no password: it listens on loopback, and whoever reaches the address may use it.
It prints the address it listens on, and ends on SIGTERM or Ctrl-C within ten seconds, tunnels included.
--check says whether it would start, prints what it would be, and ends.`

func (a *app) egressCommand() *cobra.Command {
	f := &egressFlags{}
	cmd := &cobra.Command{
		Use: "egress", Short: "Run the egress proxy alone", Long: egressLong, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.egress(cmd.Context(), f) },
	}
	flags, c := cmd.Flags(), &f.config
	setting(flags, "listen", "CHAPERONE_EGRESS_LISTEN").StringVar(&c.Listen, "127.0.0.1:3128", "listen on this host:port; port 0 takes a free one")
	setting(flags, "metrics", "CHAPERONE_EGRESS_METRICS").StringVar(&c.Metrics, "", "answer /metrics and /healthz on this host:port; none when empty")
	f.methods = "read"
	flags.Var(choose(&f.methods, "read", "all"), "methods", "what plain requests may do: read is GET and HEAD alone")
	flags.StringArrayVar(&f.deny, "deny", nil, "refuse this address too, as ADDRESS or ADDRESS:PORT (repeatable)")
	flags.IntVar(&c.Limits.Connections, "max-connections", 8192, "connections of clients at once")
	flags.IntVar(&c.Limits.Tunnels, "max-tunnels", 8000, "tunnels at once")
	flags.Int64Var(&c.Limits.Bytes, "max-bytes", 16<<30, "bytes of one tunnel, or of one request and its answer")
	c.Limits.Idle = 5 * time.Minute
	flags.Var((*span)(&c.Limits.Idle), "idle-timeout", "end a connection in which no byte moved for so long")
	c.Limits.Answer = 2 * time.Minute
	flags.Var((*span)(&c.Limits.Answer), "answer-timeout", "give up an origin that does not begin to answer for so long")
	f.log = "info"
	flags.Var(choose(&f.log, "info", "debug", "json"), "log", "info has refusals, debug also what is allowed, json is debug in JSON")
	flags.BoolVar(&c.DangerouslyOpenToNetwork, "dangerously-open-to-network", false, "listen on an address that other machines reach: all of them may use the proxy")
	flags.StringArrayVar(&c.TestOrigins, "test-origin", nil, "for tests alone: admit this exact http://127.0.0.1:PORT (repeatable)")
	flags.BoolVar(&f.check, "check", false, "say whether it would start with these settings, and end")
	return cmd
}

// egress runs the proxy, or says whether it would run.
func (a *app) egress(ctx context.Context, f *egressFlags) error {
	if err := f.read(); err != nil {
		return err
	}
	c := f.config
	c.Logger = slog.New(f.handler(a))
	if f.check {
		full, err := egress.Check(ctx, c)
		if err != nil {
			return unserved(err)
		}
		line(a.out, "ok: it would listen on %s, refuse all but public addresses on 80 and 443, and permit %s", full.Listen, f.permitted())
		line(a.out, "limits: %d connections, %d tunnels, %d bytes each, %s idle", full.Limits.Connections, full.Limits.Tunnels, full.Limits.Bytes, full.Limits.Idle)
		return nil
	}
	c.Ready = func(at net.Addr) { line(a.out, "http://%s", at) }
	return unserved(egress.Run(ctx, c))
}

func (f *egressFlags) permitted() string {
	if f.methods == "all" {
		return "every method in plain requests"
	}
	return "GET and HEAD in plain requests"
}

func (f *egressFlags) handler(a *app) slog.Handler {
	switch f.log {
	case "json":
		return slog.NewJSONHandler(a.err, &slog.HandlerOptions{Level: slog.LevelDebug})
	case "debug":
		return slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelDebug})
	default:
		return slog.NewTextHandler(a.err, nil)
	}
}

// read makes the configuration of what was written.
func (f *egressFlags) read() error {
	c := &f.config
	if err := checkAddress("listen", c.Listen); err != nil {
		return err
	}
	if c.Metrics != "" {
		if err := checkAddress("metrics", c.Metrics); err != nil {
			return err
		}
	}
	for flag, n := range map[string]int64{
		"max-connections": int64(c.Limits.Connections), "max-tunnels": int64(c.Limits.Tunnels),
		"max-bytes": c.Limits.Bytes, "idle-timeout": int64(c.Limits.Idle), "answer-timeout": int64(c.Limits.Answer),
	} {
		if n <= 0 {
			return usagef("--%s: it must be more than nothing", flag)
		}
	}
	if f.methods == "all" {
		c.Methods = egress.AllMethods
	}
	for _, text := range f.deny {
		denied, err := readDenied(text)
		if err != nil {
			return usagef("--deny: %q is not an address such as 192.0.2.1, 192.0.2.1:443 or [2001:db8::1]:443", text)
		}
		c.Deny = append(c.Deny, denied)
	}
	if err := egress.CheckTestOrigins(c.TestOrigins); err != nil {
		return usage(err)
	}
	return nil
}

func readDenied(text string) (netip.AddrPort, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.AddrPortFrom(addr, 0), nil
	}
	return netip.ParseAddrPort(text)
}

// unserved says in words why the proxy does not listen.
func unserved(err error) error {
	failed, ok := errors.AsType[*egress.ListenError](err)
	if !ok {
		return err
	}
	flag := "listen"
	if failed.IsMetrics {
		flag = "metrics"
	}
	switch {
	case errors.Is(err, egress.ErrOpenToNetwork):
		return usagef("--%s: other machines reach %s, and whoever reaches it may use the proxy: listen on 127.0.0.1, or add --dangerously-open-to-network", flag, failed.Address)
	case errors.Is(err, egress.ErrTestOriginExposed):
		return usagef("--test-origin is for a proxy on loopback alone, and --%s %s is not", flag, failed.Address)
	}
	return untaken(err, flag, failed.Address)
}
