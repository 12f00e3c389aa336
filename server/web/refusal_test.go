package web_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"chaperone/server/fault"
	"chaperone/server/web"
)

func TestEveryRefusalHasOneShape(t *testing.T) {
	t.Parallel()
	h := open(t)
	session := h.session()
	actions := "/api/v1/sessions/" + session + "/actions"
	for name, c := range map[string]struct {
		wish   wish
		status int
		code   string
		says   string
	}{
		"no bearer":                {wish{method: "GET", path: "/api/v1/me", bearer: "none"}, 401, "unauthorised", ""},
		"a bearer that is none":    {wish{method: "GET", path: "/api/v1/me", bearer: "chp_nonsense"}, 401, "unauthorised", ""},
		"another scheme":           {wish{method: "GET", path: "/api/v1/me", bearer: "none", header: map[string]string{"Authorization": "Basic x"}}, 401, "unauthorised", ""},
		"metrics without bearer":   {wish{method: "GET", path: "/metrics", bearer: "none"}, 401, "unauthorised", ""},
		"an unknown address":       {wish{method: "GET", path: "/api/v1/nope"}, 404, "not_found", ""},
		"an unknown file":          {wish{method: "GET", path: "/nope.js"}, 404, "not_found", ""},
		"a method that is none":    {wish{method: "PUT", path: "/api/v1/projects"}, 405, "bad_request", "PUT"},
		"an empty body":            {wish{method: "POST", path: "/api/v1/projects"}, 400, "bad_request", "empty"},
		"a body cut short":         {wish{method: "POST", path: "/api/v1/projects", body: `{"name":"a`}, 400, "bad_request", "not JSON"},
		"a body that is no JSON":   {wish{method: "POST", path: "/api/v1/projects", body: `name=a`}, 400, "bad_request", "not JSON"},
		"an unknown field":         {wish{method: "POST", path: "/api/v1/projects", body: `{"colour":"red"}`}, 400, "bad_request", "colour"},
		"a field of another kind":  {wish{method: "POST", path: "/api/v1/projects", body: `{"name":7}`}, 400, "bad_request", "name"},
		"two objects":              {wish{method: "POST", path: "/api/v1/projects", body: `{"name":"a"}{}`}, 400, "bad_request", "after"},
		"a body too large":         {wish{method: "POST", path: "/api/v1/projects", body: `{"name":"` + strings.Repeat("x", 16<<20) + `"}`}, 413, "too_large", "1048576"},
		"an action too large":      {wish{method: "POST", path: actions, body: `{"action":"` + strings.Repeat("x", 16<<20) + `"}`}, 413, "too_large", ""},
		"an unknown action":        {wish{method: "POST", path: actions, body: `{"action":"teleport"}`}, 400, "bad_request", "teleport"},
		"a read-only refusal":      {wish{method: "POST", path: actions, body: `{"action":"type","text":"x"}`}, 403, "read_only_refused", ""},
		"a tab that is gone":       {wish{method: "POST", path: actions, body: `{"action":"snapshot"}`}, 410, "tab_closed", ""},
		"an unknown session":       {wish{method: "GET", path: "/api/v1/sessions/s_nope"}, 404, "not_found", ""},
		"an unknown project":       {wish{method: "GET", path: "/api/v1/projects/nope"}, 404, "not_found", "there is no project \\\"nope\\\""},
		"sessions of no project":   {wish{method: "GET", path: "/api/v1/projects/nope/sessions"}, 404, "not_found", "nope"},
		"a session of no project":  {wish{method: "POST", path: "/api/v1/projects/nope/sessions", body: `{}`}, 404, "not_found", "nope"},
		"a change of no project":   {wish{method: "PATCH", path: "/api/v1/projects/nope", body: `{"name":"a"}`}, 404, "not_found", "nope"},
		"a token for no project":   {wish{method: "POST", path: "/api/v1/tokens", body: `{"name":"a","project":"nope","role":"observe"}`}, 404, "not_found", "nope"},
		"the ledger of no project": {wish{method: "GET", path: "/api/v1/ledger?project=nope"}, 404, "not_found", "nope"},
		"a kind that is none":      {wish{method: "GET", path: "/api/v1/ledger?kind=nope"}, 400, "bad_request", "nope"},
		"a token that is none":     {wish{method: "DELETE", path: "/api/v1/tokens/k_nope"}, 404, "not_found", ""},
		"a limit that is none":     {wish{method: "GET", path: "/api/v1/ledger?limit=many"}, 400, "bad_request", "limit"},
		"a time that is none":      {wish{method: "GET", path: "/api/v1/ledger?since=today"}, 400, "bad_request", "since"},
		"an event id that is none": {wish{method: "GET", path: "/api/v1/projects/default/events", header: map[string]string{"Last-Event-ID": "x"}}, 400, "bad_request", "Last-Event-ID"},
		"a browser moved over":     {wish{method: "POST", path: "/api/v1/projects/default/pairing/connect"}, 503, "unavailable", ""},
		"a token for ever":         {wish{method: "POST", path: "/api/v1/tokens", body: `{"name":"a","project":"default","role":"observe","expires_s":99999999999}`}, 400, "bad_request", "expires_s"},
	} {
		got := h.ask(c.wish)
		if got.status != c.status || got.code() != c.code || !strings.Contains(got.body, c.says) {
			t.Errorf("%s: answered %d %s, want %d %s", name, got.status, got.body, c.status, c.code)
		}
	}
}

func TestWhatIsAnothersAnswersAsWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.must(wish{method: "POST", path: "/api/v1/projects", body: `{"name":"other"}`}, nil)
	var bound struct{ Token, ID string }
	h.must(wish{method: "POST", path: "/api/v1/tokens", body: `{"name":"a","project":"other","role":"control"}`}, &bound)
	session := h.session()
	if got := h.ask(wish{method: "GET", path: "/api/v1/sessions/" + session, bearer: bound.Token}); got.status != 404 {
		t.Errorf("another project's session: %d %s", got.status, got.body)
	}
	there := h.ask(wish{method: "GET", path: "/api/v1/projects/default", bearer: bound.Token})
	nowhere := h.ask(wish{method: "GET", path: "/api/v1/projects/nowhere", bearer: bound.Token})
	if there.status != 404 || strings.ReplaceAll(there.body, "default", "nowhere") != nowhere.body {
		t.Errorf("another project: %s; no project: %s", there.body, nowhere.body)
	}
	if got := h.ask(wish{method: "GET", path: "/api/v1/ledger/verify", bearer: bound.Token}); got.status != 403 {
		t.Errorf("a project's token verifies the account: %d", got.status)
	}
	h.must(wish{method: "DELETE", path: "/api/v1/tokens/" + bound.ID}, nil)
	h.must(wish{method: "DELETE", path: "/api/v1/tokens/" + bound.ID}, nil)
	if got := h.ask(wish{method: "GET", path: "/api/v1/me", bearer: bound.Token}); got.status != 401 {
		t.Errorf("a revoked token: %d %s", got.status, got.body)
	}
}

func TestATokenCannotEndItself(t *testing.T) {
	t.Parallel()
	h := open(t)
	var me struct{ Token string }
	h.must(wish{method: "GET", path: "/api/v1/me"}, &me)
	got := h.ask(wish{method: "DELETE", path: "/api/v1/tokens/" + me.Token})
	if me.Token == "" || got.status != 403 || !strings.Contains(got.body, "the token you are using") {
		t.Errorf("the token %q: answered %d %s", me.Token, got.status, got.body)
	}
	h.must(wish{method: "GET", path: "/api/v1/me"}, nil)
}

// TestEveryCodeHasAStatus reads the codes where they are written.
func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../fault/fault.go", nil, 0)
	check(t, err)
	codes := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		code, err := strconv.Unquote(literal.Value)
		check(t, err)
		codes++
		if status, known := web.StatusOf(fault.Code(code)); !known || status < 400 {
			t.Errorf("%s answers %d", code, status)
		}
		return true
	})
	if codes < 30 {
		t.Errorf("only %d codes were found", codes)
	}
}

// FuzzRequests holds the face to its promise: whatever is sent, the answer is ours, in our shape, and no fault of ours.
func FuzzRequests(f *testing.F) {
	for _, seed := range []string{`{}`, `{"name":"a"}`, `{"name":"\u0000"}`, `[]`, `{"allow_domains":["*.a.example"]}`, `{"policy":"interactive","name":"x"}`} {
		f.Add("/api/v1/projects", seed)
		f.Add("/api/v1/auth/login", seed)
		f.Add("/api/v1/tokens", seed)
	}
	var h *house
	f.Fuzz(func(t *testing.T, path, body string) {
		if h == nil || h.t != t {
			h = open(t)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		check(t, err)
		request.URL.Path, request.Host = path, strings.TrimPrefix(h.url, "http://")
		request.Header.Set("Authorization", "Bearer "+h.token)
		w := httptest.NewRecorder()
		h.handler.ServeHTTP(w, request)
		var shape struct {
			Error struct{ Code string } `json:"error"`
		}
		if w.Code == http.StatusInternalServerError {
			t.Errorf("POST %q %q answered %d %s", path, body, w.Code, w.Body)
		}
		if w.Code >= http.StatusBadRequest && (json.Unmarshal(w.Body.Bytes(), &shape) != nil || shape.Error.Code == "") {
			t.Errorf("POST %q %q was refused with %s", path, body, w.Body)
		}
	})
}
