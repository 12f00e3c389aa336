package endpoint_test

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chaperone/relay/endpoint"
	"chaperone/relay/program"
)

// leave ends a client and waits until the endpoint has noticed.
func (c *client) leave(capability *endpoint.Capability) {
	c.t.Helper()
	before := capability.Clients()
	c.call("", "Browser.close", "{}")
	<-c.ended
	for capability.Clients() == before {
		runtime.Gosched()
	}
}

func TestWhatALeaverAskedForWhileItsTabWasNotThereIsNotDone(t *testing.T) {
	ways := map[string]func(e *edge) (goOn func()){
		"the browser is lost": func(e *edge) func() {
			e.hold("t1").lost()
			return func() { e.hold("t1").reset("TARGETt1") }
		},
		"the tab is being made as it was": func(e *edge) func() {
			e.mu.Lock()
			e.silent = func(s sent) bool { return s.method == "Page.getFrameTree" }
			e.mu.Unlock()
			e.hold("t1").reset("TARGETt1")
			return func() {
				e.mu.Lock()
				e.silent = nil
				e.mu.Unlock()
				e.hold("t1").reset("TARGETt1")
			}
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			e := newEdge("t1")
			capability := grant(t, e)
			leaver, other := connect(t, capability.WS()), connect(t, capability.WS())
			in, inOther := leaver.attach("TARGETt1"), other.attach("TARGETt1")
			goOn := way(e)
			leaver.post(in, "Emulation.setScriptExecutionDisabled", `{"value":true}`)
			leaver.post(in, "Network.setExtraHTTPHeaders", `{"headers":{"X-A":"1"}}`)
			leaver.post(in, "Runtime.addBinding", `{"name":"left"}`)
			leaver.post(in, "Page.addScriptToEvaluateOnNewDocument", `{"source":"1"}`)
			leaver.post(in, "Runtime.evaluate", `{"expression":"leave()"}`)
			waits := other.post(inOther, "Runtime.evaluate", `{"expression":"stay()"}`)
			leaver.leave(capability)
			goOn()
			other.await("its own command's answer", answers(waits))
			want := []sent{{"t1", "", "Runtime.evaluate", `{"expression":"stay()"}`}}
			if got := e.down("Runtime.evaluate"); !slices.Equal(got, want) {
				t.Errorf("done: %v", got)
			}
			for _, method := range []string{"Network.setExtraHTTPHeaders", "Runtime.addBinding", "Page.addScriptToEvaluateOnNewDocument"} {
				if got := e.down(method); len(got) > 0 && got[len(got)-1].params != `{"headers":{}}` {
					t.Errorf("set for nobody: %v", got)
				}
			}
		})
	}
}

func TestCommandsOfASessionThatWasDetachedAreAnswered(t *testing.T) {
	e := newEdge("t1")
	e.silent = func(s sent) bool { return s.method == "Runtime.evaluate" }
	capability := grant(t, e)
	c := connect(t, capability.WS())
	in := c.attach("TARGETt1")
	id := c.post(in, "Runtime.evaluate", "{}")
	c.call("", "Target.detachFromTarget", `{"sessionId":"`+in+`"}`)
	if m := c.await("an answer", answers(id)); m.Error == nil {
		t.Errorf("answered %s", m.raw)
	}
}

// What a tab does not answer counts for it, whoever asked and however often they come anew.
func TestLeaversCommandsCountUntilTheyAreAnswered(t *testing.T) {
	e := newEdge("t1", "t2")
	e.silent = func(s sent) bool { return s.method == "Runtime.evaluate" && s.tab == "t1" }
	capability := grant(t, e)
	stays := connect(t, capability.WS())
	first, second := stays.attach("TARGETt1"), stays.attach("TARGETt2")
	for range 4 {
		c := connect(t, capability.WS())
		in := c.attach("TARGETt1")
		for range 1024 {
			c.post(in, "Runtime.evaluate", "{}")
		}
		c.leave(capability)
	}
	if m := stays.ask(first, "Runtime.evaluate", "{}"); m.Error == nil || !strings.Contains(m.Error.Message, "owes its clients") {
		t.Errorf("one more: %s", m.raw)
	}
	stays.call(second, "Runtime.evaluate", "{}")
	stays.call("", "Target.getTargets", "{}")
	if got := len(e.down("Runtime.evaluate")); got != 4*1024+1 {
		t.Errorf("%d went down", got)
	}
	e.hold("t1").reset("TARGETt1")
}

