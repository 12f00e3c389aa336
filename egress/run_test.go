package egress_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"chaperone/egress"
)

func TestAProxyThatRunsAloneReadsOnlyAndEndsWithItsContext(t *testing.T) {
	site := serve(t, func(rw http.ResponseWriter, _ *http.Request) { say(rw, "here") })
	var log bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		ended <- egress.Run(ctx, egress.Config{
			Listen:      "127.0.0.1:0",
			TestOrigins: []string{site.URL},
			Logger:      slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Ready:       func(a net.Addr) { ready <- a },
		})
	}()
	p := &running{addr: (<-ready).String()}
	if got := get(t, p.client(t), site.URL+"/?secret=1"); got.body != "here" {
		t.Errorf("body %q", got.body)
	}
	conn := p.wire(t)
	conn.send(t, "POST "+site.URL+"/ HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
	got := conn.answer(t, http.MethodPost)
	wantRefused(t, got, egress.Method)
	stop()
	if err := <-ended; err != nil {
		t.Errorf("run: %v", err)
	}
	text := log.String()
	for _, want := range []string{`"level":"WARN"`, `"origin":"` + site.URL + `"`, `"reason":"test_origin"`, `"reason":"method"`, `"session":"alone"`} {
		if !strings.Contains(text, want) {
			t.Errorf("log lacks %s:\n%s", want, text)
		}
	}
	if strings.Contains(text, "secret") {
		t.Errorf("log has the query:\n%s", text)
	}
}

func TestAnAddressThatOthersReachIsRefusedUnlessAskedFor(t *testing.T) {
	cases := map[string]struct {
		config egress.Config
		want   error
	}{
		"all interfaces":         {egress.Config{Listen: "0.0.0.0:0"}, egress.ErrOpenToNetwork},
		"no host":                {egress.Config{Listen: ":0"}, egress.ErrOpenToNetwork},
		"asked for":              {egress.Config{Listen: "0.0.0.0:0", DangerouslyOpenToNetwork: true}, nil},
		"loopback":               {egress.Config{Listen: "localhost:0"}, nil},
		"open with test origins": {egress.Config{Listen: "0.0.0.0:0", DangerouslyOpenToNetwork: true, TestOrigins: []string{"http://127.0.0.1:1"}}, egress.ErrTestOriginExposed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			c.config.Ready = func(net.Addr) { stop() }
			if err := egress.Run(ctx, c.config); !errors.Is(err, c.want) {
				t.Errorf("run: %v, want %v", err, c.want)
			}
		})
	}
}

func TestAProxyThatRunsAloneShowsItsMetrics(t *testing.T) {
	site := serve(t, func(rw http.ResponseWriter, _ *http.Request) { say(rw, "here") })
	free := listen(t)
	metrics := free.Addr().String()
	_ = free.Close()
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		ended <- egress.Run(ctx, egress.Config{
			Listen: "127.0.0.1:0", Metrics: metrics, TestOrigins: []string{site.URL}, Ready: func(a net.Addr) { ready <- a },
		})
	}()
	p := &running{addr: (<-ready).String()}
	get(t, p.client(t), site.URL+"/")
	get(t, p.client(t), "http://127.0.0.1/")
	direct := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	shown := get(t, direct, "http://"+metrics+"/metrics").body
	for _, want := range []string{
		`chaperone_egress_decisions_total{reason="test_origin",verdict="allow"} 1`,
		`chaperone_egress_decisions_total{reason="loopback_address",verdict="deny"} 1`,
		"process_resident_memory_bytes", "go_goroutines",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("metrics lack %s:\n%s", want, shown)
		}
	}
	if got := get(t, direct, "http://"+metrics+"/healthz"); got.body != "ok\n" {
		t.Errorf("health: %d %q", got.status, got.body)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("run: %v", err)
	}
}

func TestACheckLeavesNothingTaken(t *testing.T) {
	free := listen(t)
	address := free.Addr().String()
	_, err := egress.Check(t.Context(), egress.Config{Listen: address})
	if failed, ok := errors.AsType[*egress.ListenError](err); !ok || failed.IsMetrics || failed.Address != address {
		t.Errorf("a taken address: %v", err)
	}
	_ = free.Close()
	for range 2 {
		full, err := egress.Check(t.Context(), egress.Config{Listen: address})
		if err != nil || full.Limits.Connections != 8192 || full.Limits.Tunnels != 8000 {
			t.Errorf("check: %+v, %v", full.Limits, err)
		}
	}
}
