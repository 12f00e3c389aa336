package session_test

import (
	"context"
	"errors"
	"testing"

	"chaperone/relay/endpoint"
	"chaperone/relay/program"
	"chaperone/server/session"
)

func TestClientsStayWithinTheSessionsDomains(t *testing.T) {
	r := open(t, session.Limits{})
	r.expose(t, r.interactive(t, session.Spec{AllowDomains: []string{"*.a.example"}}).ID)
	b := r.backend.newest()
	b.tabs = []program.Tab{{ID: "t1", URL: "https://x.a.example/"}}
	edge := &held{}
	b.Edge = edge
	wire, err := r.endpoint.newest().Edge.Hold(t.Context(), "t1", edge)
	if err != nil {
		t.Fatal(err)
	}
	edge.sink.Event("", "Target.attachedToTarget", []byte(`{"sessionId":"in","targetInfo":{"targetId":"F1","type":"iframe","url":"https://y.a.example/"}}`))
	edge.sink.Event("", "Target.attachedToTarget", []byte(`{"sessionId":"out","targetInfo":{"targetId":"F2","type":"iframe","url":"https://b.example/"}}`))
	for _, c := range []struct {
		url, child, method, params string
		passes                     bool
	}{
		{"https://x.a.example/", "", "Page.navigate", `{"url":"https://a.example/"}`, true},
		{"https://x.a.example/", "", "Page.navigate", `{"url":"https://b.example/"}`, false},
		{"https://x.a.example/", "", "Page.navigate", `{"url":"https://a.example.b.example/"}`, false},
		{"https://x.a.example/", "", "Page.navigate", `{}`, false},
		{"https://x.a.example/", "", "Runtime.evaluate", `{}`, true},
		{"https://x.a.example/", "in", "Runtime.evaluate", `{}`, true},
		{"https://x.a.example/", "out", "Runtime.evaluate", `{}`, false},
		{"https://x.a.example/", "out", "Runtime.enable", `{}`, true},
		{"https://b.example/", "", "Runtime.evaluate", `{}`, false},
		{"https://b.example/", "", "Page.captureScreenshot", `{}`, false},
		{"https://b.example/", "", "Page.navigate", `{"url":"https://a.example/"}`, true},
		{"about:blank", "", "Runtime.evaluate", `{}`, true},
	} {
		b.tabs[0].URL = c.url
		edge.sent = 0
		err := wire.Send(t.Context(), c.child, c.method, []byte(c.params), func([]byte, error) {})
		var refusal *program.CallError
		if passed := err == nil && edge.sent == 1; passed != c.passes || !passed && !errors.As(err, &refusal) {
			t.Errorf("%s %s at %s %s: %v", c.method, c.params, c.url, c.child, err)
		}
	}
}

// A frame of its own process is attached before it has an address, and workers have none that says whose they are.
func TestFencedChildrenStandOutsideUntilItIsKnownWhere(t *testing.T) {
	r := open(t, session.Limits{})
	r.expose(t, r.interactive(t, session.Spec{AllowDomains: []string{"a.example"}}).ID)
	b := r.backend.newest()
	b.tabs = []program.Tab{{ID: "t1", URL: "https://a.example/"}}
	edge := &held{}
	b.Edge = edge
	wire, err := r.endpoint.newest().Edge.Hold(t.Context(), "t1", edge)
	if err != nil {
		t.Fatal(err)
	}
	attached := func(parent, child, kind, url string) {
		edge.sink.Event(parent, "Target.attachedToTarget",
			[]byte(`{"sessionId":"`+child+`","targetInfo":{"targetId":"F`+child+`","type":"`+kind+`","url":"`+url+`"}}`))
	}
	went := func(child, frame, url, origin string) {
		edge.sink.Event(child, "Page.frameNavigated",
			[]byte(`{"frame":{"id":"`+frame+`","url":"`+url+`","securityOrigin":"`+origin+`"}}`))
	}
	told := func(child, url string) {
		edge.answer = `{"frameTree":{"frame":{"id":"F` + child + `","url":"` + url + `"}}}`
		_ = wire.Send(t.Context(), child, "Page.getFrameTree", nil, func([]byte, error) {})
	}
	for _, c := range []struct {
		what, child string
		happens     func()
		passes      bool
	}{
		{"a child that nobody announced", "unknown", func() {}, false},
		{"a frame without an address", "1", func() { attached("", "1", "iframe", "") }, false},
		{"a frame that is blank", "2", func() { attached("", "2", "iframe", "about:blank") }, false},
		{"a frame that says it goes outside", "1", func() { went("1", "F1", "https://b.example/", "https://b.example") }, false},
		{"a blank frame inside one that stands outside", "1", func() { went("1", "Finner", "about:blank", "https://a.example") }, false},
		{"a frame that goes blank outside", "1", func() { went("1", "F1", "about:blank", "https://b.example") }, false},
		{"a frame that goes blank, and whose origin nobody tells", "1", func() { went("1", "F1", "about:blank", "") }, false},
		{"a frame that comes in", "1", func() { went("1", "F1", "https://a.example/in", "https://a.example") }, true},
		{"a frame that goes blank inside", "1", func() { went("1", "F1", "about:blank", "https://a.example") }, true},
		{"a frame whose tree says that it is inside", "2", func() { told("2", "https://a.example/") }, true},
		{"a frame whose tree says that it is outside", "2", func() { told("2", "https://b.example/") }, false},
		{"a worker of the page", "3", func() { attached("", "3", "worker", "https://a.example/w.js") }, true},
		{"a worker of a frame outside", "4", func() { attached("2", "4", "worker", "https://a.example/w.js") }, false},
		{"a worker of that worker", "5", func() { attached("4", "5", "worker", "") }, false},
		{"a child that is gone", "3", func() {
			edge.sink.Event("", "Target.detachedFromTarget", []byte(`{"sessionId":"3"}`))
		}, false},
	} {
		c.happens()
		edge.sent = 0
		_ = wire.Send(t.Context(), c.child, "Runtime.evaluate", nil, func([]byte, error) {})
		if passed := edge.sent == 1; passed != c.passes {
			t.Errorf("%s: may be driven: %t", c.what, passed)
		}
	}
}

// held is an edge whose one tab counts what it is sent.
type held struct {
	endpoint.Edge
	endpoint.Sink
	endpoint.Wire
	sink   endpoint.Sink
	sent   int
	answer string
}

func (h *held) Hold(_ context.Context, _ string, sink endpoint.Sink) (endpoint.Wire, error) {
	h.sink = sink
	return h, nil
}

func (h *held) Event(string, string, []byte) bool { return true }

func (h *held) Send(_ context.Context, _, _ string, _ []byte, reply func([]byte, error)) error {
	h.sent++
	reply([]byte(h.answer), nil)
	return nil
}
