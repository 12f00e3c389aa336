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
	edge.sink.Event("", "Target.attachedToTarget", []byte(`{"sessionId":"in","targetInfo":{"type":"iframe","url":"https://y.a.example/"}}`))
	edge.sink.Event("", "Target.attachedToTarget", []byte(`{"sessionId":"out","targetInfo":{"type":"iframe","url":"https://b.example/"}}`))
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

// held is an edge whose one tab counts what it is sent.
type held struct {
	endpoint.Edge
	endpoint.Sink
	endpoint.Wire
	sink endpoint.Sink
	sent int
}

func (h *held) Hold(_ context.Context, _ string, sink endpoint.Sink) (endpoint.Wire, error) {
	h.sink = sink
	return h, nil
}

func (h *held) Event(string, string, []byte) {}

func (h *held) Send(context.Context, string, string, []byte, func([]byte, error)) error {
	h.sent++
	return nil
}
