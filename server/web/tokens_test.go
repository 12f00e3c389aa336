package web_test

import (
	"io"
	"net/http"
	"testing"
	"time"
)

func TestARevokedTokensStreamEndsAtOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.session()
	var made struct{ ID, Token string }
	h.must(wish{method: "POST", path: "/api/v1/tokens", body: `{"name":"agent","project":"default","role":"observe"}`}, &made)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/api/v1/sessions/"+id+"/events", nil)
	check(t, err)
	request.Header.Set("Authorization", "Bearer "+made.Token)
	response, err := h.client.Do(request)
	check(t, err)
	defer func() { _ = response.Body.Close() }()
	revoked := time.Now()
	h.must(wish{method: "DELETE", path: "/api/v1/tokens/" + made.ID}, nil)
	_, err = io.Copy(io.Discard, response.Body)
	check(t, err)
	if took := time.Since(revoked); took > 7*time.Second {
		t.Errorf("it went on for %v", took)
	}
}
