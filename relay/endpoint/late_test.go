package endpoint_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"chaperone/relay/endpoint"
	"chaperone/relay/program"
)

func TestWhatALateOneIsToldAgainDoesNotCutItOff(t *testing.T) {
	kinds := map[string]struct {
		ask, event string
		count      int
		also       string
	}{
		"scripts":               {"Debugger.enable", "Debugger.scriptParsed", 4096, ""},
		"changes of a document": {"DOM.getDocument", "DOM.attributeModified", 16_000, "DOM.enable"},
	}
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			e := newEdge("t1")
			capability := grant(t, e)
			first, late := connect(t, capability.WS()), connect(t, capability.WS())
			inFirst, inLate := first.attach("TARGETt1"), late.attach("TARGETt1")
			enable := func(c *client, in string) {
				if k.also != "" {
					c.call(in, k.also, "{}")
				}
				c.call(in, k.ask, "{}")
			}
			enable(first, inFirst)
			for i := range k.count {
				e.hold("t1").event("", k.event, fmt.Sprintf(`{"nodeId":3,"scriptId":"%d"}`, i))
				if i%1000 == 0 {
					first.call(inFirst, "Runtime.evaluate", "{}")
				}
			}
			first.call(inFirst, "Runtime.evaluate", "{}")
			enable(late, inLate)
			late.call(inLate, "Runtime.evaluate", "{}")
			if got := len(late.heardOf(inLate, k.event)); got != k.count {
				t.Errorf("it heard of %d", got)
			}
		})
	}
}

func TestALateOneThatEnablesTwiceIsToldOnce(t *testing.T) {
	e := newEdge("t1")
	capability := grant(t, e)
	first, late := connect(t, capability.WS()), connect(t, capability.WS())
	inFirst, inLate := first.attach("TARGETt1"), late.attach("TARGETt1")
	first.call(inFirst, "Runtime.enable", "{}")
	e.hold("t1").event("", "Runtime.executionContextCreated", worldOf(2, ""))
	first.await("the context", event("Runtime.executionContextCreated"))
	goOn := make(chan struct{})
	e.mu.Lock()
	e.answer = func(s sent) (string, error, bool) {
		if s.method == "Runtime.enable" {
			<-goOn
		}
		return "", nil, false
	}
	e.mu.Unlock()
	one, two := late.post(inLate, "Runtime.enable", "{}"), late.post(inLate, "Runtime.enable", "{}")
	late.call("", "Browser.getVersion", "{}")
	close(goOn)
	late.await("one", answers(one))
	late.await("two", answers(two))
	if got := late.heardOf(inLate, "Runtime.executionContextCreated"); !slices.Equal(got, []string{worldOf(2, "")}) {
		t.Errorf("told: %v", got)
	}
}

func TestALateOneIsToldNothingOfEarlierDocuments(t *testing.T) {
	e := newEdge("t1")
	capability := grant(t, e)
	first, late := connect(t, capability.WS()), connect(t, capability.WS())
	inFirst, inLate := first.attach("TARGETt1"), late.attach("TARGETt1")
	first.call(inFirst, "Log.enable", "{}")
	first.call(inFirst, "Audits.enable", "{}")
	if len(e.down("Page.enable")) == 0 {
		t.Error("nobody would tell of the next document")
	}
	h := e.hold("t1")
	h.event("", "Log.entryAdded", `{"entry":{"text":"old"}}`)
	h.event("", "Audits.issueAdded", `{"issue":"old"}`)
	h.event("", "Page.frameNavigated", `{"frame":{"id":"F","parentId":"TARGETt1","loaderId":"L2"}}`)
	h.event("", "Log.entryAdded", `{"entry":{"text":"still old"}}`)
	h.event("", "Page.frameNavigated", `{"frame":{"id":"TARGETt1","loaderId":"L2"}}`)
	h.event("", "Log.entryAdded", `{"entry":{"text":"new"}}`)
	h.event("", "Audits.issueAdded", `{"issue":"new"}`)
	first.call(inFirst, "Runtime.evaluate", "{}")
	late.call(inLate, "Log.enable", "{}")
	late.call(inLate, "Audits.enable", "{}")
	if got := late.heardOf(inLate, "Log.entryAdded"); !slices.Equal(got, []string{`{"entry":{"text":"new"}}`}) {
		t.Errorf("entries: %v", got)
	}
	if got := late.heardOf(inLate, "Audits.issueAdded"); !slices.Equal(got, []string{`{"issue":"new"}`}) {
		t.Errorf("issues: %v", got)
	}
	if got := first.heardOf(inFirst, "Log.entryAdded"); len(got) != 3 {
		t.Errorf("the first heard %v", got)
	}
}

