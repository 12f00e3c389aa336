package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"chaperone/server/account"
	"chaperone/server/mcp"
	"chaperone/server/project"
)

// TestWhatIsNoMessageIsAnsweredInJSONRPC sends what a client that gets it wrong sends, and its neighbours.
func TestWhatIsNoMessageIsAnsweredInJSONRPC(t *testing.T) {
	handler := mcp.New(mcp.Options{Projects: &rooms{policy: project.ReadOnly}, Sessions: &rooms{}, Version: "test"})
	t.Cleanup(func() {
		if err := handler.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	actor := account.Actor{Account: "a_1", Kind: account.Token, TokenID: "t_1", Role: account.Control}
	for name, test := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"a method that is none":       {`{"jsonrpc":"2.0","id":7,"method":"nope"}`, 200, `"code":-32601,"message":"there is no method nope"},"id":7`},
		"an id that is a text":        {`{"jsonrpc":"2.0","id":"a","method":"resources/list"}`, 200, `"id":"a"`},
		"no JSON":                     {`hello`, 400, `"code":-32700,"message":"the message is not JSON"},"id":null`},
		"JSON cut short":              {`{"jsonrpc":"2.0","id":7,`, 400, `"code":-32700`},
		"JSON that is no message":     {`{"hello":1}`, 400, `"code":-32600`},
		"a notification of our own":   {`{"jsonrpc":"2.0","method":"notifications/of/tomorrow"}`, 202, ``},
		"a message of the protocol's": {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`, 200, `"serverInfo"`},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(test.body))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		request.Header.Set("Authorization", "Bearer chp_test")
		answer := httptest.NewRecorder()
		handler.ServeActor(answer, request, actor)
		if got := answer.Body.String(); answer.Code != test.status || !strings.Contains(got, test.says) {
			t.Errorf("%s: answered %d %s", name, answer.Code, got)
		}
	}
}
