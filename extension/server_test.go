package extension_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

const (
	project = "p_01TEST"
	token   = "a token of the account"
	nonce   = "bm9uY2Utb2YtdGhlLXNlcnZlci13aXRoLTMyLWJ5dGU"
)

// server is the far end of the link (docs/relay.md), able to send what the real one would refuse to send.
type server struct {
	t     *testing.T
	http  *httptest.Server
	level string
	name  string // of the project

	stateMu   sync.Mutex
	conn      *websocket.Conn
	links     int
	tabs      []sharedTab
	answers   map[int]chan frame
	last      int
	lastWords []string
	told      []frame       // what the extension said about held tabs, in its order
	waits     int           // a mark of a test
	news      chan struct{} // closed when more is told
}

type header struct {
	T       string      `json:"t"`
	ID      int         `json:"id"`
	Nonce   string      `json:"nonce"`
	MAC     string      `json:"mac"`
	TokenID string      `json:"token_id"`
	Project string      `json:"project"`
	Install string      `json:"install"`
	Code    string      `json:"code"`
	Message string      `json:"message"`
	Tabs    []sharedTab `json:"tabs"`
	Tab     string      `json:"tab"`
	Target  string      `json:"target"`
	Child   string      `json:"child"`
	Method  string      `json:"method"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Features []string `json:"features"`
}

type sharedTab struct {
	ID        string `json:"id"`
	Target    string `json:"target"`
	URL       string `json:"url"`
	Title     string `json:"title"`
	Level     string `json:"level"`
	Suspended string `json:"suspended"`
	Session   string `json:"session"`
	Made      bool   `json:"made"`
	Opener    string `json:"opener"`
}

type frame struct {
	header
	body []byte
}

// result is the part of a program's result that tests look at.
type result struct {
	Tab   string            `json:"tab"`
	Steps []json.RawMessage `json:"steps"`
	Error *struct {
		Step    int    `json:"step"`
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Opened []sharedTab `json:"opened"`
}

func startServer(t *testing.T, level string) *server {
	t.Helper()
	s := &server{t: t, level: level, name: "Invoices", answers: map[int]chan frame{}, news: make(chan struct{})}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.drop(websocket.StatusGoingAway)
		s.http.Close()
	})
	return s
}

// code is the connection code that a person pastes.
func (s *server) code() string {
	content, err := json.Marshal(map[string]string{"server": s.http.URL, "token": token, "project": project, "name": s.name})
	if err != nil {
		s.t.Fatal(err)
	}
	return "chaperone1." + base64.RawURLEncoding.EncodeToString(content)
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/api/browser/extension/connect" {
		_, _ = w.Write([]byte("<title>Dashboard</title><h1>Only for the person</h1>"))
		return
	}
	if r.Header.Get("Origin") != "chrome-extension://"+extensionID || strings.Contains(r.URL.String(), token) {
		http.Error(w, "not the extension", http.StatusForbidden)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	conn.SetReadLimit(16 << 20)
	defer func() { _ = conn.CloseNow() }()
	s.link(r.Context(), conn)
}

// link greets an extension and then reads what it sends until it is gone.
func (s *server) link(ctx context.Context, conn *websocket.Conn) {
	hello, ok := next(ctx, conn)
	if !ok || hello.T != "hello" || hello.Project != project || hello.TokenID != tokenID() {
		_ = conn.Close(4004, "not a hello")
		return
	}
	send(ctx, conn, map[string]any{"t": "challenge", "nonce": nonce, "mac": mac("server", hello.Nonce)})
	proof, ok := next(ctx, conn)
	if !ok || proof.T != "proof" || proof.MAC != mac("extension", hello.Nonce) {
		_ = conn.Close(4001, "no proof")
		return
	}
	send(ctx, conn, map[string]any{
		"t": "paired", "project": map[string]string{"id": project, "name": s.name}, "account": "me", "level": s.level,
		"heartbeat_s": 20, "expires_s": 28800, "features": []string{"cdp"}, "server": strings.TrimPrefix(s.http.URL, "http://"),
	})
	s.stateMu.Lock()
	s.conn, s.tabs = conn, proof.Tabs
	s.links++
	s.stateMu.Unlock()
	for {
		got, ok := next(ctx, conn)
		if !ok {
			return
		}
		s.take(ctx, conn, got)
	}
}

func (s *server) take(ctx context.Context, conn *websocket.Conn, got frame) {
	s.stateMu.Lock()
	defer s.stateMu.Unlock()
	switch got.T {
	case "ping":
		send(ctx, conn, map[string]any{"t": "pong"})
	case "tabs":
		s.tabs = got.Tabs
		s.tell(got)
	case "event", "asleep":
		s.tell(got)
	case "result", "error", "done", "picture", "held", "reply", "made":
		s.tell(got)
		if waiting := s.answers[got.ID]; waiting != nil {
			select {
			case waiting <- got:
			default: // a picture that nobody waits for
			}
		}
	default:
		s.lastWords = append(s.lastWords, got.T)
	}
}

// tell keeps what tests of the raw road look through. The lock is held.
func (s *server) tell(got frame) {
	s.told = append(s.told, got)
	close(s.news)
	s.news = make(chan struct{})
}

// ask sends a request and waits for its first answer.
func (s *server) ask(head map[string]any, body any) frame {
	s.t.Helper()
	waiting := make(chan frame, 1)
	s.stateMu.Lock()
	s.last++
	head["id"] = s.last
	s.answers[s.last] = waiting
	conn := s.conn
	s.stateMu.Unlock()
	message, err := json.Marshal(head)
	if err != nil {
		s.t.Fatal(err)
	}
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		message = append(append(message, '\n'), text...)
	}
	if err := conn.Write(s.t.Context(), websocket.MessageText, message); err != nil {
		s.t.Fatalf("send %s: %v", head["t"], err)
	}
	select {
	case got := <-waiting:
		return got
	case <-time.After(patience):
		s.t.Fatalf("no answer to %s", message)
		return frame{}
	}
}

// run runs steps in a tab and answers their result; a request that was refused as a whole is in its Error.
func (s *server) run(session, tab string, steps ...any) result {
	s.t.Helper()
	program := map[string]any{"tab": tab, "deadline_ms": 15000, "steps": steps}
	got := s.ask(map[string]any{"t": "program", "session": session}, program)
	var answer result
	if got.T == "error" {
		answer.Error = &struct {
			Step    int    `json:"step"`
			Code    string `json:"code"`
			Message string `json:"message"`
		}{Step: -1, Code: got.Code, Message: got.Message}
		return answer
	}
	if err := json.Unmarshal(got.body, &answer); err != nil {
		s.t.Fatalf("result %s: %v", got.body, err)
	}
	return answer
}

// must is run, in session s_1, for steps that cannot fail.
func (s *server) must(tab string, steps ...any) result {
	s.t.Helper()
	answer := s.run("s_1", tab, steps...)
	if answer.Error != nil {
		s.t.Fatalf("steps %v: %+v", steps, *answer.Error)
	}
	return answer
}

// tabsUntil waits for a list of tabs that fits.
func (s *server) tabsUntil(what string, fits func([]sharedTab) bool) []sharedTab {
	s.t.Helper()
	var now []sharedTab
	eventually(s.t, what, func() bool {
		s.stateMu.Lock()
		defer s.stateMu.Unlock()
		now = s.tabs
		return s.conn != nil && fits(now)
	})
	return now
}

func (s *server) linksUntil(count int) {
	s.t.Helper()
	eventually(s.t, "a link", func() bool {
		s.stateMu.Lock()
		defer s.stateMu.Unlock()
		return s.links >= count
	})
}

// forgotten waits until the person has disconnected.
func (s *server) forgotten() {
	s.t.Helper()
	eventually(s.t, "a frame disconnect", func() bool {
		s.stateMu.Lock()
		defer s.stateMu.Unlock()
		return slices.Contains(s.lastWords, "disconnect")
	})
}

func (s *server) drop(code websocket.StatusCode) {
	s.stateMu.Lock()
	conn := s.conn
	s.stateMu.Unlock()
	if conn != nil {
		_ = conn.Close(code, "")
	}
}

func next(ctx context.Context, conn *websocket.Conn) (frame, bool) {
	_, message, err := conn.Read(ctx)
	if err != nil {
		return frame{}, false
	}
	line, body, _ := bytes.Cut(message, []byte{'\n'})
	got := frame{body: body}
	return got, json.Unmarshal(line, &got.header) == nil
}

func send(ctx context.Context, conn *websocket.Conn, head map[string]any) {
	message, err := json.Marshal(head)
	if err != nil {
		return
	}
	_ = conn.Write(ctx, websocket.MessageText, message)
}

func mac(side, theirs string) string {
	digest := hmac.New(sha256.New, []byte(token))
	digest.Write([]byte(strings.Join([]string{"chaperone-link-1", side, project, theirs, nonce}, "|")))
	return base64.RawURLEncoding.EncodeToString(digest.Sum(nil))
}

func tokenID() string {
	digest := sha256.Sum256([]byte("chaperone-token-id:" + token))
	return hex.EncodeToString(digest[:])[:16]
}
