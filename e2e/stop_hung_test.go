package e2e_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stopPromise is how long a service manager has to wait for the server at most.
const stopPromise = 10 * time.Second

// freezeBrowsers stops every Chrome of the server, as one that hangs.
func (s *served) freezeBrowsers() {
	s.t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*/cmdline")
	check(s.t, err)
	frozen := 0
	for _, entry := range entries {
		raw, err := os.ReadFile(entry)
		line := string(raw)
		if err != nil || !strings.Contains(line, s.data) || !strings.Contains(line, "--remote-debugging-pipe") || strings.Contains(line, "--type=") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(entry)))
		check(s.t, err)
		check(s.t, syscall.Kill(pid, syscall.SIGSTOP))
		frozen++
	}
	if frozen == 0 {
		s.t.Fatal("no Chrome runs")
	}
}

// watch shows a session's pictures to nobody until the server ends the stream; it returns when the first has begun.
func (s *served) watch(session string) (ended <-chan struct{}) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.info.URL+"/api/v1/sessions/"+session+"/frames", nil)
	check(s.t, err)
	request.Header.Set("Authorization", "Bearer "+s.token())
	response, err := (&http.Client{}).Do(request) //nolint:bodyclose // closed when the stream has ended
	check(s.t, err)
	_, err = response.Body.Read(make([]byte, 1))
	check(s.t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}()
	return done
}

func TestAServerWhoseChromeHangsStopsInTimeAndWritesDownTheEnds(t *testing.T) {
	site := openSite(t)
	s := serve(t, "--test-origin", site.URL)
	sessions := []string{s.session("managed"), s.session("managed")}
	for _, session := range sessions {
		s.act(session, action{"action": "open", "url": site.URL + "/"})
	}
	watched := s.watch(sessions[0])
	s.freezeBrowsers()
	start := time.Now()
	s.stop()
	if took := time.Since(start); took > stopPromise {
		t.Errorf("the server stopped after %v", took)
	}
	<-watched
	if log := s.log.String(); strings.Contains(log, "database is closed") {
		t.Errorf("something was written too late:\n%s", log)
	}
	again := serveIn(t, s.data)
	for _, session := range sessions {
		var shown struct{ State, Reason string }
		again.ask(http.MethodGet, "/sessions/"+session, nil, &shown)
		if shown.State != "ended" || shown.Reason != "the server stopped" {
			t.Errorf("the session is %+v", shown)
		}
	}
}
