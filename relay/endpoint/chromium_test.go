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
	folder, err := os.MkdirTemp("", "chp") //nolint:usetesting // Chromium puts sockets in it, whose path must not be long
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
		"/inner": `<title>inside</title>`,
	})
	c := connect(t, chromium(t).WS())
	_, session := c.openPage(site + "/")
	infos := c.call("", "Target.getTargets", "{}", "targetInfos")
	if !strings.Contains(infos, far+"/inner") {
		t.Fatalf("targets: %s\n%s", infos, c.story())
	}
	c.call(session, "Target.setAutoAttach", attachToPages)
	frame := pick(t, c.await("the frame", eventIn(session, "Target.attachedToTarget")).Params, "sessionId")
	if got := c.eval(frame, "document.title"); got != "inside" {
		t.Errorf("the frame's title is %q", got)
	}
}

func TestTwoClientsOnOnePageInChromium(t *testing.T) {
	site, _ := newSite(t, map[string]string{
		"/":          `<title>one</title><button id=b>b</button><script>const w = new Worker("/worker.js"); w.onmessage = e => document.title = e.data</script>`,
		"/two":       `<title>two</title>`,
		"/worker.js": `postMessage("the worker ran")`,
	})
	capability := chromium(t)
	a := connect(t, capability.WS())
	target, inA := a.openPage(site + "/two")
	a.call(inA, "Page.setLifecycleEventsEnabled", `{"enabled":true}`)
	a.call(inA, "Emulation.setEmulatedMedia", `{"features":[{"name":"prefers-color-scheme","value":"dark"}]}`)
	a.call(inA, "Emulation.setDeviceMetricsOverride", `{"width":500,"height":400,"deviceScaleFactor":1,"mobile":false}`)
	a.call(inA, "Page.addScriptToEvaluateOnNewDocument", `{"source":"globalThis.left = 1"}`)
	b := connect(t, capability.WS())
	inB := b.attach(target)
	b.call(inB, "Page.enable", "{}")
	b.call(inB, "Page.setLifecycleEventsEnabled", `{"enabled":true}`)
	b.call(inB, "Runtime.enable", "{}")
	if got := b.heardOf(inB, "Runtime.executionContextCreated"); len(got) != 1 {
		t.Errorf("the late client heard of contexts %v", got)
	}
	b.await("the load that was", func(m message) bool {
		return m.Method == "Page.lifecycleEvent" && pick(t, m.Params, "name") == "load"
	})
	for c, session := range map[*client]string{a: inA, b: inB} {
		c.call(session, "Target.setAutoAttach", attachToPages)
	}
	loads := len(a.heardOf(inA, "Page.loadEventFired"))
	b.goTo(inB, site+"/")
	a.await("a load that another client asked for", func(message) bool {
		return len(a.heardOf(inA, "Page.loadEventFired")) > loads
	})
	workerOf := func(c *client, in string) string {
		m := c.await("the worker", eventIn(in, "Target.attachedToTarget"))
		if pick(t, m.Params, "waitingForDebugger") != "true" {
			t.Errorf("told %s", m.raw)
		}
		return pick(t, m.Params, "sessionId")
	}
	atA, atB := workerOf(a, inA), workerOf(b, inB)
	a.call(atA, "Runtime.runIfWaitingForDebugger", "{}")
	if got := b.eval(inB, "document.title"); got != "one" {
		t.Errorf("the title is %q while one client holds the worker back", got)
	}
	b.call(atB, "Runtime.runIfWaitingForDebugger", "{}")
	ran := "new Promise(done => { const look = () => document.title === 'one' ? setTimeout(look, 5) : done(document.title); look() })"
	if got := b.eval(inB, ran); got != "the worker ran" {
		t.Errorf("the title is %q", got)
	}
	a.call(atA, "Runtime.enable", "{}")
	b.call(atB, "Runtime.enable", "{}")
	if got := b.heardOf(atB, "Runtime.executionContextCreated"); len(got) != 1 {
		t.Errorf("the late client heard of the worker's contexts %v", got)
	}
	state := "[left, innerWidth, matchMedia('(prefers-color-scheme: dark)').matches].join()"
	if got := b.eval(inB, state); got != "1,500,true" {
		t.Errorf("with the first client there the page has %s", got)
	}
	a.call("", "Browser.close", "{}")
	<-a.ended
	b.goTo(inB, site+"/two")
	if got := b.eval(inB, "[typeof left, innerWidth !== 500, matchMedia('(prefers-color-scheme: dark)').matches].join()"); got != "undefined,true,false" {
		t.Errorf("without it the page has %s", got)
	}
}

// A page may say debugger at any moment.
func TestAPageThatPausesWheneverItCanNeverStandsStillInChromium(t *testing.T) {
	site, _ := newSite(t, map[string]string{"/": `<script>
		window.n = 0; const {port1, port2} = new MessageChannel();
		port1.onmessage = () => { for (let i = 0; i < 20; i++) { debugger; n++ } port2.postMessage(0) };
		port2.postMessage(0)</script>`})
	c := connect(t, chromium(t).WS())
	_, in := c.openPage(site + "/")
	for range 10 {
		c.call(in, "Debugger.enable", "{}")
		c.eval(in, "new Promise(done => { const now = n; setTimeout(() => done(n > now), 20) })")
		c.call(in, "Debugger.disable", "{}")
	}
	if told := c.heardOf(in, "Debugger.paused"); len(told) > 0 {
		t.Errorf("told of %d pauses", len(told))
	}
}
