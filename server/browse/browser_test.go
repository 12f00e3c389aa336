package browse_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"chaperone/relay/cdp"
	"chaperone/relay/program"
	"chaperone/server/browse"
	"chaperone/server/fault"
)

// realTab is a browse.Browser of one tab of a Chromium, run by the Go executor.
type realTab struct {
	*chromium
	session  string
	executor *program.Executor
	runs     int

	counting sync.Mutex
	calls    map[string]int // by method
}

// sent is how many commands of the method went to the tab.
func (b *realTab) sent(method string) int {
	b.counting.Lock()
	defer b.counting.Unlock()
	return b.calls[method]
}

func (c *chromium) browser(script string, level program.Level) *realTab {
	c.t.Helper()
	table, err := cdp.Load()
	if err != nil {
		c.t.Fatal(err)
	}
	b := &realTab{chromium: c, session: c.attach(), calls: map[string]int{}}
	b.executor = program.NewExecutor(b, program.Options{PageScript: script, Level: level, Table: table})
	c.mu.Lock()
	c.others = b.executor.Deliver
	c.events[b.session] = func(method string, params json.RawMessage) { b.executor.Deliver("", method, params) }
	c.mu.Unlock()
	if err := b.executor.Attach(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	return b
}

func (b *realTab) Call(ctx context.Context, child, method string, params json.RawMessage) (json.RawMessage, error) {
	if child == "" {
		child = b.session
	}
	b.counting.Lock()
	b.calls[method]++
	b.counting.Unlock()
	return b.Send(ctx, child, method, params)
}

func (b *realTab) Run(ctx context.Context, p program.Program) (program.Result, error) {
	b.runs++
	return b.executor.Run(ctx, p), nil
}

func (b *realTab) Tabs() []program.Tab {
	return []program.Tab{{ID: "t1", URL: b.executor.URL(), Level: program.LevelAct}}
}

// driver drives an engine on a real tab.
type driver struct {
	t      *testing.T
	engine *browse.Engine
	tab    *realTab
	at     string // the site
	last   string // the last full snapshot or difference
}

func drive(t *testing.T, c *chromium, script string, o browse.Options) *driver {
	t.Helper()
	c.t = t
	level := program.LevelAct
	if o.ReadOnly {
		level = program.LevelRead
	}
	tab := c.browser(script, level)
	return &driver{t: t, engine: browse.New(tab, o), tab: tab}
}

func (d *driver) try(action string) (browse.Result, error) {
	d.t.Helper()
	a, err := browse.ParseAction([]byte(action))
	if err != nil {
		return browse.Result{}, err
	}
	result, err := d.engine.Do(d.t.Context(), a)
	if result.Snapshot != nil {
		d.last = result.Snapshot.Text
	}
	return result, err
}

func (d *driver) do(action string) browse.Result {
	d.t.Helper()
	result, err := d.try(action)
	if err != nil {
		f := fault.Of(err)
		d.t.Fatalf("%s: %v (%s)", action, err, f.Detail)
	}
	return result
}

func (d *driver) open(page string) browse.Result {
	d.t.Helper()
	return d.do(`{"action":"open","url":"` + d.at + `/` + page + `"}`)
}

// ref is the ref of the line that holds the text.
func (d *driver) ref(text string) string {
	d.t.Helper()
	for line := range strings.Lines(d.last) {
		if _, after, found := strings.Cut(line, "[ref="); found && strings.Contains(line, text) {
			ref, _, _ := strings.Cut(after, "]")
			return ref
		}
	}
	d.t.Fatalf("no ref for %q in\n%s", text, d.last)
	return ""
}

func (d *driver) page(expression string) string {
	d.t.Helper()
	return (&tab{chromium: d.tab.chromium, session: d.tab.session}).eval(expression)
}

func (d *driver) refused(action string, code fault.Code) *fault.Fault {
	d.t.Helper()
	result, err := d.try(action)
	if !fault.Is(err, code) {
		d.t.Fatalf("%s: got %+v, %v; want %s", action, result, err, code)
	}
	return fault.Of(err)
}
