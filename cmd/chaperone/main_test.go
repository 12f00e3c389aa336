package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	chaperone "chaperone/cmd/chaperone"
	"chaperone/server/chrome"
	"chaperone/server/fault"
)

// TestMain is also the confine process: a server in a test starts its own binary again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == chrome.ConfineCommand {
		os.Exit(chrome.ConfineMain(os.Args[2:]))
	}
	testscript.Main(tidy{m}, map[string]func(){"chaperone": chaperone.Main})
}

// tidy also fails when a goroutine is left.
type tidy struct{ tests *testing.M }

func (t tidy) Run() int {
	code := t.tests.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// TestStories plays the stories of testdata: what is typed, what is said, how it ends. `exits CODE COMMAND…`
// is theirs: it runs a command that has to end with that code.
func TestStories(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("CHAPERONE_DATA", filepath.Join(env.WorkDir, "data"))
			env.Setenv("HOME", env.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "pretend": pretend, "taken": taken},
	})
}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = err.Error()
	}
	if want := map[string]string{"0": "0"}[args[0]]; code != want && code != "exit status "+args[0] {
		ts.Fatalf("it ended with %q, want %s", code, args[0])
	}
}

// taken listens on an address of this machine, which TAKEN names.
func taken(ts *testscript.TestScript, _ bool, _ []string) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Setenv("TAKEN", listener.Addr().String())
	ts.Defer(func() { ts.Check(listener.Close()) })
}

// pretend serves the API's answers of a file as a server on this data folder would: one JSON object from
// "METHOD path" to the answer. The answer "gone" is a server that ends in the middle of it.
func pretend(ts *testscript.TestScript, _ bool, args []string) {
	var answers map[string]json.RawMessage
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &answers))
	data := ts.Getenv("CHAPERONE_DATA")
	ts.Check(os.MkdirAll(data, 0o700))
	socket := filepath.Join(data, "s")
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", socket)
	ts.Check(err)
	info, err := json.Marshal(map[string]any{"url": "http://127.0.0.1:1", "socket": socket, "pid": 1, "version": "test"})
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(data, "server.json"), info, 0o600))
	ts.Check(os.WriteFile(filepath.Join(data, "token"), []byte("chp_secret\n"), 0o600))
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer, ok := answers[r.Method+" "+r.URL.RequestURI()+" "+string(body)]
		switch {
		case r.Header.Get("Authorization") != "Bearer chp_secret" || r.Host != "chaperone":
			http.Error(w, `{"error":{"code":"unauthorised","message":"who are you"}}`, http.StatusUnauthorized)
		case !ok:
			http.Error(w, `{"error":{"code":"not_found","message":"unexpected `+r.Method+" "+r.URL.RequestURI()+`"}}`, http.StatusNotFound)
		case string(answer) == `"gone"`:
			panic(http.ErrAbortHandler)
		default:
			var refusal struct{ Error *struct{} }
			if json.Unmarshal(answer, &refusal) == nil && refusal.Error != nil {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusConflict)
			}
			_, _ = w.Write(append(answer, '\n'))
		}
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	ts.Defer(func() {
		ts.Check(server.Close())
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			ts.Fatalf("the pretended server ended with %v", err)
		}
	})
}

func TestEveryCodeHasItsExit(t *testing.T) {
	t.Parallel()
	for code, want := range map[fault.Code]int{
		fault.BadRequest: 2, fault.ReadOnlyRefused: 3, fault.DomainRefused: 3, fault.URLRefused: 3, fault.AddressRefused: 3,
		fault.FormRefused: 3, fault.Forbidden: 3, fault.Unauthorised: 3, fault.NotConnected: 4, fault.Busy: 4, fault.Unavailable: 4,
		fault.StaleRef: 1, fault.Timeout: 1, fault.NotFound: 1, fault.SessionEnded: 1, fault.Internal: 1, "a_code_of_tomorrow": 1,
	} {
		if got := chaperone.ExitOf(code); got != want {
			t.Errorf("%s exits with %d, want %d", code, got, want)
		}
	}
}

func TestAWaitForAPlaceIsSaid(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{2*time.Second - 1: "", 2*time.Second + 1: "chaperone: waiting for a place\n"} {
		synctest.Test(t, func(t *testing.T) {
			var said bytes.Buffer
			if err := chaperone.OpenSession(t.Context(), &said, slow(wait)); err != nil || said.String() != want {
				t.Errorf("after %s it says %q, %v, want %q", wait, said.String(), err, want)
			}
		})
	}
}

// slow answers each request after a while.
type slow time.Duration

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-time.After(time.Duration(s)):
		return &http.Response{StatusCode: http.StatusCreated, Body: http.NoBody, Request: r}, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func TestALengthOfTimeMayBeInDays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"30d": "30d", "24h": "1d", "5m": "5m0s", "0d": "0s", "36h": "36h0m0s"} {
		if got, err := chaperone.Span(text); err != nil || got != want {
			t.Errorf("%s reads as %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "-1d", "1.5d", "5", "-5m", "99999d"} {
		if got, err := chaperone.Span(text); err == nil {
			t.Errorf("%q reads as %s", text, got)
		}
	}
}
