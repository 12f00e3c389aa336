package browse_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/evanw/esbuild/pkg/api"
	"go.uber.org/goleak"

	"chaperone/relay/program"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pageScript bundles extension/src/page as it is in the tree.
func pageScript(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	built := api.Build(api.BuildOptions{
		AbsWorkingDir: root, EntryPoints: []string{"extension/src/page/main.ts"},
		Bundle: true, Format: api.FormatIIFE, Target: api.ES2022, Outfile: filepath.Join(root, "page.js"),
	})
	for _, message := range built.Errors {
		t.Fatalf("bundle page script: %s (%v)", message.Text, message.Location)
	}
	return string(built.OutputFiles[0].Contents)
}

// chromium is one headless shell with a debugging socket.
type chromium struct {
	t      *testing.T
	conn   *websocket.Conn
	closed chan struct{}

	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	events  map[string]func(method string, params json.RawMessage)
	others  func(session, method string, params json.RawMessage) // events of sessions nobody listens to by name
}

type reply struct {
	Result json.RawMessage
	Error  *program.CallError
}

func launch(t *testing.T, flags ...string) *chromium {
	t.Helper()
	flags = append(flags, "--no-sandbox", "--remote-debugging-port=0", "--disable-gpu",
		"--no-first-run", "--disable-background-networking", "--window-size=1000,700", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd := exec.CommandContext(context.Background(), "chromium-headless-shell", flags...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	c := &chromium{t: t, closed: make(chan struct{}), waiting: map[int]chan reply{}, events: map[string]func(string, json.RawMessage){}}
	c.dial(address(t, bufio.NewScanner(stderr)))
	return c
}

func address(t *testing.T, lines *bufio.Scanner) string {
	t.Helper()
	pattern := regexp.MustCompile(`DevTools listening on (ws://\S+)`)
	for lines.Scan() {
		if found := pattern.FindStringSubmatch(lines.Text()); found != nil {
			return found[1]
		}
	}
	t.Fatal("Chromium ended before it listened")
	return ""
}

func (c *chromium) dial(url string) {
	c.t.Helper()
	conn, _, err := websocket.Dial(c.t.Context(), url, nil) //nolint:bodyclose // the package closes it
	if err != nil {
		c.t.Fatalf("dial Chromium: %v", err)
	}
	conn.SetReadLimit(64 << 20)
	c.conn = conn
	go c.read()
	c.t.Cleanup(func() {
		_ = conn.CloseNow()
		<-c.closed
	})
}

func (c *chromium) read() {
	defer close(c.closed)
	for {
		_, raw, err := c.conn.Read(context.Background())
		if err != nil {
			return
		}
		var frame struct {
			ID        int             `json:"id"`
			Method    string          `json:"method"`
			Params    json.RawMessage `json:"params"`
			SessionID string          `json:"sessionId"`
			reply
		}
		if json.Unmarshal(raw, &frame) != nil {
			continue
		}
		c.mu.Lock()
		answer, listener, others := c.waiting[frame.ID], c.events[frame.SessionID], c.others
		delete(c.waiting, frame.ID)
		c.mu.Unlock()
		if answer != nil {
			answer <- frame.reply
		} else if listener != nil {
			listener(frame.Method, frame.Params)
		} else if others != nil && frame.SessionID != "" {
			others(frame.SessionID, frame.Method, frame.Params)
		}
	}
}

// Send is one CDP call in a session; empty for the browser's own.
func (c *chromium) Send(ctx context.Context, session, method string, params any) (json.RawMessage, error) {
	answer := make(chan reply, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.waiting[id] = answer
	c.mu.Unlock()
	call := map[string]any{"id": id, "method": method, "params": params}
	if session != "" {
		call["sessionId"] = session
	}
	raw, err := json.Marshal(call)
	if err != nil {
		return nil, err
	}
	if err := c.conn.Write(context.WithoutCancel(ctx), websocket.MessageText, raw); err != nil { // an expired context would close the socket
		return nil, err
	}
	select {
	case got := <-answer:
		if got.Error != nil {
			return nil, got.Error
		}
		return got.Result, nil
	case <-c.closed:
		return nil, errors.New("Chromium is gone")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *chromium) must(session, method string, params any) json.RawMessage {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	result, err := c.Send(ctx, session, method, params)
	if err != nil {
		c.t.Fatal(err)
	}
	return result
}

// attach makes a tab at about:blank and answers its session.
func (c *chromium) attach() string {
	c.t.Helper()
	target := field(c.t, c.must("", "Target.createTarget", map[string]any{"url": "about:blank"}), "targetId")
	session := field(c.t, c.must("", "Target.attachToTarget", map[string]any{"targetId": target, "flatten": true}), "sessionId")
	c.must(session, "Page.enable", map[string]any{})
	return session
}

func field(t *testing.T, raw json.RawMessage, key string) string {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatal(err)
	}
	value, ok := object[key].(string)
	if !ok {
		t.Fatalf("no %s in %s", key, raw)
	}
	return value
}

// tab is one page with the page script in an isolated world of its main frame.
type tab struct {
	*chromium
	session string
	script  string
	context float64
}

func (c *chromium) page(script, url string) *tab {
	c.t.Helper()
	p := &tab{chromium: c, session: c.attach(), script: script}
	p.open(url)
	return p
}

func (p *tab) open(url string) {
	p.t.Helper()
	loaded := make(chan struct{}, 1)
	p.mu.Lock()
	p.events[p.session] = func(method string, _ json.RawMessage) {
		if method == "Page.loadEventFired" {
			select {
			case loaded <- struct{}{}:
			default:
			}
		}
	}
	p.mu.Unlock()
	p.must(p.session, "Page.navigate", map[string]any{"url": url})
	select {
	case <-loaded:
	case <-time.After(20 * time.Second):
		p.t.Fatalf("%s did not load", url)
	}
	p.world()
}

func (p *tab) world() {
	p.t.Helper()
	var tree struct {
		FrameTree struct{ Frame struct{ ID string } }
	}
	if err := json.Unmarshal(p.must(p.session, "Page.getFrameTree", map[string]any{}), &tree); err != nil {
		p.t.Fatal(err)
	}
	var world struct{ ExecutionContextID float64 }
	made := p.must(p.session, "Page.createIsolatedWorld", map[string]any{"frameId": tree.FrameTree.Frame.ID, "worldName": "chaperone"})
	if err := json.Unmarshal(made, &world); err != nil {
		p.t.Fatal(err)
	}
	p.context = world.ExecutionContextID
	for range 2 { // evaluated twice on purpose: the second time changes nothing
		p.must(p.session, "Runtime.evaluate", map[string]any{"expression": p.script, "contextId": p.context})
	}
}

type answer struct {
	Value json.RawMessage `json:"value"`
	Error *struct {
		Code    string          `json:"code"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	} `json:"error"`
}

// run calls one function of the page script.
func (p *tab) run(name string, args any) answer {
	p.t.Helper()
	var result struct {
		Result           struct{ Value string }
		ExceptionDetails json.RawMessage
	}
	raw := p.must(p.session, "Runtime.callFunctionOn", map[string]any{
		"functionDeclaration": "(name, args) => globalThis.chaperone(name, args)", "executionContextId": p.context,
		"arguments": []any{map[string]any{"value": name}, map[string]any{"value": args}}, "awaitPromise": true, "returnByValue": true,
	})
	if err := json.Unmarshal(raw, &result); err != nil {
		p.t.Fatal(err)
	}
	if result.ExceptionDetails != nil {
		p.t.Fatalf("%s threw: %s", name, result.ExceptionDetails)
	}
	var a answer
	if err := json.Unmarshal([]byte(result.Result.Value), &a); err != nil {
		p.t.Fatalf("%s answered %q: %v", name, result.Result.Value, err)
	}
	return a
}

// into runs a function that must succeed and decodes its value.
func (p *tab) into(value any, name string, args any) {
	p.t.Helper()
	a := p.run(name, args)
	if a.Error != nil {
		p.t.Fatalf("%s: %s: %s %s", name, a.Error.Code, a.Error.Message, a.Error.Detail)
	}
	if err := json.Unmarshal(a.Value, value); err != nil {
		p.t.Fatalf("decode %s: %v in %s", name, err, a.Value)
	}
}

// eval reads something in the page's own world.
func (p *tab) eval(expression string) string {
	p.t.Helper()
	raw := p.must(p.session, "Runtime.evaluate", map[string]any{"expression": fmt.Sprintf("String(%s)", expression), "returnByValue": true})
	var result struct{ Result struct{ Value string } }
	if err := json.Unmarshal(raw, &result); err != nil {
		p.t.Fatal(err)
	}
	return result.Result.Value
}

// serve serves testdata/pages.
func serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.FileServerFS(os.DirFS("testdata/pages")))
	t.Cleanup(server.Close)
	return server.URL
}
