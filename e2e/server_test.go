package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"chaperone/demo"
	"chaperone/server"
)

// patience bounds every wait for something that must come; it is generous because machines are shared.
const patience = 60 * time.Second

// served is a running chaperone with a data folder of its own.
type served struct {
	t     *testing.T
	data  string
	cmd   *exec.Cmd
	log   *lockedBuffer
	ended chan struct{}
	agent *demo.Agent
	info  server.Info
}

// serve starts a server; at the test's end it is stopped, and nothing of it may be left.
func serve(t *testing.T, args ...string) *served {
	t.Helper()
	return serveIn(t, filepath.Join(folder(t), "data"), args...)
}

// folder is a test's own, with a path short enough for sockets, whatever the test is called.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "e2e-") //nolint:usetesting // t.TempDir names the test, and that is too long for sockets
	check(t, err)
	t.Cleanup(func() { check(t, os.RemoveAll(dir)) })
	return dir
}

func serveIn(t *testing.T, data string, args ...string) *served {
	t.Helper()
	s := &served{t: t, data: data, log: &lockedBuffer{}, ended: make(chan struct{})}
	s.cmd = exec.Command(binary, //nolint:noctx // it outlives the test's context and is stopped by stop
		append([]string{"serve", "--addr", "127.0.0.1:0", "--data", data, "--no-spare-browsers"}, args...)...)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(s.ended); _ = s.cmd.Wait() }()
	t.Cleanup(s.stop)
	var err error
	s.await(func() bool {
		s.info, err = server.ReadInfo(data)
		return s.isOver() || (err == nil && s.info.PID == s.cmd.Process.Pid)
	}, "the server to be ready")
	if err != nil || s.isOver() {
		t.Fatalf("the server is not ready: %v\n%s", err, s.log)
	}
	if s.agent, err = demo.NewAgent(data); err != nil {
		t.Fatal(err)
	}
	return s
}

// stop ends the server as a service manager does and checks that it left nothing.
func (s *served) stop() {
	s.t.Helper()
	if s.isOver() {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Errorf("the server did not end on SIGTERM\n%s", s.log)
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("the server ended with %d\n%s", code, s.log)
	}
	if strings.Contains(s.log.String(), "DATA RACE") {
		s.t.Errorf("the server raced\n%s", s.log)
	}
	if s.t.Failed() {
		s.t.Logf("the server's log:\n%s", s.log)
	}
	s.checkNothingLeft()
}

// kill ends the server as a crash does.
func (s *served) kill() {
	s.t.Helper()
	_ = s.cmd.Process.Kill()
	<-s.ended
}

func (s *served) isOver() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// checkNothingLeft finds no process that names the data folder, no socket and no profile in it.
func (s *served) checkNothingLeft() {
	s.t.Helper()
	s.await(func() bool { return len(processesOf(s.data)) == 0 }, "the last process of "+s.data+" to end")
	for _, name := range []string{server.InfoFile, "server.sock"} {
		if exists(filepath.Join(s.data, name)) {
			s.t.Errorf("%s is left in the data folder", name)
		}
	}
	left, err := os.ReadDir(filepath.Join(s.data, "run"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Error(err)
	}
	for _, entry := range left {
		if entry.IsDir() {
			s.t.Errorf("the folder run/%s is left", entry.Name())
		}
	}
}

// await looks until a condition holds.
func (s *served) await(holds func() bool, what string) {
	s.t.Helper()
	await(s.t, holds, what)
}

func await(t *testing.T, holds func() bool, what string) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}

// processesOf lists the processes whose command line names a path.
func processesOf(path string) []string {
	entries, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil
	}
	var found []string
	for _, entry := range entries {
		line, err := os.ReadFile(entry)
		if err == nil && bytes.Contains(line, []byte(path)) {
			found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// said is what a command printed and how it ended.
type said struct {
	out, err string
	code     int
}

// run runs the command line against the server's data folder.
func (s *served) run(args ...string) said {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), "CHAPERONE_DATA="+s.data)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatalf("chaperone %s: %v", strings.Join(args, " "), err)
	}
	return said{out: out.String(), err: errs.String(), code: cmd.ProcessState.ExitCode()}
}

