package e2e_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A server keeps a session and a browser ready by default; the other tests' servers do not, for speed. Whichever a session
// gets, it is a fresh one.
func TestSessionsThatWereKeptReadyAreFresh(t *testing.T) {
	t.Parallel()
	s := openSite(t)
	served := serve(t, "--no-spare-browsers=false", "--test-origin", s.origin, "--max-sessions", "8", "--sessions-per-project", "8")
	for _, policy := range []string{"read_only", "interactive"} {
		served.policy(policy)
		for range 3 {
			session := served.session("managed")
			opened := served.act(session, action{"action": "open", "url": s.URL + "/"})
			if opened.URL != s.URL+"/" || !strings.Contains(opened.Snapshot.Text, "Count") {
				t.Errorf("a session opens %s with %s", opened.URL, opened.Snapshot.Text)
			}
			served.ask(http.MethodDelete, "/sessions/"+session, nil, nil)
		}
	}
	served.stop()
	if left := processesThatName(t, served.data); len(left) > 0 {
		t.Errorf("after the server's end: %q", left)
	}
}

// processesThatName lists the command lines that name a folder.
func processesThatName(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*/cmdline")
	check(t, err)
	var lines []string
	for _, entry := range entries {
		if raw, err := os.ReadFile(entry); err == nil && strings.Contains(string(raw), dir) {
			lines = append(lines, strings.ReplaceAll(string(raw), "\x00", " "))
		}
	}
	return lines
}
