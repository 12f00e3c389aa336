package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"chaperone/server/fault"
)

// mostMessage bounds one message of the server, in bytes: a screenshot is the largest.
const mostMessage = 64 << 20

// leaveWait bounds the end of a conversation, in which the server closes its browser.
const leaveWait = 20 * time.Second

// Codes of JSON-RPC 2.0, 5.1.
const (
	invalidRequest = -32600
	internalError  = -32603
)

// bridge posts an agent's messages to the server's streamable HTTP (MCP 2025-11-25, Transports), each when the
// one before has been taken, and prints what comes back, a line a message. It judges no message: the server does.
type bridge struct {
	client *client
	path   string
	fail   context.CancelCauseFunc // ends the conversation

	session string // what the answer to the first message says; set before the second is sent

	answers sync.WaitGroup // being read
	heardMu sync.Mutex
	version string // of the protocol; empty until the server says it
	out     io.Writer
}

// carry sends what comes until there is no more or the conversation has ended.
func (b *bridge) carry(ctx context.Context, lines <-chan []byte) error {
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				return nil
			}
			if err := b.send(ctx, line); err != nil {
				b.complain(line, internalError, fault.Of(err).Message)
				b.fail(err)
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// send posts one message. Its answer is read meanwhile, but for the first: the next needs what it says.
func (b *bridge) send(ctx context.Context, line []byte) error {
	response, err := b.client.exchange(ctx, http.MethodPost, b.path, b.header(), line)
	if err != nil {
		return err
	}
	if b.session == "" {
		b.session = response.Header.Get("Mcp-Session-Id")
		return b.receive(ctx, response, line)
	}
	b.answers.Go(func() {
		if err := b.receive(ctx, response, line); err != nil {
			b.complain(line, internalError, fault.Of(err).Message)
			b.fail(err)
		}
	})
	return nil
}

func (b *bridge) header() http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if b.session != "" {
		h.Set("Mcp-Session-Id", b.session)
	}
	b.heardMu.Lock()
	defer b.heardMu.Unlock()
	if b.version != "" {
		h.Set("Mcp-Protocol-Version", b.version)
	}
	return h
}

// receive prints what the server answers to a message and closes the answer. An error ends the conversation.
func (b *bridge) receive(ctx context.Context, response *http.Response, line []byte) error {
	defer func() { _ = response.Body.Close() }()
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		return b.stream(ctx, response.Body)
	}
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return b.client.unreachable(ctx, err)
	}
	switch {
	case isMessage(raw):
		b.print(raw)
	case response.StatusCode < http.StatusMultipleChoices:
	case response.StatusCode == http.StatusNotFound:
		return fault.New(fault.NotConnected, "the server does not know this conversation any more", "It was started again: start chaperone mcp again too.")
	case response.StatusCode == http.StatusBadRequest, response.StatusCode == http.StatusRequestEntityTooLarge:
		b.complain(line, invalidRequest, strings.TrimSpace(string(raw)))
	default:
		return refused(response, raw)
	}
	return nil
}

// stream prints the messages of server-sent events (WHATWG HTML, 9.2); the server writes each on one line.
func (b *bridge) stream(ctx context.Context, body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, mostMessage)
	for lines.Scan() {
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:")); ok && len(bytes.TrimSpace(data)) > 0 {
			b.print(data)
		}
	}
	if err := lines.Err(); err != nil {
		return b.client.unreachable(ctx, err)
	}
	return nil
}

func isMessage(raw []byte) bool {
	var message struct {
		Version string `json:"jsonrpc"`
	}
	return json.Unmarshal(raw, &message) == nil && message.Version != ""
}

func (b *bridge) print(message []byte) {
	b.heardMu.Lock()
	defer b.heardMu.Unlock()
	if b.version == "" {
		b.version = versionIn(message)
	}
	_, _ = fmt.Fprintf(b.out, "%s\n", bytes.TrimSpace(message))
}

// versionIn is the protocol's version that an answer to initialize settles; empty in any other message.
func versionIn(message []byte) string {
	var first struct {
		Result struct {
			Version string `json:"protocolVersion"`
		} `json:"result"`
	}
	_ = json.Unmarshal(message, &first) // a result of another shape says no version
	return first.Result.Version
}

// complain answers a call that the server did not; a notification has no answer.
func (b *bridge) complain(line []byte, code int, why string) {
	var asked struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &asked) != nil || len(asked.ID) == 0 {
		return
	}
	raw, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": asked.ID, "error": map[string]any{"code": code, "message": why},
	})
	if err == nil {
		b.print(raw)
	}
}

// leave tells the server that the conversation is over, so that its browser closes now.
func (b *bridge) leave(ctx context.Context) {
	if b.session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, leaveWait)
	defer cancel()
	if response, err := b.client.exchange(ctx, http.MethodDelete, b.path, b.header(), nil); err == nil {
		_ = response.Body.Close()
	}
}
