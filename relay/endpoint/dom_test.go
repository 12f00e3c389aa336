package endpoint_test

import (
	"fmt"
	"testing"
)

func TestNodeIdsOfOneClientOutliveAnothersQuestion(t *testing.T) {
	e := newEdge("t1")
	asked := 0
	e.answer = func(s sent) (string, error, bool) {
		if s.method != "DOM.getDocument" {
			return "", nil, false
		}
		asked++
		return fmt.Sprintf(`{"root":{"nodeId":%d}}`, asked), nil, true
	}
	capability := grant(t, e)
	a, b := connect(t, capability.WS()), connect(t, capability.WS())
	inA, inB := a.attach("TARGETt1"), b.attach("TARGETt1")
	a.call(inA, "DOM.enable", "{}")
	b.call(inB, "DOM.enable", "{}")
	a.call(inA, "DOM.getDocument", "{}")
	e.hold("t1").event("", "DOM.setChildNodes", `{"parentId":1,"nodes":[]}`)
	e.hold("t1").event("", "DOM.childNodeInserted", `{"parentNodeId":1}`)
	a.await("the change", event("DOM.childNodeInserted"))
	n := b.count()
	if got := b.call(inB, "DOM.getDocument", "{}", "root", "nodeId"); got != "1" {
		t.Errorf("the second is answered node %s", got)
	}
	b.awaitAfter(n, "what came since", event("DOM.childNodeInserted"))
	if asked != 1 || len(a.all(event("DOM.documentUpdated"))) > 0 {
		t.Errorf("asked %d times", asked)
	}
	// One who wants the whole tree at once is given today's, and the others are told that theirs is void.
	b.call(inB, "DOM.getDocument", `{"depth":-1}`)
	a.await("node ids are void", eventIn(inA, "DOM.documentUpdated"))
	if asked != 2 || len(b.heardOf(inB, "DOM.documentUpdated")) > 0 {
		t.Errorf("asked %d times", asked)
	}
}
