package endpoint_test

import (
	"slices"
	"testing"
)

// treeOf is the answer to Page.getFrameTree of a page with a frame in it.
func treeOf(loader string) string {
	return `{"frameTree":{"frame":{"id":"TARGETt1","loaderId":"` + loader + `","url":"https://x/"},` +
		`"childFrames":[{"frame":{"id":"F","parentId":"TARGETt1","loaderId":"F` + loader + `"}}]}}`
}

func TestWorldsThatClientsCountOnAreMadeInADocumentThatCameUnseen(t *testing.T) {
	e := newEdge("t1")
	loader := "L1"
	e.answer = func(s sent) (string, error, bool) {
		switch s.method {
		case "Page.getFrameTree":
			return treeOf(loader), nil, true
		case "Page.addScriptToEvaluateOnNewDocument":
			return `{"identifier":"1"}`, nil, true
		case "Runtime.enable": // what another session made is there, and told
			e.hold("t1").sink.Event("", "Runtime.executionContextCreated", []byte(
				`{"context":{"id":7,"name":"both","uniqueId":"7","auxData":{"frameId":"F","isDefault":false,"type":"isolated"}}}`))
		}
		return "", nil, false
	}
	capability := grant(t, e)
	a, b := connect(t, capability.WS()), connect(t, capability.WS())
	inA, inB := a.attach("TARGETt1"), b.attach("TARGETt1")
	a.call(inA, "Runtime.enable", "{}")
	a.call(inA, "Page.enable", "{}")
	a.call(inA, "Page.addScriptToEvaluateOnNewDocument", `{"source":"","worldName":"a script's"}`)
	a.call(inA, "Page.createIsolatedWorld", `{"frameId":"F","worldName":"both"}`)
	b.call(inB, "Page.createIsolatedWorld", `{"frameId":"TARGETt1","worldName":"both"}`)
	b.call(inB, "Page.createIsolatedWorld", `{"frameId":"TARGETt1","worldName":"b's"}`)
	b.call(inB, "Page.createIsolatedWorld", `{"frameId":"TARGETt1"}`)
	e.hold("t1").asleep()
	n, heard := e.count(), a.count()
	loader = "L2"
	e.hold("t1").reset("TARGETt1")
	a.call(inA, "Runtime.evaluate", "{}")
	want := []string{
		`Page.enable {}`, `Page.getFrameTree`, `Runtime.enable {}`,
		`Page.addScriptToEvaluateOnNewDocument {"source":"","worldName":"a script's"}`,
		`Page.getFrameTree`,
		`Page.createIsolatedWorld {"frameId":"TARGETt1","worldName":"both"}`,
		`Page.createIsolatedWorld {"frameId":"TARGETt1","worldName":"b's"}`,
		`Page.createIsolatedWorld {"frameId":"TARGETt1","grantUniveralAccess":true,"worldName":"a script's"}`,
		`Page.createIsolatedWorld {"frameId":"F","worldName":"b's"}`,
		`Page.createIsolatedWorld {"frameId":"F","grantUniveralAccess":true,"worldName":"a script's"}`,
		`Runtime.evaluate {}`,
	}
	got := e.since(n)
	if !slices.Equal(got, want) {
		t.Errorf("went down:\n%q\nwant\n%q", got, want)
	}
	frame, context := -1, -1
	for i, m := range a.all(func(message) bool { return true })[heard:] {
		switch {
		case m.Method == "Page.frameAttached" && pick(t, m.Params, "frameId") == "F":
			frame = i
		case m.Method == "Runtime.executionContextCreated":
			context = i
		}
	}
	if frame < 0 || context < frame {
		t.Errorf("the frame is told as number %d, a context in it as number %d", frame, context)
	}
}

func TestWorldsOfAClientThatLeftAreNotMadeAgain(t *testing.T) {
	e := newEdge("t1")
	capability := grant(t, e)
	a, b := connect(t, capability.WS()), connect(t, capability.WS())
	inA, inB := a.attach("TARGETt1"), b.attach("TARGETt1")
	a.call(inA, "Page.createIsolatedWorld", `{"frameId":"TARGETt1","worldName":"a's"}`)
	b.call(inB, "Page.createIsolatedWorld", `{"frameId":"TARGETt1","worldName":"b's"}`)
	a.call("", "Target.detachFromTarget", `{"sessionId":"`+inA+`"}`)
	n := e.count()
	e.hold("t1").reset("TARGETt1")
	b.call(inB, "Runtime.evaluate", "{}")
	want := []string{
		`Page.getFrameTree`, `Page.getFrameTree`, `Page.createIsolatedWorld {"frameId":"TARGETt1","worldName":"b's"}`, `Runtime.evaluate {}`,
	}
	if got := e.since(n); !slices.Equal(got, want) {
		t.Errorf("went down: %q", got)
	}
}
