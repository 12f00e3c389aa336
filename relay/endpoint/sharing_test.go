package endpoint_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"chaperone/relay/program"
)

func worldOf(id int, name string) string {
	return fmt.Sprintf(`{"context":{"id":%d,"uniqueId":"u%d","name":%q}}`, id, id, name)
}

// heardOf lists a session's events with that name, by what is unlike in their params.
func (c *client) heardOf(session, method string) []string {
	told := c.all(eventIn(session, method))
	list := make([]string, 0, len(told))
	for _, m := range told {
		list = append(list, string(m.Params))
	}
	return list
}

func TestWhoComesLateIsToldWhatADomainHasToldBefore(t *testing.T) {
	e := newEdge("t1")
	capability := grant(t, e)
	a, b := connect(t, capability.WS()), connect(t, capability.WS())
	inA, inB := a.attach("TARGETt1"), b.attach("TARGETt1")
	for _, domain := range []string{"Page", "Runtime", "Log", "DOM", "CSS", "Debugger", "Network"} {
		a.call(inA, domain+".enable", "{}")
	}
	a.call(inA, "Page.setLifecycleEventsEnabled", `{"enabled":true}`)
	h := e.hold("t1")
	for _, told := range [][2]string{
		{"Runtime.executionContextCreated", worldOf(1, "old")},
		{"Runtime.executionContextsCleared", `{}`},
		{"Page.frameNavigated", `{"frame":{"id":"TARGETt1"}}`},
		{"Runtime.executionContextCreated", worldOf(2, "")},
		{"Runtime.executionContextCreated", worldOf(3, "gone")},
		{"Runtime.executionContextCreated", worldOf(4, "Chaperone_world")},
		{"Runtime.executionContextDestroyed", `{"executionContextId":3,"executionContextUniqueId":"u3"}`},
		{"Runtime.executionContextDestroyed", `{"executionContextId":4,"executionContextUniqueId":"u4"}`},
		{"Runtime.executionContextCreated", worldOf(5, "chaperone")},
		{"Runtime.consoleAPICalled", `{"type":"log","args":[]}`},
		{"Log.entryAdded", `{"entry":{"text":"e"}}`},
		{"CSS.styleSheetAdded", `{"header":{"styleSheetId":"1"}}`},
		{"CSS.styleSheetAdded", `{"header":{"styleSheetId":"2"}}`},
		{"CSS.styleSheetRemoved", `{"styleSheetId":"1"}`},
		{"Debugger.scriptParsed", `{"scriptId":"9"}`},
		{"Network.requestWillBeSent", `{"requestId":"1"}`},
		{"Page.lifecycleEvent", `{"frameId":"F","loaderId":"L","name":"init","timestamp":1}`},
		{"Page.lifecycleEvent", `{"frameId":"F","loaderId":"L","name":"load","timestamp":2}`},
		{"Inspector.targetReloadedAfterCrash", `{}`},
	} {
		h.event("", told[0], told[1])
	}
	a.await("the last event", event("Inspector.targetReloadedAfterCrash"))
	for _, domain := range []string{"Page", "Runtime", "Log", "DOM", "CSS", "Debugger", "Network"} {
		b.call(inB, domain+".enable", "{}")
	}
	b.call(inB, "Page.setLifecycleEventsEnabled", `{"enabled":true}`)
	for method, want := range map[string][]string{
		"Runtime.executionContextCreated": {worldOf(2, "")},
		"Runtime.consoleAPICalled":        {`{"type":"log","args":[]}`},
		"Log.entryAdded":                  {`{"entry":{"text":"e"}}`},
		"CSS.styleSheetAdded":             {`{"header":{"styleSheetId":"2"}}`},
		"Debugger.scriptParsed":           {`{"scriptId":"9"}`},
		"Network.requestWillBeSent":       nil,
		"Page.frameNavigated":             nil,
		"Page.lifecycleEvent": {
			`{"frameId":"F","loaderId":"L","name":"init","timestamp":1}`, `{"frameId":"F","loaderId":"L","name":"load","timestamp":2}`,
		},
	} {
		if got := b.heardOf(inB, method); !slices.Equal(got, want) {
			t.Errorf("%s: late heard %v, want %v", method, got, want)
		}
	}
	if got := a.heardOf(inA, "Runtime.executionContextCreated"); len(got) != 3 {
		t.Errorf("the first heard of contexts %v", got)
	}
	if got := a.heardOf(inA, "Runtime.executionContextDestroyed"); len(got) != 1 {
		t.Errorf("the first heard of ends %v", got)
	}
	for _, params := range []string{`{"contextId":5}`, `{"executionContextId":5}`, `{"uniqueContextId":"u5"}`} {
		if m := b.ask(inB, "Runtime.evaluate", params); m.Error == nil {
			t.Errorf("the page script's world answers %s", params)
		}
	}
	b.call(inB, "Runtime.evaluate", `{"contextId":2}`)
	if got := len(e.down("Debugger.setSkipAllPauses")); got != 2 {
		t.Errorf("pauses were switched off %d times", got)
	}
}

