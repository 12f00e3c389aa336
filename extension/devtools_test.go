package extension_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
)

const (
	extensionID = "codmbdnikppphedddibekmoeejjjmbig"

	// patience bounds every wait of these tests: a worker takes up to nine seconds to appear, and Chrome as long to take in a flood, on a busy machine.
	patience = 2 * time.Minute
	glance   = 25 * time.Millisecond
)

// browser is a running Chromium with the extension loaded, driven over its debugging port.
type browser struct {
	t    *testing.T
	conn *websocket.Conn

	callsMu sync.Mutex
	last    int
	calls   map[int]chan reply
}

type reply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// startBrowser runs Chromium until the test ends.
func startBrowser(t *testing.T, extension string) *browser {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), launch(t, extension), nil) //nolint:bodyclose // the library closes it
	if err != nil {
		t.Fatalf("dial chromium: %v", err)
	}
	conn.SetReadLimit(-1)
	b := &browser{t: t, conn: conn, calls: map[int]chan reply{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.read()
	}()
	t.Cleanup(func() {
		_ = conn.CloseNow()
		<-done
	})
	return b
}

// launch answers the address of the debugging port.
func launch(t *testing.T, extension string) string {
	t.Helper()
	profile := t.TempDir()
	preferences := filepath.Join(profile, "Default", "Preferences")
	if err := os.MkdirAll(filepath.Dir(preferences), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(preferences, []byte(`{"extensions":{"ui":{"developer_mode":true}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("chromium", "--headless=new", "--no-sandbox", "--remote-debugging-port=0", //nolint:noctx // ended by stop, with its children
		"--load-extension="+extension, "--user-data-dir="+profile, "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-domain-reliability",
		"--disable-default-apps", "--window-size=1000,800", "about:blank")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	lines := bufio.NewReader(stderr)
	address, err := listening(lines)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, lines)
	}()
	t.Cleanup(func() { stop(command, drained) })
	if err != nil {
		t.Fatalf("find debugging port: %v", err)
	}
	return address
}

func listening(lines *bufio.Reader) (string, error) {
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return "", err
		}
		if address, ok := strings.CutPrefix(strings.TrimSpace(line), "DevTools listening on "); ok {
			return address, nil
		}
	}
}

// stop ends Chromium and its children; none of them may write into the profile afterwards.
func stop(command *exec.Cmd, drained <-chan struct{}) {
	_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	<-drained
	_ = command.Wait()
}

func (b *browser) read() {
	for {
		_, message, err := b.conn.Read(context.Background())
		if err != nil {
			return
		}
		var got reply
		if json.Unmarshal(message, &got) != nil || got.ID == 0 {
			continue
		}
		b.callsMu.Lock()
		waiting := b.calls[got.ID]
		delete(b.calls, got.ID)
		b.callsMu.Unlock()
		if waiting != nil {
			waiting <- got
		}
	}
}

// call sends one command; session is empty for the browser itself.
func (b *browser) call(session, method string, params any) (json.RawMessage, error) {
	waiting := make(chan reply, 1)
	b.callsMu.Lock()
	b.last++
	id := b.last
	b.calls[id] = waiting
	b.callsMu.Unlock()
	message, err := json.Marshal(struct {
		ID      int    `json:"id"`
		Session string `json:"sessionId,omitempty"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{id, session, method, params})
	if err != nil {
		return nil, err
	}
	if err := b.conn.Write(b.t.Context(), websocket.MessageText, message); err != nil {
		return nil, err
	}
	select {
	case got := <-waiting:
		if got.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, got.Error.Message)
		}
		return got.Result, nil
	case <-time.After(patience):
		return nil, fmt.Errorf("%s: no reply", method)
	}
}

func (b *browser) must(session, method string, params any, into any) {
	b.t.Helper()
	result, err := b.call(session, method, params)
	if err != nil {
		b.t.Fatal(err)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(result, into); err != nil {
		b.t.Fatalf("%s answered %s: %v", method, result, err)
	}
}

type targetInfo struct {
	ID   string `json:"targetId"`
	Type string `json:"type"`
	URL  string `json:"url"`
}

// targets are all that the browser has now.
func (b *browser) targets() []targetInfo {
	b.t.Helper()
	var all struct {
		Infos []targetInfo `json:"targetInfos"`
	}
	b.must("", "Target.getTargets", map[string]any{}, &all)
	return all.Infos
}

// target waits for a target that fits.
func (b *browser) target(fits func(targetInfo) bool) targetInfo {
	b.t.Helper()
	var found targetInfo
	eventually(b.t, "a target that fits", func() bool {
		all := b.targets()
		at := slices.IndexFunc(all, fits)
		if at >= 0 {
			found = all[at]
		}
		return at >= 0
	})
	return found
}

func (b *browser) worker() targetInfo {
	b.t.Helper()
	return b.target(func(info targetInfo) bool {
		return info.Type == "service_worker" && strings.Contains(info.URL, extensionID)
	})
}

// page is one tab, as a person at the browser sees it.
type page struct {
	*browser
	target  string
	session string
}

func (b *browser) open(url string) *page {
	b.t.Helper()
	var made struct {
		ID string `json:"targetId"`
	}
	b.must("", "Target.createTarget", map[string]any{"url": url}, &made)
	p := b.attach(made.ID)
	p.until(fmt.Sprintf("location.href === %q && document.readyState === 'complete'", url)) // it begins as about:blank
	return p
}

func (b *browser) attach(target string) *page {
	b.t.Helper()
	var attached struct {
		Session string `json:"sessionId"`
	}
	b.must("", "Target.attachToTarget", map[string]any{"targetId": target, "flatten": true}, &attached)
	return &page{browser: b, target: target, session: attached.Session}
}

// eval answers a script's value; an exception fails the test.
func (p *page) eval(script string) any {
	p.t.Helper()
	value, err := p.try(script)
	if err != nil {
		p.t.Fatalf("evaluate %q: %v", script, err)
	}
	return value
}

func (p *page) try(script string) (any, error) {
	params := map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true}
	result, err := p.call(p.session, "Runtime.evaluate", params)
	if err != nil {
		return nil, err
	}
	var got struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
		Exception *struct {
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	if err := json.Unmarshal(result, &got); err != nil {
		return nil, err
	}
	if got.Exception != nil {
		return nil, fmt.Errorf("exception: %s", got.Exception.Exception.Description)
	}
	return got.Result.Value, nil
}

// until waits for a condition in the page, across navigations.
func (p *page) until(condition string) {
	p.t.Helper()
	eventually(p.t, condition, func() bool {
		value, err := p.try(condition)
		return err == nil && value == true
	})
}

func (p *page) goTo(url string) {
	p.t.Helper()
	p.must(p.session, "Page.navigate", map[string]any{"url": url}, nil)
	p.until("document.readyState === 'complete'")
}

// eventually fails the test when the condition does not come to hold in time.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(glance)
	defer tick.Stop()
	deadline := time.After(patience)
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited %s in vain for: %s", patience, what)
		}
	}
}
