package endpoint_test

import (
	"slices"
	"strings"
	"testing"

	"chaperone/relay/program"
)

// now tells something and returns when it was heard.
func (h *held) now(f func()) {
	heard := make(chan struct{})
	h.tell(func() { f(); close(heard) })
	select {
	case <-heard:
	case <-h.over:
	}
}

// reset attaches the tab anew.
func (h *held) reset(target string) { h.now(func() { h.sink.Reset(target) }) }

func (h *held) asleep() {
	h.now(func() {
		h.sink.Asleep(&program.Error{Code: "tab_suspended", Message: "the page is one of Chrome's own"})
	})
}

// since lists what went down from the n-th command on.
func (e *edge) since(n int) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([]string, 0, len(e.sent)-n)
	for _, s := range e.sent[n:] {
		list = append(list, strings.TrimSpace(s.method+" "+s.params))
	}
	return list
}

func (e *edge) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.sent)
}

func TestATabThatIsAttachedAnewHasWhatClientsHadSet(t *testing.T) {
	e := newEdge("t1")
	scripts := 0
	loader := "L1"
	e.answer = func(s sent) (string, error, bool) {
		switch s.method {
		case "Page.addScriptToEvaluateOnNewDocument":
			scripts++
			return `{"identifier":"` + strings.Repeat("i", scripts) + `"}`, nil, true
		case "Page.getFrameTree":
			return `{"frameTree":{"frame":{"id":"TARGETt1","loaderId":"` + loader + `","url":"https://x/"},"childFrames":[{"frame":{"id":"F","parentId":"TARGETt1","loaderId":"LF"}}]}}`, nil, true
		default:
			return "", nil, false
		}
	}
	capability := grant(t, e)
	a, b := connect(t, capability.WS()), connect(t, capability.WS())
	inA, inB := a.attach("TARGETt1"), b.attach("TARGETt1")
	a.call(inA, "Page.enable", "{}")
	a.call(inA, "Page.addScriptToEvaluateOnNewDocument", `{"source":"1","runImmediately":true}`)
	b.call(inB, "Runtime.enable", "{}")
	b.call(inB, "Network.enable", "{}")
	a.call(inA, "Network.enable", "{}")
	a.call(inA, "Target.setAutoAttach", attachToPages)
	a.call(inA, "Emulation.setDeviceMetricsOverride", `{"width":1}`)
	a.call(inA, "Emulation.clearDeviceMetricsOverride", `{}`)
	b.call(inB, "Emulation.setEmulatedMedia", `{"media":"print"}`)
	a.call(inA, "Page.navigate", `{"url":"https://x/"}`)
	h := e.hold("t1")
	h.event("", "Target.attachedToTarget", strings.Replace(workerChild, "true}", "false}", 1))
	child := pick(t, a.await("the worker", eventIn(inA, "Target.attachedToTarget")).Params, "sessionId")
	h.event("", "Runtime.executionContextCreated", worldOf(1, ""))

	h.asleep()
	m := a.ask(inA, "Runtime.evaluate", "{}")
	if m.Error == nil || m.Error.Message != "Chaperone: the page is one of Chrome's own (tab_suspended)" {
		t.Fatalf("a tab that is not attached answers %s", m.raw)
	}
	n, heard := e.count(), a.count()
	loader = "L2"
	h.reset("ANOTHER")
	late := a.post(inA, "Runtime.evaluate", `{"expression":"late"}`)
	a.await("the late command's answer", answers(late))
	want := []string{
		`Page.enable {}`, `Page.getFrameTree`, `Page.addScriptToEvaluateOnNewDocument {"source":"1"}`, `Runtime.enable {}`, `Network.enable {}`,
		`Emulation.setEmulatedMedia {"media":"print"}`, `Target.setAutoAttach ` + attachToPages,
		`Runtime.evaluate {"expression":"late"}`,
	}
	if got := e.since(n); !slices.Equal(got, want) {
		t.Errorf("went down:\n%s", strings.Join(got, "\n"))
	}
	b.await("contexts are gone", eventIn(inB, "Runtime.executionContextsCleared"))
	detached := a.awaitAfter(heard, "the worker is gone", eventIn(inA, "Target.detachedFromTarget"))
	if pick(t, detached.Params, "sessionId") != child {
		t.Errorf("detached %s", detached.raw)
	}
	a.awaitAfter(heard, "the new document", func(m message) bool {
		return m.Method == "Page.frameNavigated" && pick(t, m.Params, "frame", "loaderId") == "L2"
	})
	a.awaitAfter(heard, "its frame", eventIn(inA, "Page.frameAttached"))
	if a.attach("ANOTHER") == "" || a.attach("TARGETt1") == "" {
		t.Error("the page is not known by both its names")
	}
	if e.held != 1 {
		t.Errorf("held %d times", e.held)
	}
}