func TestStagesAreToldOnceAndAnewByEachDocument(t *testing.T) {
	e := newEdge("t1")
	c := connect(t, grant(t, e).WS())
	session := c.attach("TARGETt1")
	c.call(session, "Page.setLifecycleEventsEnabled", `{"enabled":true}`)
	stage := func(loader, name string) {
		e.hold("t1").event("", "Page.lifecycleEvent", `{"frameId":"F","loaderId":"`+loader+`","name":"`+name+`"}`)
	}
	// The second client's switch makes Chrome tell the first document's stages again; document.open begins anew.
	for _, of := range [][2]string{{"1", "init"}, {"1", "load"}, {"1", "load"}, {"1", "init"}, {"1", "load"}, {"2", "init"}, {"2", "load"}, {"2", "end"}} {
		stage(of[0], of[1])
	}
	c.await("the last", func(m message) bool { return strings.Contains(m.raw, `"end"`) })
	if got := c.heardOf(session, "Page.lifecycleEvent"); len(got) != 7 {
		t.Errorf("heard %v", got)
	}
}

func TestADomainIsDisabledForTheLastAlone(t *testing.T) {
	e := newEdge("t1")
	capability := grant(t, e)
	a, b := connect(t, capability.WS()), connect(t, capability.WS())
	inA, inB := a.attach("TARGETt1"), b.attach("TARGETt1")
	a.call(inA, "Network.enable", "{}")
	b.call(inB, "Network.enable", "{}")
	a.call(inA, "Network.disable", "{}")
	if len(e.down("Network.disable")) > 0 {
		t.Error("disabled while another has it enabled")
	}
	e.hold("t1").event("", "Network.dataReceived", `{}`)
	b.await("the event", event("Network.dataReceived"))
	b.call(inB, "Network.disable", "{}")
	if len(e.down("Network.disable")) != 1 {
		t.Error("not disabled for the last")
	}
	b.call(inB, "Runtime.enable", "{}")
	b.call(inB, "Runtime.disable", "{}")
	if len(e.down("Runtime.disable")) > 0 {
		t.Error("what the endpoint needs was disabled")
	}
	e.hold("t1").event("", "Runtime.executionContextCreated", worldOf(1, ""))
	e.hold("t1").event("", "Network.dataReceived", `{}`)
	a.call(inA, "Runtime.evaluate", "{}")
	b.call(inB, "Runtime.enable", "{}")
	if got := b.heardOf(inB, "Runtime.executionContextCreated"); len(got) != 1 {
		t.Errorf("who enables again heard %v", got)
	}
	if got := len(a.all(event("Network.dataReceived"))); got > 0 {
		t.Errorf("who disabled heard %d events", got)
	}
}

