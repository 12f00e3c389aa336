package program_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"chaperone/relay/program"
)

// chromium is a headless Chromium of this test, spoken to over its debugging pipe.
type chromium struct {
	t    *testing.T
	to   *os.File
	mu   sync.Mutex // guards what follows, and writing
	last int
	// waiting holds who sent which command; a reply is buffered, so that the reader never waits.
	waiting map[int]chan message
	pages   map[string]*page // by target session
}

type message struct {
	ID        int                `json:"id,omitempty"`
	Method    string             `json:"method,omitempty"`
	SessionID string             `json:"sessionId,omitempty"`
	Params    json.RawMessage    `json:"params,omitempty"`
	Result    json.RawMessage    `json:"result,omitempty"`
	Error     *program.CallError `json:"error,omitempty"`
}

// page is one tab's page target.
type page struct {
	chromium *chromium
	session  string
	executor *program.Executor
}

func startChromium(t *testing.T) *chromium {
	t.Helper()
	fromUs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, fromChromium, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(context.Background(), "chromium-headless-shell",
		"--no-sandbox", "--disable-gpu", "--no-first-run", "--site-per-process", "--remote-debugging-pipe",
		"--user-data-dir="+t.TempDir(), "--host-resolver-rules=MAP *.test 127.0.0.1")
	command.ExtraFiles = []*os.File{fromUs, fromChromium}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = fromUs.Close()
	_ = fromChromium.Close()
	c := &chromium{t: t, to: to, waiting: map[int]chan message{}, pages: map[string]*page{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		c.read(from)
	}()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if _, err := c.call(ctx, "", "Browser.close", nil); err != nil {
			_ = command.Process.Kill()
		}
		_ = command.Wait()
		_ = to.Close()
		<-read
		_ = from.Close()
	})
	return c
}

func (c *chromium) read(from *os.File) {
	reader := bufio.NewReader(from)
	for {
		data, err := reader.ReadBytes(0)
		if err != nil {
			break
		}
		var m message
		if err := json.Unmarshal(data[:len(data)-1], &m); err != nil {
			c.t.Errorf("decode message: %v", err)
			continue
		}
		c.take(m)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, answer := range c.waiting {
		close(answer)
		delete(c.waiting, id)
	}
}

func (c *chromium) take(m message) {
	c.mu.Lock()
	answer, page := c.waiting[m.ID], c.pages[m.SessionID]
	delete(c.waiting, m.ID)
	if page != nil && m.Method == "Target.attachedToTarget" {
		var child struct {
			SessionID string `json:"sessionId"`
		}
		if json.Unmarshal(m.Params, &child) == nil {
			c.pages[child.SessionID] = page
		}
	}
	c.mu.Unlock()
	if answer != nil {
		answer <- m
	} else if page != nil && page.executor != nil {
		page.executor.Deliver(page.child(m.SessionID), m.Method, m.Params)
	}
}

func (c *chromium) call(ctx context.Context, session, method string, params json.RawMessage) (json.RawMessage, error) {
	answer := make(chan message, 1)
	c.mu.Lock()
	c.last++
	c.waiting[c.last] = answer
	data, err := json.Marshal(message{ID: c.last, Method: method, SessionID: session, Params: params})
	if err == nil {
		_, err = c.to.Write(append(data, 0))
	}
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case m, ok := <-answer:
		if !ok {
			return nil, errors.New("the browser is gone")
		}
		if m.Error != nil {
			return nil, m.Error
		}
		return m.Result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// open makes a tab that is closed when the test ends.
func (c *chromium) open(t *testing.T) *page {
	t.Helper()
	made, err := c.call(t.Context(), "", "Target.createTarget", json.RawMessage(`{"url":"about:blank"}`))
	if err != nil {
		t.Fatal(err)
	}
	var target struct {
		TargetID  string `json:"targetId"`
		SessionID string `json:"sessionId"`
	}
	if err := json.Unmarshal(made, &target); err != nil {
		t.Fatal(err)
	}
	attached, err := c.call(t.Context(), "", "Target.attachToTarget", fmt.Appendf(nil, `{"targetId":%q,"flatten":true}`, target.TargetID))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(attached, &target); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = c.call(context.Background(), "", "Target.closeTarget", fmt.Appendf(nil, `{"targetId":%q}`, target.TargetID))
	})
	return &page{chromium: c, session: target.SessionID}
}

func (p *page) deliverTo(e *program.Executor) {
	p.chromium.mu.Lock()
	defer p.chromium.mu.Unlock()
	p.executor = e
	p.chromium.pages[p.session] = p
}

func (p *page) child(session string) string {
	if session == p.session {
		return ""
	}
	return session
}

// Call makes page a program.Target.
func (p *page) Call(ctx context.Context, child, method string, params json.RawMessage) (json.RawMessage, error) {
	if child == "" {
		child = p.session
	}
	return p.chromium.call(ctx, child, method, params)
}