// must runs the command line and wants exit code 0.
func (s *served) must(args ...string) string {
	s.t.Helper()
	r := s.run(args...)
	if r.code != 0 {
		s.t.Fatalf("chaperone %s ended with %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r.out
}

// code asks for the default project's connection code.
func (s *served) code() string {
	s.t.Helper()
	var made struct{ Code string }
	s.ask(http.MethodPost, "/projects/default/pairing/code", nil, &made)
	return made.Code
}

// ask sends an API request that must succeed.
func (s *served) ask(method, path string, body, into any) {
	s.t.Helper()
	if err := s.agent.Ask(s.t.Context(), method, path, body, into); err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
}

// session opens a session that must open.
func (s *served) session(backend string) string {
	s.t.Helper()
	id, err := s.agent.Session(s.t.Context(), backend)
	if err != nil {
		s.t.Fatalf("open a %s session: %v", backend, err)
	}
	return id
}

// policy sets the default project's policy.
func (s *served) policy(policy string) {
	s.t.Helper()
	s.ask(http.MethodPatch, "/projects/default", map[string]any{"policy": policy}, nil)
}

type action = map[string]any

// act runs an action that must succeed.
func (s *served) act(session string, a action) demo.Answer {
	s.t.Helper()
	answer, err := s.agent.Act(s.t.Context(), session, a)
	if err != nil {
		s.t.Fatalf("%v: %v", a, err)
	}
	return answer
}

// refused runs an action that must be refused with a code.
func (s *served) refused(session string, a action, code string) {
	s.t.Helper()
	_, err := s.agent.Act(s.t.Context(), session, a)
	refusal := asRefused(err)
	if refusal == nil || refusal.Code != code {
		s.t.Fatalf("%v: got %v, want the code %s", a, err, code)
	}
	if refusal.Hint == "" {
		s.t.Errorf("%v: the refusal %q has no hint", a, refusal.Message)
	}
}

func asRefused(err error) *demo.RefusedError {
	refusal, _ := errors.AsType[*demo.RefusedError](err)
	return refusal
}

// ref finds an element in a fresh snapshot.
func (s *served) ref(session, role, name string) string {
	s.t.Helper()
	ref, err := demo.RefOf(s.act(session, action{"action": "snapshot"}).Snapshot.Text, role, name)
	if err != nil {
		s.t.Fatal(err)
	}
	return ref
}

// lockedBuffer takes a process's output while a test may read it.
type lockedBuffer struct {
	textMu sync.Mutex
	text   bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.textMu.Lock()
	defer b.textMu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.textMu.Lock()
	defer b.textMu.Unlock()
	return b.text.String()
}

// arrive starts a person's browser that goes at the test's end.
func arrive(t *testing.T, o demo.PersonOptions) *demo.Person {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p, err := demo.Arrive(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close the person's browser: %v", err)
		}
	})
	return p
}

func decodeJSON(t *testing.T, raw string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(raw), into); err != nil {
		t.Fatalf("decode %q: %v", raw, err)
	}
}

// fetch gets a path of the server with the agent's token.
func (s *served) fetch(path string) string {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.info.URL+path, nil)
	check(s.t, err)
	status, body := s.send(request)
	if status != http.StatusOK {
		s.t.Fatalf("GET %s: %d: %s", path, status, body)
	}
	return body
}

// send sends a request as it is, with the agent's token.
func (s *served) send(request *http.Request) (status int, body string) {
	s.t.Helper()
	request.Header.Set("Authorization", "Bearer "+s.token())
	client := http.Client{Timeout: patience}
	response, err := client.Do(request)
	check(s.t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	check(s.t, err)
	return response.StatusCode, string(raw)
}

func (s *served) token() string {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.data, server.TokenFile))
	check(s.t, err)
	return strings.TrimSpace(string(raw))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
