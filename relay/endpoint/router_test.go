package endpoint_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAClientSeesItsTabsAndDrivesOne(t *testing.T) {
	e := newEdge("t1", "t2")
	c := connect(t, grant(t, e).WS())
	if got := c.call("", "Browser.getVersion", "{}", "product"); !strings.HasPrefix(got, "Chrome/") {
		t.Errorf("product is %q", got)
	}
	infos := c.call("", "Target.getTargets", "{}", "targetInfos")
	var targets []map[string]any
	if err := json.Unmarshal([]byte(infos), &targets); err != nil || len(targets) != 2 {
		t.Fatalf("targets: %s", infos)
	}
	if targets[0]["targetId"] != "TARGETt1" || targets[0]["attached"] != false || targets[0]["browserContextId"] == "" {
		t.Errorf("target is %v", targets[0])
	}
	session := c.attach("TARGETt1")
	c.call(session, "Page.navigate", `{"url":"https://a.example/"}`)
	if sent := e.down("Page.navigate"); len(sent) != 1 || sent[0].params != `{"url":"https://a.example/"}` {
		t.Errorf("went down: %v", sent)
	}
	if e.hold("t2") != nil {
		t.Error("a tab that nobody uses is held")
	}
	h := e.hold("t1")
	h.now(func() {
		h.sink.Event("", "Page.frameNavigated", []byte(`{"frame":{"id":"TARGETt1","loaderId":"L2"}}`))
	})
	c.call(session, "Page.enable", "{}")
	e.hold("t1").event("", "Page.loadEventFired", `{"timestamp":1}`)
	c.await("the load event", eventIn(session, "Page.loadEventFired"))
	if got := c.all(event("Page.frameNavigated")); len(got) > 0 {
		t.Error("an event came before its domain was enabled")
	}
	c.call("", "Target.detachFromTarget", `{"sessionId":"`+session+`"}`)
	e.await(t, "the tab is let go", func() bool { return e.hold("t1") == nil })
}
