package e2e_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// signInSite knows a person by a cookie that script cannot see.
func signInSite(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/login" {
			http.SetCookie(w, &http.Cookie{Name: "who", Value: "me", MaxAge: 86_400, HttpOnly: true, Path: "/"})
		}
		who := "nobody"
		if c, err := r.Cookie("who"); err == nil {
			who = c.Value
		}
		_, _ = io.WriteString(w, "<title>"+r.URL.Path+"</title><h1>Hello, "+who+"</h1>")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestASignInOutlivesTheServer keeps a project's sign-in from session to session and from server to server, and forgets
// it with the project.
func TestASignInOutlivesTheServer(t *testing.T) {
	t.Parallel()
	site := signInSite(t)
	data, root := filepath.Join(folder(t), "data"), filepath.Join(folder(t), "kept")
	r := serveIn(t, data, "--test-origin", site, "--profile-root", root)
	wants(t, "the project", r.must("project", "set", "default", "--profile"), "managed, profile")
	session := strings.TrimSpace(r.must("session", "new", "--backend", "managed"))
	r.must("browse", "--session", session, "open", site+"/login")
	r.must("browse", "--session", session, "open", site+"/home")
	wants(t, "the page", r.must("browse", "--session", session, "text"), "Hello, me")
	r.act(session, action{"action": "tabs"})
	r.must("session", "close", session)

	r.stop()
	r = serveIn(t, data, "--test-origin", site, "--profile-root", root)
	session = r.session("managed")
	wants(t, "the tabs that came back", r.must("browse", "--session", session, "tabs"), site+"/home")
	wants(t, "the page that came back", r.must("browse", "--session", session, "text"), "Hello, me")
	refusal := r.run("project", "delete", "default")
	wants(t, "deleting without --yes", refusal.err, "removes its profile")
	if !exists(profileIn(t, root)) {
		t.Error("the profile is gone before its project is")
	}
	r.must("project", "delete", "default", "--yes")
	if left, err := filepath.Glob(filepath.Join(root, "*")); err != nil || len(left) != 0 {
		t.Errorf("left in the profile root: %v, %v", left, err)
	}
	if left := processesOf(root + "/"); len(left) != 0 {
		t.Errorf("processes are left on the profile: %v", left)
	}
}

// profileIn is the one profile that is kept beneath root.
func profileIn(t *testing.T, root string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "*", "p_*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("profiles: %v, %v", found, err)
	}
	if info, err := os.Stat(found[0]); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the profile's folder is %v, %v", info, err)
	}
	return found[0]
}
