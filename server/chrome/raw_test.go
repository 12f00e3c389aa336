package chrome_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"chaperone/relay/program"
	"chaperone/server/chrome"
)

func TestAHeldTabTellsInChromesOrder(t *testing.T) {
	s := newSite(t, map[string]string{"/": "<title>Hello</title>"})
	w := newWorld(t, s)
	b, tab := openPage(t, w, s, "/")
	c := hold(t, b, tab)
	if c.Target() == "" || c.Target() != b.Tabs()[0].Target {
		t.Errorf("the wire's target is %q, the tab's %q", c.Target(), b.Tabs()[0].Target)
	}
	c.call("", "Runtime.enable", `{}`)
	const calls = 150
	for i := range calls {
		c.post(strconv.Itoa(i), "", "Runtime.evaluate", fmt.Sprintf(`{"expression":"console.log('n%d')"}`, i))
	}
	c.await(t, "the last reply", func(w told) bool { return w.method == "" && w.child == strconv.Itoa(calls-1) })
	order := c.order()
	if len(order) != 2*calls {
		t.Fatalf("heard %d", len(order))
	}
	for i := range calls {
		if order[2*i] != fmt.Sprintf("event %d", i) || order[2*i+1] != fmt.Sprintf("reply %d", i) {
			t.Fatalf("out of order at %d: %v", i, order[2*i:2*i+2])
		}
	}
}

func TestWhatClientsChangeEndsWithTheHold(t *testing.T) {
	s := newSite(t, map[string]string{"/": "<title>Hello</title>"})
	w := newWorld(t, s)
	b, tab := openPage(t, w, s, "/")
	c := hold(t, b, tab)
	for _, command := range [][2]string{
		{"Page.enable", `{}`},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"globalThis.planted = true"}`},
		{"Emulation.setDeviceMetricsOverride", `{"width":333,"height":444,"deviceScaleFactor":1,"mobile":false}`},
		{"Emulation.setEmulatedMedia", `{"features":[{"name":"prefers-color-scheme","value":"dark"}]}`},
		{"Emulation.setFocusEmulationEnabled", `{"enabled":false}`},
	} {
		c.call("", command[0], command[1])
	}
	c.call("", "Page.reload", `{}`)
	c.await(t, "the page is loaded anew", event("Page.loadEventFired"))
	const look = `[globalThis.planted === true, innerWidth, matchMedia('(prefers-color-scheme: dark)').matches, document.hasFocus()]`
	if got := c.eval("", look); got != "[true,333,true,true]" {
		t.Errorf("while held: %s", got)
	}
	c.Release()
	run(t, b, tab, navigate(s.URL+"/"), settle())
	c = hold(t, b, tab)
	defer c.Release()
	if got := c.eval("", look); got != "[false,1280,false,true]" {
		t.Errorf("afterwards: %s", got)
	}
}

func TestATabIsHeldOnceAtATimeBesidePrograms(t *testing.T) {
	s := newSite(t, map[string]string{"/": "<title>Hello</title>"})
	w := newWorld(t, s)
	b, tab := openPage(t, w, s, "/")
	c := hold(t, b, tab)
	_, err := b.Hold(t.Context(), tab, newListener())
	mustMention(t, err, "held already")
	_, err = b.Hold(t.Context(), "t99", newListener())
	mustMention(t, err, "closed")
	run(t, b, tab, navigate(s.URL+"/?program"), settle())
	if got := c.eval("", "location.search"); got != `"?program"` {
		t.Errorf("the client is at %s", got)
	}
	c.Release()
	c.Release()
	c = hold(t, b, tab)
	c.Release()
	before, _ := c.heard()
	err = c.Send(t.Context(), "", "Runtime.evaluate", []byte(`{"expression":"1"}`), func([]byte, error) { t.Error("a released tab answered") })
	mustMention(t, err, "tab was closed")
	if after, _ := c.heard(); len(after) != len(before) {
		t.Errorf("heard after the release: %+v", after[len(before):])
	}
}

func TestNothingStaysPausedWhenTheHoldEnds(t *testing.T) {
	s := newSite(t, map[string]string{
		"/":     `<script>new Worker('/w.js').onmessage = () => fetch('/alive'); navigator.serviceWorker.register('/sw.js')</script>`,
		"/w.js": `postMessage('go')`, "/sw.js": `oninstall = () => fetch('/installed')`,
	})
	w := newWorld(t, s)
	b, tab := openPage(t, w, s, "/none")
	c := hold(t, b, tab)
	c.call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`)
	c.post("go", "", "Page.navigate", fmt.Sprintf(`{"url":%q}`, s.URL+"/"))
	worker := c.await(t, "the worker is told", event("Target.attachedToTarget"))
	if !strings.Contains(worker.params, `"type":"worker"`) || !strings.Contains(worker.params, `"waitingForDebugger":true`) {
		t.Errorf("told: %s", worker.params)
	}
	if !s.waitFor("GET /installed") {
		t.Error("the service worker was left paused")
	}
	if ok, _ := s.saw("GET /alive"); ok {
		t.Fatal("the worker did not wait")
	}
	c.Release()
	if !s.waitFor("GET /alive") {
		t.Error("the worker is still paused")
	}
}

