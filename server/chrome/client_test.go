package chrome_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"chaperone/relay/endpoint"
	"chaperone/relay/program"
	"chaperone/server/chrome"
)

// told is one thing that a sink heard.
type told struct {
	child, method string // method is empty for a reply, "gone" for the end
	params        string // the result for a reply
	err           error
}

// listener is a sink that remembers, in order.
type listener struct {
	mu   sync.Mutex
	list []told
	news chan struct{}
	wait time.Duration
}

func newListener() *listener { return &listener{news: make(chan struct{}), wait: patience} }

func (l *listener) hear(what told) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, what)
	close(l.news)
	l.news = make(chan struct{})
}

func (l *listener) Event(child, method string, params []byte) bool {
	l.hear(told{child: child, method: method, params: string(params)})
	return true
}

func (l *listener) Asleep(why *program.Error) { l.hear(told{method: "asleep", err: why}) }

func (l *listener) Reset(target string) { l.hear(told{method: "reset", params: target}) }

func (l *listener) Gone(why *program.Error) { l.hear(told{method: "gone", err: why}) }

func (l *listener) heard() ([]told, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(l.list), l.news
}

// await returns the first thing that fits.
func (l *listener) await(t *testing.T, what string, fits func(told) bool) told {
	t.Helper()
	deadline := time.After(l.wait)
	for {
		list, news := l.heard()
		for _, one := range list {
			if fits(one) {
				return one
			}
		}
		select {
		case <-news:
		case <-deadline:
			t.Fatalf("not within %v: %s; heard %+v", l.wait, what, list)
		}
	}
}

// client is a held tab with its listener.
type client struct {
	*listener
	endpoint.Wire
	t *testing.T
}

func hold(t *testing.T, b *chrome.Browser, tab string) *client {
	t.Helper()
	l := newListener()
	wire, err := b.Hold(t.Context(), tab, l)
	if err != nil {
		t.Fatalf("hold %s: %v", tab, err)
	}
	return &client{listener: l, Wire: wire, t: t}
}

// post sends a command whose reply is heard in order, named.
func (c *client) post(name, child, method, params string) {
	c.t.Helper()
	err := c.Send(c.t.Context(), child, method, []byte(params), func(result []byte, err error) {
		c.hear(told{child: name, params: string(result), err: err})
	})
	if err != nil {
		c.t.Fatalf("send %s: %v", method, err)
	}
}

func (c *client) call(child, method, params string) string {
	c.t.Helper()
	name := fmt.Sprintf("%s %p", method, new(int))
	c.post(name, child, method, params)
	answer := c.await(c.t, "the reply of "+method, func(w told) bool { return w.method == "" && w.child == name })
	if answer.err != nil {
		c.t.Fatalf("%s: %v", method, answer.err)
	}
	return answer.params
}

// eval evaluates to a JSON value.
func (c *client) eval(child, script string) string {
	c.t.Helper()
	params, err := json.Marshal(map[string]any{"expression": script, "returnByValue": true, "awaitPromise": true})
	if err != nil {
		c.t.Fatal(err)
	}
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails any
	}
	if err := json.Unmarshal([]byte(c.call(child, "Runtime.evaluate", string(params))), &answer); err != nil || answer.ExceptionDetails != nil {
		c.t.Fatalf("%s: %v %v", script, err, answer.ExceptionDetails)
	}
	return string(answer.Result.Value)
}

func event(method string) func(told) bool { return func(w told) bool { return w.method == method } }

// openPage gives an interactive session a tab at the site's path.
func openPage(t *testing.T, w *world, s *site, path string) (*chrome.Browser, string) {
	t.Helper()
	b := w.open(t, chrome.Interactive)
	return b, run(t, b, program.NewTab, navigate(s.URL+path), settle()).Tab
}

// order is what was heard of the numbered messages and replies.
func (c *client) order() []string {
	var order []string
	list, _ := c.heard()
	for _, one := range list {
		switch {
		case one.method == "Runtime.consoleAPICalled":
			_, after, _ := strings.Cut(one.params, `"value":"n`)
			number, _, _ := strings.Cut(after, `"`)
			order = append(order, "event "+number)
		case one.method == "" && !strings.HasPrefix(one.child, "Runtime"):
			order = append(order, "reply "+one.child)
		}
	}
	return order
}