func TestNothingThatWasUnderWayIsDoneAgain(t *testing.T) {
	e := newEdge("t1")
	c := connect(t, grant(t, e).WS())
	session := c.attach("TARGETt1")
	c.call(session, "Page.navigate", `{"url":"https://x/"}`)
	c.call(session, "Input.insertText", `{"text":"x"}`)
	e.hold("t1").asleep()
	n := e.count()
	e.hold("t1").reset("TARGETt1")
	c.call(session, "Runtime.evaluate", "{}")
	if got := e.since(n); !slices.Equal(got, []string{"Page.getFrameTree", "Runtime.evaluate {}"}) {
		t.Errorf("went down: %v", got)
	}
	if got := c.all(event("Page.frameNavigated")); len(got) > 0 {
		t.Error("a document that stayed is told anew")
	}
}

func TestResetsInARowKeepWhatWaits(t *testing.T) {
	e := newEdge("t1")
	again, enables := make(chan struct{}), 0
	e.answer = func(s sent) (string, error, bool) {
		if s.method == "Network.enable" {
			enables++
			if enables == 2 { // the tab is attached anew once more while what was set is being set again
				<-again
				e.hold("t1").sink.Reset("TARGETt1")
			}
		}
		return "", nil, false
	}
	c := connect(t, grant(t, e).WS())
	session := c.attach("TARGETt1")
	c.call(session, "Network.enable", "{}")
	e.hold("t1").reset("TARGETt1")
	e.await(t, "it is set again", func() bool { return len(e.down("Network.enable")) == 2 })
	waits := c.post(session, "Runtime.evaluate", "{}")
	c.call("", "Browser.getVersion", "{}")
	if len(e.down("Runtime.evaluate")) > 0 {
		t.Fatal("a command overtook what is set again")
	}
	close(again)
	c.await("its answer", answers(waits))
	if got := len(e.down("Runtime.evaluate")); got != 1 || len(e.down("Network.enable")) != 3 {
		t.Errorf("went down %d times, after %v", got, e.down("Network.enable"))
	}
}

func TestATabThatIsGoneIsGoneForClients(t *testing.T) {
	e := newEdge("t1", "t2")
	c := connect(t, grant(t, e).WS())
	c.call("", "Target.setDiscoverTargets", `{"discover":true}`)
	session := c.attach("TARGETt1")
	h := e.hold("t1")
	h.tell(func() { h.sink.Event("", "Inspector.targetCrashed", []byte(`{}`)) })
	c.await("the crash in its session", eventIn(session, "Inspector.targetCrashed"))
	c.await("the crash", event("Target.targetCrashed"))
	h.tell(func() { h.sink.Gone(&program.Error{Code: "tab_closed", Message: "the tab is closed"}) })
	c.await("it is detached", event("Target.detachedFromTarget"))
	c.await("it is destroyed", event("Target.targetDestroyed"))
	if m := c.ask(session, "Page.enable", "{}"); m.Error == nil || m.Error.Code != -32001 {
		t.Errorf("its session answers %s", m.raw)
	}
	e.await(t, "it is let go", func() bool { return e.hold("t1") == nil })
}

func TestAPageFromTheBackForwardCacheHasItsLoadBehindIt(t *testing.T) {
	e := newEdge("t1")
	c := connect(t, grant(t, e).WS())
	session := c.attach("TARGETt1")
	c.call(session, "Page.enable", "{}")
	c.call(session, "Page.setLifecycleEventsEnabled", `{"enabled":true}`)
	e.hold("t1").event("", "Page.frameNavigated", `{"frame":{"id":"TARGETt1","loaderId":"L0"},"type":"BackForwardCacheRestore"}`)
	c.await("its load", eventIn(session, "Page.loadEventFired"))
	c.await("its last stage", func(m message) bool {
		return m.Method == "Page.lifecycleEvent" && pick(t, m.Params, "name") == "networkIdle" && pick(t, m.Params, "loaderId") == "L0"
	})
}