func TestLeaversCommandsWeighNothing(t *testing.T) {
	e := newEdge("t1")
	e.silent = func(s sent) bool { return s.method == "Runtime.evaluate" }
	capability := grant(t, e)
	stays := connect(t, capability.WS())
	stays.attach("TARGETt1")
	pad := strings.Repeat("x", 1<<20)
	var before uint64
	for i := range 9 {
		c := connect(t, capability.WS())
		in := c.attach("TARGETt1")
		for range 12 {
			c.post(in, "Runtime.evaluate", `{"expression":"`+pad+`"}`)
		}
		c.leave(capability)
		e.mu.Lock()
		e.sent = nil
		e.mu.Unlock()
		if i == 0 {
			before = heapBytes()
		}
	}
	if grown := int64(heapBytes()-before) >> 20; grown > 40 {
		t.Errorf("96 MiB of commands of those who left keep %d MiB", grown)
	}
}

func heapBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return now.HeapAlloc
}

// A tab that answers nothing at all is let go before what it owes grows without end.
func TestATabThatNeverAnswersIsLetGo(t *testing.T) {
	e := newEdge("t1")
	e.silent = func(s sent) bool { return s.method != "Page.getFrameTree" }
	capability := grant(t, e)
	stays := connect(t, capability.WS())
	stays.attach("TARGETt1")
	for range 20 {
		c := connect(t, capability.WS())
		in := c.attach("TARGETt1")
		for i := range 400 {
			c.post(in, "Runtime.addBinding", `{"name":"b`+strconv.Itoa(i)+`"}`)
		}
		c.leave(capability)
	}
	stays.await("the end of the tab", event("Target.detachedFromTarget"))
	stays.call("", "Target.attachToTarget", `{"targetId":"TARGETt1","flatten":true}`)
}

// A page that begins to load is waited for; what a client that left had set is taken back all the same.
func TestALeaverTakesItsSettingsAlongThoughAPageBeginsToLoad(t *testing.T) {
	e := newEdge()
	e.silent = func(s sent) bool { return s.method == "Page.navigate" }
	capability := grant(t, e)
	c := connect(t, capability.WS())
	in := c.attach(c.call("", "Target.createTarget", `{"url":"https://slow.example/"}`, "targetId"))
	c.call(in, "Network.setExtraHTTPHeaders", `{"headers":{"X-A":"1"}}`)
	c.leave(capability)
	e.await(t, "the headers are taken back", func() bool {
		got := e.down("Network.setExtraHTTPHeaders")
		return got[len(got)-1].params == `{"headers":{}}`
	})
}

// The edge's goroutine serves other sessions too.
func TestARouterThatIsBusyKeepsNoEdgeBack(t *testing.T) {
	e := newEdge("t1")
	capability := grant(t, e)
	c := connect(t, capability.WS())
	c.attach("TARGETt1")
	h := e.hold("t1")
	var taken []bool
	goOn := capability.Stall()
	h.now(func() {
		for range 10_000 {
			taken = append(taken, h.sink.Event("", "Page.frameResized", nil))
		}
		h.sink.Asleep(&program.Error{Code: "tab_suspended", Message: "it rests"})
	})
	goOn()
	if first := slices.Index(taken, false); first < 8192 || slices.Contains(taken[first:], true) {
		t.Errorf("the %d. event is the first that is turned away, and others are not", first)
	}
	h.reset("TARGETt1")
	h.now(func() {
		if !h.sink.Event("", "Inspector.targetReloadedAfterCrash", nil) {
			t.Error("no event is taken of a tab that is attached anew")
		}
	})
	c.await("an event of the new attachment", event("Inspector.targetReloadedAfterCrash"))
}