func TestBindingsAreHeardByWhoHasThem(t *testing.T) {
	e := newEdge("t1")
	capability := grant(t, e)
	a, b := connect(t, capability.WS()), connect(t, capability.WS())
	inA, inB := a.attach("TARGETt1"), b.attach("TARGETt1")
	a.call(inA, "Runtime.addBinding", `{"name":"both"}`)
	b.call(inB, "Runtime.addBinding", `{"name":"both"}`)
	b.call(inB, "Runtime.addBinding", `{"name":"own"}`)
	e.hold("t1").event("", "Runtime.bindingCalled", `{"name":"own","payload":"1"}`)
	e.hold("t1").event("", "Runtime.bindingCalled", `{"name":"both","payload":"2"}`)
	a.await("the call", event("Runtime.bindingCalled"))
	b.await("both", func(m message) bool { return strings.Contains(m.raw, `"payload":"2"`) })
	if got := a.heardOf(inA, "Runtime.bindingCalled"); len(got) != 1 {
		t.Errorf("a heard %v", got)
	}
	a.call(inA, "Runtime.removeBinding", `{"name":"both"}`)
	if len(e.down("Runtime.removeBinding")) > 0 {
		t.Error("removed while another has it")
	}
	b.call(inB, "Runtime.removeBinding", `{"name":"both"}`)
	if len(e.down("Runtime.removeBinding")) != 1 {
		t.Error("not removed for the last")
	}
}

func TestWhatALeavingClientSetIsTakenBack(t *testing.T) {
	e := newEdge("t1")
	scripts := 0
	e.answer = func(s sent) (string, error, bool) {
		if s.method != "Page.addScriptToEvaluateOnNewDocument" {
			return "", nil, false
		}
		scripts++
		return fmt.Sprintf(`{"identifier":"real%d"}`, scripts), nil, true
	}
	capability := grant(t, e)
	a, b := connect(t, capability.WS()), connect(t, capability.WS())
	inA, inB := a.attach("TARGETt1"), b.attach("TARGETt1")
	b.call(inB, "Emulation.setEmulatedMedia", `{"media":"print"}`)
	kept := b.call(inB, "Page.addScriptToEvaluateOnNewDocument", `{"source":"b"}`, "identifier")
	b.call(inB, "Network.enable", `{}`)
	a.call(inA, "Network.enable", `{}`)
	a.call(inA, "Performance.enable", `{}`)
	a.call(inA, "Emulation.setEmulatedMedia", `{"media":"screen"}`)
	a.call(inA, "Emulation.setDeviceMetricsOverride", `{"width":500,"height":400,"deviceScaleFactor":1,"mobile":false}`)
	a.call(inA, "Network.setExtraHTTPHeaders", `{"headers":{"X-A":"1"}}`)
	script := a.call(inA, "Page.addScriptToEvaluateOnNewDocument", `{"source":"a"}`, "identifier")
	if script == kept || script == "real2" {
		t.Errorf("scripts are named %s and %s", kept, script)
	}
	if m := b.ask(inB, "Page.removeScriptToEvaluateOnNewDocument", `{"identifier":"`+script+`"}`); m.Error == nil {
		t.Error("a client removes another's script")
	}
	a.call(inA, "Runtime.addBinding", `{"name":"x"}`)
	before := e.count()
	a.call("", "Target.detachFromTarget", `{"sessionId":"`+inA+`"}`)
	b.call(inB, "Runtime.evaluate", "{}")
	went := e.since(before)
	want := []string{
		`Runtime.removeBinding {"name":"x"}`,
		`Page.removeScriptToEvaluateOnNewDocument {"identifier":"real2"}`,
		`Network.setExtraHTTPHeaders {"headers":{}}`,
		`Emulation.clearDeviceMetricsOverride {}`,
		`Emulation.setEmulatedMedia {"media":"print"}`,
		`Performance.disable`,
		`Runtime.evaluate {}`,
	}
	if !slices.Equal(went, want) {
		t.Errorf("went down:\n%s", strings.Join(went, "\n"))
	}
	b.call(inB, "Page.removeScriptToEvaluateOnNewDocument", `{"identifier":"`+kept+`"}`)
	if sent := e.down("Page.removeScriptToEvaluateOnNewDocument"); sent[len(sent)-1].params != `{"identifier":"real1"}` {
		t.Errorf("removed %v", sent)
	}
}

func TestFontFamiliesAreTakenOnce(t *testing.T) {
	e := newEdge("t1")
	capability := grant(t, e)
	a, b := connect(t, capability.WS()), connect(t, capability.WS())
	inA, inB := a.attach("TARGETt1"), b.attach("TARGETt1")
	a.call(inA, "Page.setFontFamilies", `{"fontFamilies":{}}`)
	b.call(inB, "Page.setFontFamilies", `{"fontFamilies":{}}`)
	a.call("", "Browser.close", "{}")
	<-a.ended
	b.call(inB, "Page.setFontFamilies", `{"fontFamilies":{}}`)
	if got := len(e.down("Page.setFontFamilies")); got != 1 {
		t.Errorf("went down %d times", got)
	}
}

