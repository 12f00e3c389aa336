package endpoint_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"chaperone/relay/cdp"
	"chaperone/relay/endpoint"
)

// patience bounds every wait; a busy machine needs some of it.
const patience = 20 * time.Second

// permissive is a judge that permits all but what begins with "Never.".
type permissive struct{}

func (permissive) Raw(_, method string, _ []byte) cdp.Verdict {
	if strings.HasPrefix(method, "Never.") {
		return cdp.Verdict{Reason: method + " is not permitted at any level"}
	}
	return cdp.Verdict{}
}
func (permissive) ToSend(_ string, params []byte) []byte { return params }
func (permissive) EventTold(_, name string) bool         { return !strings.HasPrefix(name, "Never.") }
func (permissive) Writes(method string) bool             { return method == "Page.navigate" }
func (permissive) Protocol() []byte                      { return []byte(`{"domains":[]}`) }

func newServer(t *testing.T) *endpoint.Server {
	t.Helper()
	s, err := endpoint.New(t.Context(), endpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// grant gives clients an edge, under a judge that permits almost all.
func grant(t *testing.T, e endpoint.Edge, options ...func(*endpoint.GrantOptions)) *endpoint.Capability {
	t.Helper()
	o := endpoint.GrantOptions{Edge: e, Judge: permissive{}}
	for _, set := range options {
		set(&o)
	}
	c, err := newServer(t).Grant(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// message is what a client hears.
type message struct {
	ID      json.RawMessage `json:"id"`
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	raw string
}

// client is a CDP client of the test's own. All that it hears it keeps, in order.
type client struct {
	t     *testing.T
	conn  *websocket.Conn
	ended chan struct{}

	mu     sync.Mutex
	heard  []message
	news   chan struct{}
	err    error
	lastID int
}

func dial(t *testing.T, url string) *websocket.Conn {
	t.Helper()
	conn, answer, err := websocket.Dial(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body != nil {
		_ = answer.Body.Close()
	}
	return conn
}

func connect(t *testing.T, url string) *client {
	t.Helper()
	conn := dial(t, url)
	conn.SetReadLimit(-1)
	c := &client{t: t, conn: conn, news: make(chan struct{}), ended: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { defer close(c.ended); c.listen(ctx) }()
	t.Cleanup(func() { _ = conn.CloseNow(); cancel(); <-c.ended })
	return c
}

func (c *client) listen(ctx context.Context) {
	for {
		_, data, err := c.conn.Read(ctx)
		var m message
		if err == nil {
			if broken := json.Unmarshal(data, &m); broken != nil {
				m.Method = "broken: " + string(data)
			}
			m.raw = string(data)
		}
		c.mu.Lock()
		if err != nil {
			c.err = err
		} else {
			c.heard = append(c.heard, m)
		}
		close(c.news)
		c.news = make(chan struct{})
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// post sends a command and answers its id.
func (c *client) post(session, method, params string) string {
	c.t.Helper()
	c.mu.Lock()
	c.lastID++
	id := strconv.Itoa(c.lastID)
	c.mu.Unlock()
	text := `{"id":` + id + `,"method":"` + method + `","params":` + params
	if session != "" {
		text += `,"sessionId":"` + session + `"`
	}
	c.write(text + "}")
	return id
}

func (c *client) write(text string) {
	c.t.Helper()
	if err := c.conn.Write(c.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatalf("write: %v", err)
	}
}

// await answers the first message that fits.
func (c *client) await(what string, fits func(message) bool) message {
	c.t.Helper()
	return c.awaitAfter(0, what, fits)
}

// awaitAfter is await from the n-th message on.
func (c *client) awaitAfter(n int, what string, fits func(message) bool) message {
	c.t.Helper()
	deadline := time.After(patience)
	for {
		c.mu.Lock()
		heard, news, err := slices.Clip(c.heard), c.news, c.err
		c.mu.Unlock()
		for _, m := range heard[min(n, len(heard)):] {
			if fits(m) {
				return m
			}
		}
		if err != nil {
			c.t.Fatalf("%s: the socket ended: %v; heard:\n%s", what, err, c.story())
		}
		select {
		case <-news:
		case <-deadline:
			c.t.Fatalf("not within %v: %s; heard:\n%s", patience, what, c.story())
		}
	}
}

func (c *client) story() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := make([]string, 0, len(c.heard))
	for _, m := range c.heard {
		lines = append(lines, m.raw[:min(len(m.raw), 300)])
	}
	return strings.Join(lines, "\n")
}

func (c *client) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.heard)
}

// all lists what was heard that fits.
func (c *client) all(fits func(message) bool) []message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.heard), func(m message) bool { return !fits(m) })
}

// ask sends a command and answers its reply, whether a result or an error.
func (c *client) ask(session, method, params string) message {
	c.t.Helper()
	id := c.post(session, method, params)
	return c.await("the answer of "+method, answers(id))
}

// call is ask for what must succeed; it answers the result's field.
func (c *client) call(session, method, params string, field ...string) string {
	c.t.Helper()
	m := c.ask(session, method, params)
	if m.Error != nil {
		c.t.Fatalf("%s: %s", method, m.Error.Message)
	}
	return pick(c.t, m.Result, field...)
}

func pick(t *testing.T, raw json.RawMessage, path ...string) string {
	t.Helper()
	for _, name := range path {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			t.Fatalf("%s in %s: %v", name, raw, err)
		}
		raw = fields[name]
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// attach attaches to the page and answers the session.
func (c *client) attach(target string) string {
	c.t.Helper()
	return c.call("", "Target.attachToTarget", `{"targetId":"`+target+`","flatten":true}`, "sessionId")
}

func answers(id string) func(message) bool {
	return func(m message) bool { return string(m.ID) == id && m.Method == "" }
}

func event(method string) func(message) bool {
	return func(m message) bool { return m.Method == method }
}

func eventIn(session, method string) func(message) bool {
	return func(m message) bool { return m.Method == method && m.Session == session }
}

// await waits until holds answers true; it looks again whenever the edge did something.
func (e *edge) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for {
		e.mu.Lock()
		news := e.news
		e.mu.Unlock()
		if holds() {
			return
		}
		select {
		case <-news:
		case <-deadline:
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}