func TestPausesAreOffBeforeAPageCanPause(t *testing.T) {
	e := newEdge("t1")
	capability := grant(t, e)
	c := connect(t, capability.WS())
	in := c.attach("TARGETt1")
	order := func(n int) []string {
		return slices.DeleteFunc(e.since(n), func(s string) bool { return !strings.HasPrefix(s, "Debugger.") })
	}
	want := []string{`Debugger.setSkipAllPauses {"skip":true}`, "Debugger.enable {}"}
	c.call(in, "Debugger.enable", "{}")
	if got := order(0); !slices.Equal(got, want) {
		t.Errorf("down: %v", got)
	}
	n := e.count()
	e.hold("t1").reset("TARGETt1")
	c.call(in, "Runtime.evaluate", "{}")
	if got := order(n); !slices.Equal(got, want) {
		t.Errorf("when the tab is attached anew: %v", got)
	}
}

// failingCast does not cast at first, as a tab that sleeps does not.
type failingCast struct {
	*edge
	tries atomic.Int32
	most  int32
}

func (f *failingCast) Cast(ctx context.Context, o program.CastOptions, sink func(program.Picture)) error {
	if f.tries.Add(1) <= f.most {
		return &program.Error{Code: "tab_suspended", Message: "asleep"}
	}
	return f.edge.Cast(ctx, o, sink)
}

func TestACastThatEndedByItselfIsTakenUpAgain(t *testing.T) {
	for name, asksAgain := range map[string]bool{"for who watches": false, "for who asks next": true} {
		t.Run(name, func(t *testing.T) {
			e := &failingCast{edge: newEdge("t1"), most: 1}
			capability := grant(t, e)
			a, b := connect(t, capability.WS()), connect(t, capability.WS())
			inA, inB := a.attach("TARGETt1"), b.attach("TARGETt1")
			a.call(inA, "Page.startScreencast", `{"format":"jpeg"}`)
			if asksAgain {
				b.call(inB, "Page.startScreencast", `{"format":"jpeg"}`)
			}
			e.picture <- program.Picture{JPEG: []byte("jpeg"), Width: 10, Height: 10}
			a.await("a picture", eventIn(inA, "Page.screencastFrame"))
		})
	}
}

func TestATabUnderANewNameIsShownAgainWhenItsClientsHaveLeft(t *testing.T) {
	e := newEdge("t1")
	capability := grant(t, e)
	a := connect(t, capability.WS())
	a.attach("TARGETt1")
	e.hold("t1").reset("TARGETnew")
	e.change(func() { e.tabs[0].Target = "TARGETnew" })
	a.leave(capability)
	e.await(t, "the tab is let go", func() bool { return e.hold("t1") == nil })
	b := connect(t, capability.WS())
	b.call("", "Target.setDiscoverTargets", `{"discover":true}`)
	b.await("the tab under its new name", func(m message) bool {
		return m.Method == "Target.targetCreated" && strings.Contains(string(m.Params), `"TARGETnew"`)
	})
	b.attach("TARGETnew")
}

