package endpoint_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"chaperone/relay/cdp"
	"chaperone/relay/endpoint"
	"chaperone/server/chrome"
)

// exit is a forward proxy on a Unix socket that leads anywhere: what it leads to is the test's own.
type exit struct{}

func (exit) OpenWay(ctx context.Context, way chrome.Way) (func() error, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "unix", way.Socket)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{}
	server := &http.Server{ReadHeaderTimeout: patience, Handler: &httputil.ReverseProxy{
		Rewrite: func(*httputil.ProxyRequest) {}, Transport: transport,
	}}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()
	return func() error {
		err := server.Close()
		<-served
		transport.CloseIdleConnections()
		return err
	}, nil
}

// newSite serves pages by path. FAR stands for the same server under another name, which is another site.
func newSite(t *testing.T, pages map[string]string) (near, far string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if strings.HasSuffix(r.URL.Path, ".js") {
			w.Header().Set("Content-Type", "text/javascript")
		}
		_, port, _ := net.SplitHostPort(r.Host)
		_, _ = w.Write([]byte(strings.ReplaceAll(body, "FAR", "http://localhost:"+port)))
	}))
	t.Cleanup(server.Close)
	return server.URL, strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
}

// chromium gives a capability for an interactive session in a real managed browser.
func chromium(t *testing.T) *endpoint.Capability {
	t.Helper()
	full, err := exec.LookPath("chromium") // the headless shell does not isolate sites
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "chp") // Chromium puts sockets in it, whose path must not be long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	pool, err := chrome.NewPool(t.Context(), chrome.Options{Binary: full, RunDir: folder, Egress: exit{}, PageScript: "globalThis.chaperone = async () => '{}'"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := pool.Close(ctx); err != nil {
			t.Errorf("close the pool: %v", err)
		}
	})
	browser, err := pool.Open(t.Context(), chrome.OpenOptions{Account: "a_1", Session: "s_1", Policy: chrome.Interactive})
	if err != nil {
		t.Fatal(err)
	}
	table, err := cdp.Load()
	if err != nil {
		t.Fatal(err)
	}
	return grant(t, browser, func(o *endpoint.GrantOptions) { o.Judge = table })
}

// openPage makes a tab, goes to the address and waits for its load. It answers target and session.
func (c *client) openPage(url string) (target, session string) {
	c.t.Helper()
	target = c.call("", "Target.createTarget", `{"url":"about:blank"}`, "targetId")
	session = c.attach(target)
	c.call(session, "Page.enable", "{}")
	c.call(session, "Runtime.enable", "{}")
	c.goTo(session, url)
	return target, session
}

func (c *client) goTo(session, url string) {
	c.t.Helper()
	n := c.count()
	c.call(session, "Page.navigate", `{"url":"`+url+`"}`)
	c.awaitAfter(n, "the load of "+url, eventIn(session, "Page.loadEventFired"))
}

func (c *client) eval(session, script string) string {
	c.t.Helper()
	return c.call(session, "Runtime.evaluate", `{"returnByValue":true,"awaitPromise":true,"expression":"`+script+`"}`, "result", "value")
}

func TestAFrameOfAnotherSiteIsATargetInChromium(t *testing.T) {
	site, far := newSite(t, map[string]string{
		"/":      `<title>outside</title><iframe src="FAR/inner"></iframe>`,
		"/inner": `<title>inside</title><button onclick="this.textContent='pressed'">press</button>`,
	})
	c := connect(t, chromium(t).WS())
	_, session := c.openPage(site + "/")
	infos := c.call("", "Target.getTargets", "{}", "targetInfos")
	if !strings.Contains(infos, far+"/inner") {
		t.Fatalf("targets: %s\n%s", infos, c.story())
	}
	_ = session
}

var _ = time.Second
