package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// cookie is the refresh cookie that an answer set, as a request sends it.
func cookie(r reply) string {
	value, _, _ := strings.Cut(r.header.Get("Set-Cookie"), ";")
	return value
}

func (h *house) login() (access string, first reply) {
	h.t.Helper()
	me, err := h.accounts.EnsureDefault(h.t.Context())
	check(h.t, err)
	code, err := h.accounts.LoginCode(h.t.Context(), me.ID)
	check(h.t, err)
	first = h.ask(wish{method: "POST", path: "/api/v1/auth/login", bearer: "none", body: `{"code":"` + code + `"}`, header: map[string]string{"Origin": h.url}})
	if first.status != http.StatusOK {
		h.t.Fatalf("login answered %d %s", first.status, first.body)
	}
	if again := h.ask(wish{method: "POST", path: "/api/v1/auth/login", bearer: "none", body: `{"code":"` + code + `"}`}); again.status != http.StatusUnauthorized {
		h.t.Errorf("the code worked twice: %d %s", again.status, again.body)
	}
	return field(h.t, first.body, "access_token"), first
}

func TestALinkLogsInOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	var link struct {
		URL     string
		Expires time.Time `json:"expires_at"`
	}
	h.must(wish{method: "POST", path: "/api/v1/auth/link"}, &link)
	code, ok := strings.CutPrefix(link.URL, h.url+"/#code=")
	if left := time.Until(link.Expires); !ok || left < 9*time.Minute || left > 10*time.Minute {
		t.Errorf("the link is %+v", link)
	}
	login := wish{method: "POST", path: "/api/v1/auth/login", bearer: "none", body: `{"code":"` + code + `"}`}
	h.must(login, nil)
	if again := h.ask(login); again.status != http.StatusUnauthorized || !strings.Contains(again.body, "already used or has expired") {
		t.Errorf("the link worked twice: %d %s", again.status, again.body)
	}
	var bound struct{ Token string }
	h.must(wish{method: "POST", path: "/api/v1/tokens", body: `{"name":"a","project":"default","role":"control"}`}, &bound)
	for _, bearer := range []string{"none", bound.Token} {
		if got := h.ask(wish{method: "POST", path: "/api/v1/auth/link", bearer: bearer}); got.status < 400 || strings.Contains(got.body, "#code=") {
			t.Errorf("a link for %s: %d %s", bearer, got.status, got.body)
		}
	}
	var rows struct {
		Items []struct{ Method, Peer string }
	}
	h.must(wish{method: "GET", path: "/api/v1/ledger?kind=access"}, &rows)
	if !slices.ContainsFunc(rows.Items, func(r struct{ Method, Peer string }) bool { return r.Method == "login.link" && r.Peer != "" }) {
		t.Errorf("the ledger says %+v", rows.Items)
	}
}

func TestALoginLastsByItsCookie(t *testing.T) {
	t.Parallel()
	h := open(t)
	access, first := h.login()
	set := first.header.Get("Set-Cookie")
	for _, want := range []string{"__Host-chaperone=", "Path=/", "HttpOnly", "Secure", "SameSite=Strict"} {
		if !strings.Contains(set, want) {
			t.Errorf("the cookie %q lacks %s", set, want)
		}
	}
	if strings.Contains(first.body, strings.TrimPrefix(cookie(first), "__Host-chaperone=")) {
		t.Error("the answer shows the refresh token to the page")
	}
	if got := h.ask(wish{method: "GET", path: "/api/v1/me", bearer: access}); got.status != 200 || field(t, got.body, "kind") != "person" {
		t.Errorf("me answered %d %s", got.status, got.body)
	}
	refresh := func(c, origin string) reply {
		return h.ask(wish{method: "POST", path: "/api/v1/auth/refresh", bearer: "none", header: map[string]string{"Cookie": c, "Origin": origin}})
	}
	if got := h.ask(wish{method: "POST", path: "/api/v1/auth/refresh", bearer: "none", header: map[string]string{"Cookie": cookie(first)}}); got.code() != "forbidden" {
		t.Errorf("a cookie from no page of ours: %d %s", got.status, got.body)
	}
	second := refresh(cookie(first), h.url)
	if second.status != 200 || cookie(second) == cookie(first) {
		t.Fatalf("refresh answered %d with the cookie %q", second.status, cookie(second))
	}
	h.must(wish{method: "POST", path: "/api/v1/auth/logout", bearer: "none", header: map[string]string{"Cookie": cookie(second), "Origin": h.url}}, nil)
	gone := refresh(cookie(second), h.url)
	if gone.status != http.StatusUnauthorized || !strings.HasPrefix(gone.header.Get("Set-Cookie"), "__Host-chaperone=;") {
		t.Errorf("after logout refresh answered %d and set %q", gone.status, gone.header.Get("Set-Cookie"))
	}
}
