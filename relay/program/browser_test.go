package program_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"chaperone/relay/program"
)

// browser plays a vector's calls: each must come in its target session's turn, and is answered as the vector says.
type browser struct {
	t        *testing.T
	executor *program.Executor
	attached bool

	mu    sync.Mutex // guards calls
	calls []exchange
}

// exchange is one CDP command and its answer.
type exchange struct {
	Call    string             `json:"call"`
	Child   string             `json:"child"`
	Params  json.RawMessage    `json:"params"`
	Before  []event            `json:"before"`
	Reply   json.RawMessage    `json:"reply"`
	Error   *program.CallError `json:"error"`
	Hang    bool               `json:"hang"`
	AfterMS int                `json:"after_ms"`

	// World and Run are short for the commands that install and call the page script.
	World   string          `json:"world"`
	Context int             `json:"context"`
	Run     string          `json:"run"`
	Handle  string          `json:"handle"`
	Args    json.RawMessage `json:"args"`
	Object  string          `json:"object"`
	Value   json.RawMessage `json:"value"`
	Failure json.RawMessage `json:"failure"`
	Hosts   bool            `json:"hosts"`
}

func newBrowser(t *testing.T, calls []json.RawMessage) *browser {
	t.Helper()
	b := &browser{t: t}
	for _, raw := range calls {
		var x exchange
		if err := json.Unmarshal(raw, &x); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		switch {
		case x.World != "":
			b.calls = append(b.calls, x.create(), x.install(t))
		case x.Run != "":
			b.calls = append(b.calls, x.invoke(t))
		default:
			b.calls = append(b.calls, x)
		}
	}
	return b
}

func (x exchange) create() exchange {
	context := max(x.Context, 1)
	return exchange{
		Call: "Page.createIsolatedWorld", Child: x.Child,
		Params: fmt.Appendf(nil, `{"frameId":%q,"worldName":"chaperone"}`, x.World),
		Reply:  fmt.Appendf(nil, `{"executionContextId":%d}`, context),
	}
}

func (x exchange) install(t *testing.T) exchange {
	t.Helper()
	params := map[string]any{"expression": pageScript + "\n;globalThis.chaperone", "contextId": max(x.Context, 1)}
	x.Call, x.Params = "Runtime.evaluate", mustMarshal(t, params)
	x.Reply = fmt.Appendf(nil, `{"result":{"type":"function","objectId":%q}}`, x.Handle)
	return x
}

func (x exchange) invoke(t *testing.T) exchange {
	t.Helper()
	argument := map[string]any{"objectId": x.Object}
	if x.Object == "" {
		argument = map[string]any{"value": orEmpty(x.Args)}
	}
	if x.Handle == "" {
		x.Handle = "H"
	}
	answer := map[string]any{}
	if x.Value != nil {
		answer["value"] = x.Value
	}
	if x.Failure != nil {
		answer["error"] = x.Failure
	}
	if x.Hosts {
		answer["hosts"] = true
	}
	x.Call = "Runtime.callFunctionOn"
	x.Params = mustMarshal(t, map[string]any{
		"objectId": x.Handle, "functionDeclaration": "function(n,a){return this(n,a)}",
		"arguments": []any{map[string]any{"value": x.Run}, argument}, "awaitPromise": true, "returnByValue": true,
	})
	x.Reply = mustMarshal(t, map[string]any{"result": map[string]any{"type": "string", "value": string(mustMarshal(t, answer))}})
	return x
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage(`{}`)
	}
	return raw
}

// Call makes browser a program.Target.
func (b *browser) Call(ctx context.Context, child, method string, params json.RawMessage) (json.RawMessage, error) {
	if !b.attached {
		return attaching(method), nil
	}
	x, ok := b.next(child)
	if !ok || x.Call != method || !isSameJSON(b.t, orEmpty(x.Params), orEmpty(params)) {
		b.t.Errorf("call %q %s %s, want %q %s %s", child, method, params, x.Child, x.Call, x.Params)
		return nil, &program.CallError{Message: "not in the vector"}
	}
	for _, event := range x.Before {
		b.executor.Deliver(event.Child, event.Method, event.Params)
	}
	var answer <-chan time.Time
	if !x.Hang {
		if x.AfterMS == 0 {
			return x.answer()
		}
		answer = time.After(time.Duration(x.AfterMS) * time.Millisecond)
	}
	select {
	case <-answer:
		return x.answer()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (x exchange) answer() (json.RawMessage, error) {
	if x.Error != nil {
		return nil, x.Error
	}
	return x.Reply, nil
}

func attaching(method string) json.RawMessage {
	if method == "Page.getFrameTree" {
		return json.RawMessage(`{"frameTree":{"frame":{"id":"F","url":"https://page.test/"}}}`)
	}
	return json.RawMessage(`{}`)
}

// next takes the call whose turn it is in a target session.
func (b *browser) next(child string) (exchange, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	turn := slices.IndexFunc(b.calls, func(x exchange) bool { return x.Child == child })
	if turn < 0 {
		return exchange{}, false
	}
	x := b.calls[turn]
	b.calls = slices.Delete(b.calls, turn, turn+1)
	return x, true
}

// finished fails the test where a call of the vector did not come.
func (b *browser) finished() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range b.calls {
		b.t.Errorf("%q %s %s did not come", x.Child, x.Call, x.Params)
	}
}
