package web_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chaperone/server/web"
)

func TestWhoMayAskIsJudgedBeforeAnyRoute(t *testing.T) {
	t.Parallel()
	h := open(t)
	port := h.url[strings.LastIndex(h.url, ":"):]
	for name, c := range map[string]struct {
		header map[string]string
		method string
		status int
	}{
		"the address itself":                  {nil, "GET", 200},
		"localhost with the port":             {map[string]string{"Host": "LocalHost" + port}, "GET", 200},
		"IPv6 loopback with the port":         {map[string]string{"Host": "[::1]" + port}, "GET", 200},
		"localhost without the port":          {map[string]string{"Host": "localhost"}, "GET", 403},
		"another port":                        {map[string]string{"Host": "127.0.0.1:1"}, "GET", 403},
		"a name that was rebound":             {map[string]string{"Host": "evil.example" + port}, "GET", 403},
		"a name that begins like ours":        {map[string]string{"Host": "127.0.0.1.evil.example" + port}, "GET", 403},
		"the socket's name over TCP":          {map[string]string{"Host": "chaperone"}, "GET", 403},
		"a page of ours":                      {map[string]string{"Origin": h.url}, "GET", 200},
		"a foreign page":                      {map[string]string{"Origin": "https://evil.example"}, "GET", 403},
		"a page without an origin":            {map[string]string{"Origin": "null"}, "GET", 403},
		"the extension's origin on the API":   {map[string]string{"Origin": "chrome-extension://codmbdnikppphedddibekmoeejjjmbig"}, "GET", 403},
		"a foreign page that hides its name":  {map[string]string{"Sec-Fetch-Site": "cross-site"}, "POST", 403},
		"what a page has loaded ahead":        {map[string]string{"Sec-Purpose": "prefetch"}, "GET", 403},
		"a page that is drawn ahead":          {map[string]string{"Sec-Purpose": "prefetch;prerender"}, "GET", 403},
		"what an older browser loads ahead":   {map[string]string{"Purpose": "prefetch"}, "GET", 403},
		"a write from a page of ours is read": {map[string]string{"Origin": h.url, "Sec-Fetch-Site": "same-origin"}, "POST", 405},
	} {
		got := h.ask(wish{method: c.method, path: "/api/v1/me", header: c.header})
		if got.status != c.status {
			t.Errorf("%s: answered %d %s, want %d", name, got.status, got.body, c.status)
		}
		if got.status == http.StatusForbidden && got.code() != "forbidden" {
			t.Errorf("%s: refused with %s", name, got.body)
		}
	}
}

func TestTheSocketsNameHoldsOnTheSocket(t *testing.T) {
	t.Parallel()
	h := open(t)
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path) //nolint:noctx // a test's listener needs no deadline
	check(t, err)
	server := &http.Server{Handler: h.handler, ReadHeaderTimeout: time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		check(t, server.Close())
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	var dialer net.Dialer
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "unix", path)
	}}
	defer transport.CloseIdleConnections()
	h.client, h.url = &http.Client{Transport: transport}, "http://"+web.SocketHost
	if got := h.ask(wish{method: "GET", path: "/api/v1/me"}); got.status != 200 {
		t.Errorf("over the socket: %d %s", got.status, got.body)
	}
	if got := h.ask(wish{method: "GET", path: "/api/v1/me", header: map[string]string{"Host": "evil.example"}}); got.status != 403 {
		t.Errorf("another name over the socket: %d %s", got.status, got.body)
	}
}

func TestEveryAnswerIsHardened(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, path := range []string{"/", "/main.js", "/api/v1/me", "/nowhere", "/healthz"} {
		header := h.ask(wish{method: "GET", path: path}).header
		policy := header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s has the policy %q", path, policy)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"} {
			if header.Get(name) != want {
				t.Errorf("%s has %s %q", path, name, header.Get(name))
			}
		}
	}
}

func TestTheDashboardsPageIsNeverKept(t *testing.T) {
	t.Parallel()
	h := open(t)
	for path, want := range map[string]string{"/": "no-store", "/main.js": "no-cache"} {
		if got := h.ask(wish{method: "GET", path: path}).header.Get("Cache-Control"); got != want {
			t.Errorf("%s has %q, want %q", path, got, want)
		}
	}
	if got := h.ask(wish{method: "GET", path: "/", header: map[string]string{"Sec-Purpose": "prefetch"}}); got.status != 403 {
		t.Errorf("ahead of time it is answered %d", got.status)
	}
}

func TestTheDashboardIsAskedForAgainOnlyWhenItChanged(t *testing.T) {
	t.Parallel()
	h := open(t)
	first := h.ask(wish{method: "GET", path: "/main.js", bearer: "none"})
	again := h.ask(wish{method: "GET", path: "/main.js", bearer: "none", header: map[string]string{"If-None-Match": first.header.Get("ETag")}})
	if first.status != 200 || again.status != http.StatusNotModified {
		t.Errorf("answered %d, then %d", first.status, again.status)
	}
	if kind := first.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/javascript") {
		t.Errorf("main.js is %q", kind)
	}
}
