package e2e_test

import (
	"bytes"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"chaperone/server"
)

func TestTheLinkAdmitsOnlyTheExtensionAtOurOwnHost(t *testing.T) {
	r := serve(t)
	own := "chrome-extension://" + server.ExtensionID
	for name, header := range map[string]http.Header{
		"without an Origin":       {},
		"from a page":             {"Origin": {r.info.URL}},
		"from another extension":  {"Origin": {"chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}},
		"with an extended origin": {"Origin": {own + ".example.com"}},
	} {
		if status := r.knock(&websocket.DialOptions{HTTPHeader: header}); status != http.StatusForbidden {
			t.Errorf("a socket %s is answered %d, want 403", name, status)
		}
	}
	foreign := &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {own}}, Host: "rebound.example.com"}
	if status := r.knock(foreign); status < http.StatusBadRequest {
		t.Errorf("a foreign Host is answered %d", status)
	}
	ours := &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {own}}}
	if status := r.knock(ours); status != http.StatusSwitchingProtocols {
		t.Errorf("the extension itself is answered %d", status)
	}
}

// knock asks for a link and says with which status it was answered.
func (s *served) knock(o *websocket.DialOptions) int {
	s.t.Helper()
	url := "ws" + strings.TrimPrefix(s.info.URL, "http") + "/api/browser/extension/connect"
	socket, response, err := websocket.Dial(s.t.Context(), url, o) //nolint:bodyclose // the library has read and closed it
	if err == nil {
		check(s.t, socket.CloseNow())
	}
	if response == nil {
		s.t.Fatalf("no answer: %v", err)
	}
	return response.StatusCode
}

func TestForeignHostsAndOriginsAreRefused(t *testing.T) {
	r := serve(t)
	for _, host := range []string{"example.com", "127.0.0.1.example.com", "[::ffff:127.0.0.1]:1", "0x7f000001", "localhost:1"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.info.URL+"/api/v1/me", nil)
		check(t, err)
		request.Host = host
		if status, _ := r.send(request); status < http.StatusBadRequest {
			t.Errorf("the Host %s was answered %d", host, status)
		}
	}
}

func TestBadInputGetsItsCodeAndLosesNothing(t *testing.T) {
	s := openSite(t)
	r := serve(t, "--test-origin", s.URL)
	session := r.session("managed")
	r.act(session, action{"action": "open", "url": s.URL + "/"})
	actions := "/api/v1/sessions/" + session + "/actions"
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		code               string
	}{
		"truncated JSON":        {"POST", actions, `{"action":"snap`, 400, "bad_request"},
		"an unknown field":      {"POST", actions, `{"action":"snapshot","colour":"red"}`, 400, "bad_request"},
		"an unknown action":     {"POST", actions, `{"action":"teleport"}`, 400, "bad_request"},
		"an unknown ref":        {"POST", actions, `{"action":"click","ref":"e9999"}`, 409, "stale_ref"},
		"a ref that is none":    {"POST", actions, `{"action":"click","ref":"nonsense"}`, 400, "bad_request"},
		"an unknown session":    {"POST", "/api/v1/sessions/s_nope/actions", `{"action":"snapshot"}`, 404, "not_found"},
		"an unknown project":    {"GET", "/api/v1/projects/nope", "", 404, "not_found"},
		"an unknown route":      {"GET", "/api/v1/nope", "", 404, "not_found"},
		"an oversized body":     {"POST", actions, `{"action":"` + strings.Repeat("x", 17<<20) + `"}`, 413, "too_large"},
		"an unknown backend":    {"POST", "/api/v1/projects/default/sessions", `{"backend":"moon"}`, 400, "bad_request"},
		"a closed tab":          {"POST", actions, `{"action":"snapshot","tab":"t77"}`, 410, "tab_closed"},
		"a policy that is none": {"PATCH", "/api/v1/projects/default", `{"policy":"anything"}`, 400, "bad_request"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, r.info.URL+c.path, bytes.NewBufferString(c.body))
		check(t, err)
		request.Header.Set("Content-Type", "application/json")
		if status, body := r.send(request); status != c.status || !strings.Contains(body, `"code":"`+c.code+`"`) {
			t.Errorf("%s: answered %d %s, want %d %s", name, status, body, c.status, c.code)
		}
	}
	if r.act(session, action{"action": "snapshot"}).Title != "Start" {
		t.Error("the session lost its page")
	}
}

func TestEveryListenerIsOnLoopbackOnly(t *testing.T) {
	r := serve(t)
	host, _, err := net.SplitHostPort(strings.TrimPrefix(r.info.URL, "http://"))
	check(t, err)
	if !net.ParseIP(host).IsLoopback() {
		t.Errorf("the server listens at %s", r.info.URL)
	}
}
