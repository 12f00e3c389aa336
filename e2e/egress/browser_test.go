package egress_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"chaperone/demo"
	"chaperone/server"
)

// served is a running server of the product, whose managed browsers go out through egress.
type served struct {
	t       *testing.T
	data    string
	agent   *demo.Agent
	session string
}

func serve(t *testing.T) *served {
	t.Helper()
	dir, err := os.MkdirTemp("", "egr-") //nolint:usetesting // t.TempDir names the test, and that is too long for sockets
	check(t, err)
	log, data := &buffer{}, filepath.Join(dir, "data")
	cmd := exec.Command(os.Getenv(binaryKey), "serve", "--addr", "127.0.0.1:0", "--data", data) //nolint:noctx // it is told to stop
	cmd.Stdout, cmd.Stderr = log, log
	check(t, cmd.Start())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		if code := cmd.ProcessState.ExitCode(); code != 0 || strings.Contains(log.String(), "DATA RACE") {
			t.Errorf("the server ended with %d\n%s", code, log)
		}
		check(t, os.RemoveAll(dir))
	})
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		if _, err := server.ReadInfo(data); err == nil {
			break
		}
		select {
		case <-ended:
			t.Fatalf("the server did not start\n%s", log)
		case <-ticker.C:
		}
	}
	s := &served{t: t, data: data}
	s.agent, err = demo.NewAgent(data)
	check(t, err)
	s.session, err = s.agent.Session(t.Context(), "managed")
	check(t, err)
	return s
}

func (s *served) open(address string) (demo.Answer, *demo.RefusedError) {
	s.t.Helper()
	answer, err := s.agent.Act(s.t.Context(), s.session, map[string]any{"action": "open", "url": address})
	refused, isRefused := errors.AsType[*demo.RefusedError](err)
	if err != nil && !isRefused {
		s.t.Fatalf("%s: %v", address, err)
	}
	return answer, refused
}

// happened is an event's kind and fields.
type happened struct {
	kind, fields string
}

// end closes the session and gives all of its events.
func (s *served) end() []happened {
	s.t.Helper()
	check(s.t, s.agent.Ask(s.t.Context(), http.MethodDelete, "/sessions/"+s.session, nil, nil))
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	info, err := server.ReadInfo(s.data)
	check(s.t, err)
	token, err := os.ReadFile(filepath.Join(s.data, server.TokenFile))
	check(s.t, err)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, info.URL+"/api/v1/sessions/"+s.session+"/events", http.NoBody)
	check(s.t, err)
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	response, err := (&http.Client{}).Do(request)
	check(s.t, err)
	defer func() { _ = response.Body.Close() }()
	var all []happened
	kind := ""
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		line := lines.Text()
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			kind = name
		}
		if fields, ok := strings.CutPrefix(line, "data: "); ok {
			all = append(all, happened{kind, fields})
			if kind == "session.closed" {
				return all
			}
		}
	}
	s.t.Fatalf("the events end before the session does: %v", all)
	return nil
}

// pageOrRedirect leads on where the query says.
func pageOrRedirect(w http.ResponseWriter, r *http.Request) {
	if to := r.URL.Query().Get("to"); to != "" {
		http.Redirect(w, r, to, http.StatusFound)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	say(w, "<title>good</title>")
}

// TestAnAgentReadsThatAndWhyAnAddressIsRefused: in the clear and in a tunnel, by the address and by what a name leads to.
func TestAnAgentReadsThatAndWhyAnAddressIsRefused(t *testing.T) {
	openNames(t, map[string]func(int) []string{
		"good.test.": always(goodAddr), "inside.test.": always("10.0.0.1"), "mixed.test.": always(goodAddr, "169.254.169.254"),
	})
	openSite(t, goodAddr+":80", pageOrRedirect)
	s := serve(t)
	for address, words := range map[string]string{
		"http://10.0.0.1/":                                "a private address",
		"https://10.0.0.1/":                               "a private address",
		"https://metadata.google.internal/":               "a cloud's metadata service",
		"http://169.254.169.254/":                         "a link-local address",
		"http://inside.test/":                             "a private address",
		"https://inside.test/":                            "a private address",
		"https://mixed.test/":                             "a link-local address",
		"http://good.test/?to=http://10.0.0.1/":           "a private address",
		"http://good.test/?to=https://inside.test/":       "a private address",
		"http://good.test/?to=https://metadata.internal/": "belongs to local networks alone",
	} {
		_, refused := s.open(address)
		if refused == nil || refused.Code != "address_refused" || !strings.Contains(refused.Message, words) || refused.Hint == "" {
			t.Errorf("%s: %+v, want address_refused with %q", address, refused, words)
		}
	}
	if answer, refused := s.open("http://good.test/"); refused != nil || answer.Title != "good" {
		t.Errorf("the good page: %+v, %v", answer, refused)
	}
	s.mustHaveTold("inside.test", "mixed.test", "metadata.internal", "10.0.0.1")
}

// mustHaveTold ends the session and wants each host in an event of refused requests.
func (s *served) mustHaveTold(hosts ...string) {
	s.t.Helper()
	var told strings.Builder
	for _, e := range s.end() {
		if e.kind == "egress.refused" {
			told.WriteString(e.fields)
		}
	}
	for _, host := range hosts {
		if !strings.Contains(told.String(), host) {
			s.t.Errorf("no event tells of %s: %s", host, told.String())
		}
	}
}

// TestAPageThatAsksWithoutEndGetsFewEvents has a real page ask for what is refused, thousands of times.
func TestAPageThatAsksWithoutEndGetsFewEvents(t *testing.T) {
	const asked = 3000
	openNames(t, map[string]func(int) []string{"good.test.": always(goodAddr)})
	openSite(t, goodAddr+":80", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		say(w, `<title>flood</title><script>(async () => {
			for (let i = 0; i < 3000; i += 50) {
				await Promise.allSettled(Array.from({length: 50}, (_, n) => fetch("http://10.0.0." + ((i + n) % 200 + 1) + "/?" + i, {mode: "no-cors"})));
			}
			document.title = "done";
		})()</script>`)
	})
	s := serve(t)
	_, refused := s.open("http://good.test/")
	if refused != nil {
		t.Fatal(refused)
	}
	for end := time.Now().Add(patience); ; {
		answer, err := s.agent.Act(t.Context(), s.session, map[string]any{"action": "wait", "ms": 500})
		check(t, err)
		if answer.Title == "done" {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the page asks for ever")
		}
	}
	events, counted := 0, 0
	for _, e := range s.end() {
		if e.kind != "egress.refused" {
			continue
		}
		events++
		var told struct {
			Count  int
			Fields struct{ Count int }
		}
		check(t, json.Unmarshal([]byte(e.fields), &told))
		counted += told.Count + told.Fields.Count
	}
	if counted < asked || events > 10 {
		t.Errorf("%d refusals in %d events, of at least %d", counted, events, asked)
	}
}
