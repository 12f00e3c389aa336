package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// isKnown reports whether the library has an answer to a method: what this server serves, and its lifecycle.
func isKnown(method string) bool {
	switch method {
	case "initialize", "ping", "tools/list", "tools/call", "server/discover",
		"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed":
		return true
	}
	return false
}

// unheard answers in JSON-RPC what the library would refuse in plain text: a body that is no message and a
// method that is none. It reports whether it did; else the request's body is as it was.
func unheard(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
	if err != nil || len(bytes.TrimSpace(body)) == 0 || bytes.TrimSpace(body)[0] == '[' {
		return false // the library has words for these
	}
	message, err := jsonrpc.DecodeMessage(body)
	if err != nil {
		misread(w, body)
		return true
	}
	asked, ok := message.(*jsonrpc.Request)
	if !ok || isKnown(asked.Method) {
		return false
	}
	if !asked.IsCall() {
		w.WriteHeader(http.StatusAccepted) // JSON-RPC 2.0, 4.1: nobody answers a notification
		return true
	}
	respond(w, http.StatusOK, asked.ID.Raw(), jsonrpc.CodeMethodNotFound, "there is no method "+asked.Method)
	return true
}

func misread(w http.ResponseWriter, body []byte) {
	if json.Valid(body) {
		respond(w, http.StatusBadRequest, nil, jsonrpc.CodeInvalidRequest, "the message is not a JSON-RPC 2.0 request")
		return
	}
	respond(w, http.StatusBadRequest, nil, jsonrpc.CodeParseError, "the message is not JSON")
}

// respond writes an error response; a nil id is null, as JSON-RPC has it where the request's cannot be read.
func respond(w http.ResponseWriter, status int, id any, code int, message string) {
	raw, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message},
	})
	if err != nil {
		raw = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the answer could not be written"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // whoever asked may have left
}

// failing is the end of a body: that of the one that was read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil || errors.Is(f.err, io.EOF) {
		return 0, io.EOF
	}
	return 0, f.err
}