const workerChild = `{"sessionId":"edge1","targetInfo":{"targetId":"W1","type":"worker","title":"","url":"https://x/w.js","attached":true},"waitingForDebugger":true}`

func TestAChildRunsWhenAllWhoHeldItBackLetItGo(t *testing.T) {
	e := newEdge("t1")
	capability := grant(t, e)
	a, b, late := connect(t, capability.WS()), connect(t, capability.WS()), connect(t, capability.WS())
	inA, inB, inLate := a.attach("TARGETt1"), b.attach("TARGETt1"), late.attach("TARGETt1")
	a.call(inA, "Target.setAutoAttach", attachToPages)
	b.call(inB, "Target.setAutoAttach", attachToPages)
	late.call(inLate, "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true}`)
	for _, asked := range e.down("Target.setAutoAttach") {
		if asked.params != attachToPages {
			t.Errorf("asked of the edge: %v", asked)
		}
	}
	e.hold("t1").event("", "Target.attachedToTarget", workerChild)
	childOf := func(c *client, in string) string {
		m := c.await("the worker", eventIn(in, "Target.attachedToTarget"))
		return pick(t, m.Params, "sessionId")
	}
	atA, atB := childOf(a, inA), childOf(b, inB)
	m := late.await("the worker", eventIn(inLate, "Target.attachedToTarget"))
	if !strings.Contains(m.raw, `"waitingForDebugger":false`) {
		t.Errorf("who does not wait hears %s", m.raw)
	}
	e.hold("t1").event("edge1", "Inspector.workerScriptLoaded", `{}`)
	a.call(atA, "Runtime.enable", "{}")
	later := late.attach("W1")
	late.call(later, "Runtime.enable", "{}")
	late.call(later, "Runtime.enable", "{}")
	if got := len(a.heardOf(atA, "Inspector.workerScriptLoaded")) + len(late.heardOf(later, "Inspector.workerScriptLoaded")); got != 2 {
		t.Errorf("told %d times that the worker's script has run", got)
	}
	a.call(atA, "Runtime.runIfWaitingForDebugger", "{}")
	a.call(atA, "Runtime.runIfWaitingForDebugger", "{}")
	if len(e.down("Runtime.runIfWaitingForDebugger")) > 0 {
		t.Fatal("it runs while another holds it back")
	}
	_ = atB
	b.call("", "Browser.close", "{}")
	e.await(t, "it runs", func() bool { return len(e.down("Runtime.runIfWaitingForDebugger")) == 1 })
	if got := e.down("Runtime.runIfWaitingForDebugger")[0]; got.child != "edge1" {
		t.Errorf("resumed %v", got)
	}
	a.call("", "Browser.close", "{}")
	e.await(t, "nobody waits any more", func() bool {
		sent := e.down("Target.setAutoAttach")
		return sent[len(sent)-1].params == `{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true}`
	})
	e.hold("t1").event("", "Target.attachedToTarget", strings.NewReplacer("edge1", "edge2", "W1", "W2").Replace(workerChild))
	e.await(t, "a child for whom nobody waits runs", func() bool { return len(e.down("Runtime.runIfWaitingForDebugger")) == 2 })
	e.hold("t1").event("", "Target.detachedFromTarget", `{"sessionId":"edge1"}`)
	late.await("it is gone", eventIn(inLate, "Target.detachedFromTarget"))
	if m := late.ask("", "Target.closeTarget", `{"targetId":"W2"}`); m.Error == nil || !strings.Contains(m.Error.Message, "only a page can be closed") {
		t.Errorf("closing a worker is answered %s", m.raw)
	}
}

func TestChildrenOfChildrenAreToldInTheirParentsSession(t *testing.T) {
	e := newEdge("t1")
	c := connect(t, grant(t, e).WS())
	session := c.attach("TARGETt1")
	frame := `{"sessionId":"edge1","targetInfo":{"targetId":"F1","type":"iframe","title":"","url":""},"waitingForDebugger":false}`
	e.hold("t1").event("", "Target.attachedToTarget", frame)
	e.hold("t1").event("edge1", "Target.attachedToTarget", strings.NewReplacer("edge1", "edge2", "F1", "F2").Replace(frame))
	c.call(session, "Target.setAutoAttach", attachToPages)
	outer := pick(t, c.await("the frame", eventIn(session, "Target.attachedToTarget")).Params, "sessionId")
	c.call(outer, "Target.setAutoAttach", attachToPages)
	inner := pick(t, c.await("its frame", eventIn(outer, "Target.attachedToTarget")).Params, "sessionId")
	c.call(inner, "Page.enable", "{}")
	e.hold("t1").event("edge2", "Page.frameNavigated", `{"frame":{"id":"F2","url":"https://inner/"}}`)
	c.await("its event", eventIn(inner, "Page.frameNavigated"))
	if got := c.call("", "Target.getTargets", "{}", "targetInfos"); !strings.Contains(got, `"url":"https://inner/"`) {
		t.Errorf("targets: %s", got)
	}
	e.hold("t1").event("", "Target.detachedFromTarget", `{"sessionId":"edge1"}`)
	c.await("the inner goes first", eventIn(outer, "Target.detachedFromTarget"))
	c.await("the outer goes", eventIn(session, "Target.detachedFromTarget"))
	if m := c.ask(inner, "Page.enable", "{}"); m.Error == nil || m.Error.Code != -32001 {
		t.Errorf("its session answers %s", m.raw)
	}
}

func TestOneCastIsSharedAndAcknowledgedByEach(t *testing.T) {
	e := newEdge("t1")
	capability := grant(t, e)
	a, b := connect(t, capability.WS()), connect(t, capability.WS())
	inA, inB := a.attach("TARGETt1"), b.attach("TARGETt1")
	a.call(inA, "Page.startScreencast", `{"format":"jpeg","quality":60,"maxWidth":640,"maxHeight":400,"everyNthFrame":1}`)
	b.call(inB, "Page.startScreencast", `{"format":"png","everyNthFrame":2,"maxWidth":640,"maxHeight":400,"quality":50}`)
	e.await(t, "the cast began", func() bool { e.mu.Lock(); defer e.mu.Unlock(); return len(e.casts) == 1 })
	var picture bytes.Buffer
	if err := jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 4)), nil); err != nil {
		t.Fatal(err)
	}
	show := func(n int) {
		for range n {
			e.picture <- program.Picture{Tab: "t1", AtMS: 1500, Width: 8, Height: 4, JPEG: picture.Bytes()}
		}
	}
	show(4)
	frame := b.await("a picture in PNG", eventIn(inB, "Page.screencastFrame"))
	data, err := base64.StdEncoding.DecodeString(pick(t, frame.Params, "data"))
	if err != nil {
		t.Fatal(err)
	}
	if decoded, err := png.Decode(bytes.NewReader(data)); err != nil || decoded.Bounds().Dx() != 8 {
		t.Errorf("no PNG: %v", err)
	}
	if got := pick(t, frame.Params, "metadata", "timestamp"); got != "1.5" {
		t.Errorf("taken at %s", got)
	}
	second := func(m message) bool {
		return m.Method == "Page.screencastFrame" && pick(t, m.Params, "sessionId") == "2"
	}
	a.await("a second picture", second)
	if got := len(a.all(event("Page.screencastFrame"))); got != 2 {
		t.Errorf("%d pictures without an acknowledgement", got)
	}
	a.call(inA, "Page.screencastFrameAck", `{"sessionId":1}`)
	show(1)
	a.await("a third picture", func(m message) bool {
		return m.Method == "Page.screencastFrame" && pick(t, m.Params, "sessionId") == "3"
	})
	a.call(inA, "Page.stopScreencast", `{}`)
	b.call("", "Target.detachFromTarget", `{"sessionId":"`+inB+`"}`)
	for _, method := range []string{"Page.startScreencast", "Page.screencastFrameAck", "Page.stopScreencast"} {
		if len(e.down(method)) > 0 {
			t.Errorf("%s went down", method)
		}
	}
}
