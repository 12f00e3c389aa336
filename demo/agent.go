package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"chaperone/server"
)

// Agent has nothing but a token and the HTTP API.
type Agent struct {
	url   string
	token string
}

// NewAgent finds the server of a data folder, as the command line does.
func NewAgent(data string) (*Agent, error) {
	info, err := server.ReadInfo(data)
	if err != nil {
		return nil, err
	}
	token, err := os.ReadFile(filepath.Join(data, server.TokenFile)) //nolint:gosec // the data folder is the caller's own
	if err != nil {
		return nil, err
	}
	return &Agent{url: info.URL, token: strings.TrimSpace(string(token))}, nil
}

// RefusedError is an answer with an error code.
type RefusedError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

func (r *RefusedError) Error() string { return r.Code + ": " + r.Message }

// Ask sends one request to /api/v1 and decodes the answer into one, when one is given.
func (a *Agent) Ask(ctx context.Context, method, path string, body, into any) error {
	var payload io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		payload = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, a.url+"/api/v1"+path, payload)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+a.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	return decode(response, into)
}

func decode(response *http.Response, into any) error {
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusBadRequest {
		var answer struct{ Error RefusedError }
		if err := json.Unmarshal(raw, &answer); err != nil || answer.Error.Code == "" {
			return fmt.Errorf("%s answered %s: %s", response.Request.URL.Path, response.Status, raw)
		}
		return &answer.Error
	}
	if into == nil || len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// Answer is what the story reads of an action's answer.
type Answer struct {
	URL      string
	Title    string
	Text     string
	Landed   *bool
	Snapshot *struct{ Text string }
	Ledger   struct{ Seq int64 }
	Opened   []struct{ ID string }
}

// Session opens a session on a backend.
func (a *Agent) Session(ctx context.Context, backend string) (string, error) {
	var made struct{ ID string }
	err := a.Ask(ctx, http.MethodPost, "/projects/default/sessions", map[string]any{"backend": backend, "label": "demo"}, &made)
	return made.ID, err
}

// Act runs one action in a session.
func (a *Agent) Act(ctx context.Context, session string, action map[string]any) (Answer, error) {
	var answer Answer
	err := a.Ask(ctx, http.MethodPost, "/sessions/"+session+"/actions", action, &answer)
	return answer, err
}

// RefOf finds the ref of the element that a snapshot's text shows with a role and a name.
func RefOf(snapshot, role, name string) (string, error) {
	for line := range strings.Lines(snapshot) {
		if !strings.Contains(line, fmt.Sprintf("- %s %q", role, name)) {
			continue
		}
		if _, rest, ok := strings.Cut(line, "[ref="); ok {
			ref, _, _ := strings.Cut(rest, "]")
			return ref, nil
		}
	}
	return "", fmt.Errorf("the snapshot shows no %s %q:\n%s", role, name, snapshot)
}
