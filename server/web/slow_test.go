package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestABodyThatDoesNotComeHoldsNoConnection needs no token: whoever reaches the port can send half a body.
func TestABodyThatDoesNotComeHoldsNoConnection(t *testing.T) {
	h := open(t)
	address := strings.TrimPrefix(h.url, "http://")
	var dialer net.Dialer
	c, err := dialer.DialContext(t.Context(), "tcp", address)
	check(t, err)
	defer func() { _ = c.Close() }()
	_, err = fmt.Fprintf(c, "POST /api/v1/auth/login HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"code\":", address)
	check(t, err)
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	check(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	check(t, err)
	if response.StatusCode != http.StatusGatewayTimeout || !strings.Contains(string(body), "did not come in time") {
		t.Errorf("half a body is answered %s %s", response.Status, body)
	}
}