func TestTargetsAreListedThoughAFrameNeverTellsItsAddress(t *testing.T) {
	e := newEdge("t1")
	e.silent = func(s sent) bool { return s.child == "C1" && s.method == "Page.getFrameTree" }
	capability := grant(t, e)
	c := connect(t, capability.WS())
	in := c.attach("TARGETt1")
	c.call(in, "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true}`)
	e.hold("t1").event("", "Target.attachedToTarget", `{"sessionId":"C1","targetInfo":{"targetId":"F1","type":"iframe","url":""}}`)
	c.await("the frame", eventIn(in, "Target.attachedToTarget"))
	if got := c.call("", "Target.getTargets", "{}", "targetInfos"); !strings.Contains(got, `"F1"`) {
		t.Errorf("listed: %s", got)
	}
}

func TestNoTargetTellsUserAndPassword(t *testing.T) {
	e := newEdge("t1")
	e.tabs[0].URL, e.tabs[0].Title = "https://user:secret@t1.example/a@b", "https://user:secret@t1.example/a@b"
	capability := grant(t, e)
	c := connect(t, capability.WS())
	in := c.attach("TARGETt1")
	c.call("", "Target.setDiscoverTargets", `{"discover":true}`)
	c.call(in, "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true}`)
	e.hold("t1").event("", "Target.attachedToTarget",
		`{"sessionId":"C1","targetInfo":{"targetId":"F1","type":"iframe","title":"","url":"https://user:secret@far.example/"}}`)
	c.await("the frame", eventIn(in, "Target.attachedToTarget"))
	c.call("", "Target.getTargets", "{}")
	c.call(in, "Target.getTargetInfo", "{}")
	e.change(func() { e.tabs[0].URL = "https://other:secret@t1.example/" })
	c.await("the new address", func(m message) bool {
		return m.Method == "Target.targetInfoChanged" && strings.Contains(string(m.Params), `"https://t1.example/"`)
	})
	_, list := fetch(t, capability, "/"+secretOf(capability)+"/json/list", nil)
	if told := c.story() + list; strings.Contains(told, "secret") || !strings.Contains(told, "https://t1.example/a@b") {
		t.Errorf("told:\n%s", told)
	}
}

func TestFiltersAndParametersOfTheEndpointsOwnAreBounded(t *testing.T) {
	capability := grant(t, newEdge("t1"))
	c := connect(t, capability.WS())
	entries := func(n int, kind string) string {
		return `{"discover":true,"filter":[` + strings.Repeat(`{"type":"`+kind+`"},`, n-1) + `{"type":"page"}]}`
	}
	for params, is := range map[string]bool{
		entries(64, "x"):                              true,
		entries(65, "x"):                              false,
		entries(2, strings.Repeat("x", 64)):           true,
		entries(2, strings.Repeat("x", 65)):           false,
		`{"x":"` + strings.Repeat("x", 1000) + `"}`:   true,
		`{"x":"` + strings.Repeat("x", 64<<10) + `"}`: false,
	} {
		for _, method := range []string{"Target.getTargets", "Target.setDiscoverTargets"} {
			if m := c.ask("", method, params); (m.Error == nil) != is {
				t.Errorf("%s %.60s: %.200s", method, params, m.raw)
			}
		}
	}
}

func TestWhatAClientSetsIsWeighed(t *testing.T) {
	e := newEdge("t1")
	e.answer = func(s sent) (string, error, bool) {
		return `{"identifier":"1"}`, nil, strings.Contains(s.method, "Script")
	}
	capability := grant(t, e)
	c := connect(t, capability.WS())
	in := c.attach("TARGETt1")
	big := `{"source":"` + strings.Repeat("x", 2<<20-300) + `"}`
	names := make([]string, 0, 7)
	for range 7 {
		names = append(names, c.call(in, "Page.addScriptToEvaluateOnNewDocument", big, "identifier"))
	}
	c.ask(in, "Page.addScriptToEvaluateOnNewDocument", big)
	for _, method := range []string{"Page.addScriptToEvaluateOnNewDocument", "Network.setExtraHTTPHeaders", "Network.enable"} {
		n := len(e.down(method))
		if m := c.ask(in, method, big); m.Error == nil || !strings.Contains(m.Error.Message, "16 MiB") || len(e.down(method)) > n {
			t.Errorf("%s: %.200s", method, m.raw)
		}
	}
	for _, name := range names {
		c.call(in, "Page.removeScriptToEvaluateOnNewDocument", `{"identifier":"`+name+`"}`)
	}
	c.call(in, "Network.setExtraHTTPHeaders", big)
}

var _ endpoint.Edge = (*failingCast)(nil)