func TestAFrameThatWaitsGoesOnWhenTheHoldEnds(t *testing.T) {
	s := newSite(t, map[string]string{"/f": `<script>fetch('/alive')</script>`})
	w := newWorld(t, s)
	far := strings.Replace(s.host(), "127.0.0.1", "localhost", 1)
	w.exits.origins = append(w.exits.origins, far)
	b, tab := openPage(t, w, s, "/none")
	c := hold(t, b, tab)
	c.call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`)
	c.post("go", "", "Runtime.evaluate", fmt.Sprintf(`{"expression":"document.body.innerHTML = '<iframe src=\"http://%s/f\">'"}`, far))
	frame := c.await(t, "the frame of another site is told", event("Target.attachedToTarget"))
	if !strings.Contains(frame.params, `"type":"iframe"`) || !strings.Contains(frame.params, `"waitingForDebugger":true`) {
		t.Errorf("told: %s", frame.params)
	}
	if ok, _ := s.saw("GET /alive"); ok {
		t.Fatal("the frame did not wait")
	}
	c.Release()
	if !s.waitFor("GET /alive") {
		t.Error("the frame is still paused")
	}
}

func TestCommandsReachAWorker(t *testing.T) {
	s := newSite(t, map[string]string{"/": `<script>new Worker('/w.js')</script>`, "/w.js": `self.here = 'worker'; fetch('/runs')`})
	w := newWorld(t, s)
	b, tab := openPage(t, w, s, "/")
	if !s.waitFor("GET /runs") {
		t.Fatal("the worker does not run")
	}
	c := hold(t, b, tab)
	defer c.Release()
	worker := c.await(t, "the worker that is there is told", event("Target.attachedToTarget"))
	var params struct{ SessionID string }
	if err := json.Unmarshal([]byte(worker.params), &params); err != nil {
		t.Fatal(err)
	}
	if got := c.eval(params.SessionID, "self.here"); got != `"worker"` {
		t.Errorf("the worker answers %s", got)
	}
	err := c.Send(t.Context(), "nobody", "Runtime.evaluate", nil, func([]byte, error) {})
	mustMention(t, err, "Session with given id not found")
}

func TestHoldsEndWithTabSessionAndChrome(t *testing.T) {
	ends := map[string]struct {
		end  func(t *testing.T, w *world, b *chrome.Browser, tab string)
		code string
	}{
		"the renderer crashes": {func(_ *testing.T, _ *world, b *chrome.Browser, tab string) { b.CrashTab(tab) }, "tab_closed"},
		"the tab is closed": {func(t *testing.T, _ *world, b *chrome.Browser, tab string) {
			t.Helper()
			mustNot(t, b.CloseTab(t.Context(), tab))
		}, "tab_closed"},
		"the session is closed": {func(t *testing.T, _ *world, b *chrome.Browser, _ string) {
			t.Helper()
			mustNot(t, b.Close(context.Background()))
		}, "session_ended"},
		"Chrome is killed": {func(t *testing.T, w *world, _ *chrome.Browser, _ string) {
			t.Helper()
			mustNot(t, syscall.Kill(chromePID(t, w.runDir), syscall.SIGKILL))
		}, "session_ended"},
	}
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, map[string]string{"/": "<title>Hello</title>"})
			w := newWorld(t, s)
			b, tab := openPage(t, w, s, "/")
			held := hold(t, b, tab)
			held.post("never", "", "Runtime.evaluate", `{"expression":"new Promise(() => {})","awaitPromise":true}`)
			held.call("", "Runtime.enable", `{}`)
			c.end(t, w, b, tab)
			gone := held.await(t, "the end", event("gone"))
			if own, ok := errors.AsType[*program.Error](gone.err); !ok || own.Code != c.code {
				t.Errorf("gone: %v", gone.err)
			}
			list, _ := held.heard()
			last, before := list[len(list)-1], list[len(list)-2]
			if last.method != "gone" || before.child != "never" || before.err == nil {
				t.Errorf("the end was %+v, %+v", before, last)
			}
			err := held.Send(t.Context(), "", "Runtime.enable", nil, func([]byte, error) {})
			if own, ok := errors.AsType[*program.Error](err); !ok || own.Code != c.code {
				t.Errorf("afterwards: %v", err)
			}
			held.Release()
		})
	}
}

func mustMention(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("error is %v, want it to mention %q", err, words)
	}
}

func mustNot(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func TestTabsAreMadeShownAndClosedForClients(t *testing.T) {
	s := newSite(t, map[string]string{"/": `<script>onload = () => setTimeout(() => { document.title = 'Late' })</script>`})
	w := newWorld(t, s)
	b := w.open(t, chrome.Interactive)
	if p := b.Product(); !strings.HasPrefix(p, "Chrome/") || len(p) < len("Chrome/1.0") {
		t.Errorf("it calls itself %q", p)
	}
	changed := b.Changed()
	tab, err := b.NewTab(t.Context())
	if err != nil || len(b.Tabs()) != 1 || b.Tabs()[0].ID != tab || b.Tabs()[0].Target == "" || b.Tabs()[0].URL != "about:blank" {
		t.Fatalf("%q %v %+v", tab, err, b.Tabs())
	}
	<-changed
	c := hold(t, b, tab)
	c.call("", "Page.navigate", fmt.Sprintf(`{"url":%q}`, s.URL+"/"))
	for deadline := time.After(patience); b.Tabs()[0].URL != s.URL+"/"; {
		next := b.Changed()
		select {
		case <-next:
		case <-deadline:
			t.Fatalf("the tab is shown at %s", b.Tabs()[0].URL)
		}
	}
	mustNot(t, b.CloseTab(t.Context(), tab))
	c.await(t, "the end", event("gone"))
	if len(b.Tabs()) != 0 {
		t.Errorf("still listed: %+v", b.Tabs())
	}
}

func TestADialogIsTheClientsUntilAProgramRuns(t *testing.T) {
	s := newSite(t, map[string]string{"/": "<title>Hello</title>"})
	w := newWorld(t, s)
	b, tab := openPage(t, w, s, "/")
	c := hold(t, b, tab)
	defer c.Release()
	c.call("", "Page.enable", `{}`)
	c.post("first", "", "Runtime.evaluate", `{"expression":"confirm('\"hasBrowserHandler\":false')"}`)
	opening := c.await(t, "the dialog", event("Page.javascriptDialogOpening"))
	if !strings.Contains(opening.params, `"hasBrowserHandler":true`) || !strings.Contains(opening.params, `\"hasBrowserHandler\":false`) {
		t.Errorf("told: %s", opening.params)
	}
	c.call("", "Page.handleJavaScriptDialog", `{"accept":true}`)
	answer := c.await(t, "the answer", func(w told) bool { return w.child == "first" })
	if !strings.Contains(answer.params, "true") {
		t.Errorf("answered: %s", answer.params)
	}
	c.post("second", "", "Runtime.evaluate", `{"expression":"confirm('again')"}`)
	c.await(t, "the second dialog", func(w told) bool { return strings.Contains(w.params, "again") })
	run(t, b, tab, navigate(s.URL+"/"), settle())
	c.await(t, "the answer", func(w told) bool { return w.child == "second" })
}

func TestClientsHearOfNoCookie(t *testing.T) {
	s := newSite(t, map[string]string{"/": `<script>document.cookie = 'session=c00kie'</script>`})
	w := newWorld(t, s)
	b, tab := openPage(t, w, s, "/")
	c := hold(t, b, tab)
	defer c.Release()
	c.call("", "Network.enable", `{}`)
	c.call("", "Page.enable", `{}`)
	c.call("", "Page.reload", `{}`)
	c.await(t, "the request's own headers", event("Network.requestWillBeSentExtraInfo"))
	c.await(t, "the page is loaded anew", event("Page.loadEventFired"))
	list, _ := c.heard()
	for _, one := range list {
		if strings.Contains(one.params, "c00kie") {
			t.Errorf("%s tells %s", one.method, one.params)
		}
	}
}

// Nobody could tell a page to go on that stands still.
func TestAPauseEndsAtOnceAndIsNotTold(t *testing.T) {
	s := newSite(t, map[string]string{"/": "<title>Hello</title>"})
	w := newWorld(t, s)
	b, tab := openPage(t, w, s, "/")
	c := hold(t, b, tab)
	c.call("", "Debugger.enable", `{}`)
	if got := c.eval("", `let n = 0; for (let i = 0; i < 20; i++) { debugger; n++ } n`); got != "20" {
		t.Errorf("the script came to %s", got)
	}
	list, _ := c.heard()
	for _, one := range list {
		if one.method == "Debugger.paused" || one.method == "Debugger.resumed" {
			t.Errorf("told: %s", one.method)
		}
	}
}
